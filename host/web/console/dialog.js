// Dialogs, and the confirmation of every change. All are native <dialog>s: the browser keeps the focus inside, closes on
// Escape and gives the focus back to the button that opened it.

/** @import { Attributes, Child } from "../shared/dom.js" */
/** @import { Change, Control, Failure, NumberField, Setback } from "./types.js" */
import { button, h, markInvalid, setAttributes } from "../shared/dom.js";
import { copyButton } from "./copy.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { stepsField } from "./steps-field.js";
import { markScrollable } from "./table.js";
import { sentence, when } from "./words.js";

/** The service's limit. */
const REASON_CHARS_MAX = 500;

export const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

/** Dialogs can be above each other. */
let opened = 0;

/**
 * `isBusy` keeps the dialog open while an outcome is pending that would be lost. `onClose` runs once the focus is back.
 * @param {{ eyebrow: string, title: Child, parts: Child, isWide?: boolean, startsAtTitle?: boolean, isBusy?: () => boolean,
 *   onClose?: () => void }} about
 * @returns {HTMLDialogElement}
 */
export function openDialog(about) {
  const { eyebrow, title, parts, isWide = false, startsAtTitle = false, isBusy, onClose } = about;
  opened += 1;
  const heading = h("h2", { id: `dialog-title-${opened}` }, title);
  const dialog = h(
    "dialog",
    { class: isWide ? "wide" : null, "aria-labelledby": heading.id },
    h("header", h("p.eyebrow", eyebrow), heading),
    h("div", { role: "status", "data-ending": true }),
    parts,
    h("p.heard", { role: "status", "data-said": true }),
  );
  dialog.addEventListener("cancel", (event) => isBusy?.() && event.preventDefault());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  // The first field has the focus. If that scrolled the explanation out of view, or there is only something to read,
  // start at the title.
  if (startsAtTitle || dialog.scrollHeight > dialog.clientHeight) {
    heading.tabIndex = -1;
    heading.focus();
    dialog.scrollTop = 0;
  }
  markScrollable(dialog);
  return dialog;
}

/** A dialog with something to read, once it is loaded. @param {{ eyebrow: string, title: Child }} about @param {() => Promise<Child>} load */
export async function openReading(about, load) {
  const place = h("div.details", h("p", "Loading…"));
  const close = h(
    "div.choice",
    button("Close", () => dialog.close()),
  );
  const dialog = openDialog({ ...about, isWide: true, startsAtTitle: true, parts: [place, close] });
  try {
    update(place, await load());
  } catch (error) {
    update(place, h("div.notice.bad", { role: "alert" }, drawFailure(asFailure(error))));
  }
  markScrollable(dialog);
}

/**
 * @param {{ name: string, label: string, hint: string }} about @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} control
 * @param {() => string} check @param {string} [unit]
 * @returns {Control}
 */
export function drawField({ name, label, hint }, control, check, unit) {
  const id = `change-${name}`;
  setAttributes(control, { id, name, "aria-describedby": `${id}-fault ${id}-hint` });
  const fault = h("p.fault", { id: `${id}-fault`, role: "alert" });
  const element = h(
    "div.field",
    h("label", { for: id }, label),
    unit ? h("div.with-unit", control, unit) : control,
    fault,
    h("p.hint", { id: `${id}-hint` }, hint),
  );
  /** @param {string} text */
  const setFault = (text) => {
    update(fault, text);
    markInvalid(control, text !== "");
  };
  const text = () => control.value;
  /** @param {string} text */
  const fill = (text) => {
    control.value = text;
  };
  return { name, label, element, text, fill, focus: () => control.focus(), check, setFault };
}

/** @param {NumberField} about */
export function numberField({ min, max, value, unit = "%", ...about }) {
  const control = h("input", { type: "number", min, max, step: 1, value, inputmode: "numeric", required: true });
  control.addEventListener("focus", () => control.select());
  /** Undefined while it is no valid number: the effects then leave it out. */
  const read = () => {
    const number = control.value.trim() === "" ? Number.NaN : Number(control.value);
    return Number.isInteger(number) && number >= min && number <= max ? number : undefined;
  };
  const check = () => (read() === undefined ? `Enter a whole number from ${min} to ${max}.` : "");
  return { ...drawField(about, control, check, unit), read };
}

/** A change that is made in spite of something is confirmed by itself. @param {string} text */
function agreementField(text) {
  const [name, id] = ["despite_setback", "change-despite_setback"];
  const control = h("input", { type: "checkbox", id, name, required: true, "aria-describedby": `${id}-fault` });
  const fault = h("p.fault", { id: `${id}-fault`, role: "alert" });
  const element = h("div.field", h("label.agree", { for: id }, control, h("span", sentence(text))), fault);
  /** @param {string} wrong */
  const setFault = (wrong) => {
    update(fault, wrong);
    markInvalid(control, wrong !== "");
  };
  const check = () => (control.checked ? "" : "Tick the box to confirm, or cancel.");
  return { name, label: text, element, focus: () => control.focus(), check, setFault };
}

/** @param {Setback} setback */
function drawWarning({ cause, epoch, reason, changed_by, changed_at }) {
  const happened = cause === "withdrawn" ? "This version was withdrawn as a canary" : "This version was rolled back";
  return h(
    "div.notice.bad",
    h("p.title", happened),
    h("p", `Change ${epoch}, by ${changed_by}, `, when(changed_at), ": ", h("q", sentence(reason))),
  );
}

/** Only deployments are in the history. @param {boolean} isDeployment */
function reasonField(isDeployment) {
  const control = h("textarea", { rows: 3, maxlength: REASON_CHARS_MAX, required: true });
  const read = () => control.value.trim();
  const hint = isDeployment
    ? "Stored permanently in the history, with your name."
    : "Kept with the rollout until its next change; the audit record keeps who and when.";
  const about = { name: "reason", label: "Reason", hint };
  const check = () => (read() === "" ? `Enter a reason${isDeployment ? "; it is kept in the history" : ""}.` : "");
  return { ...drawField(about, control, check), read };
}

/**
 * `done`, `proposed` if a second operator has to approve, `cancelled`, or `late` if the deployment is no longer the one that
 * was seen. `draft` is what was typed, by field.
 * @typedef {Record<string, string>} Draft
 * @typedef {{ outcome: "done" | "proposed" | "late" | "cancelled", message?: string, notice?: Child, approval?: string, draft: Draft }} Result
 */

/**
 * Shows what is known and what a change will do, asks for the reason, and makes it.
 * @param {Change} change @param {string} kindName @param {Draft} draft what was typed before @param {Child} evidence
 * @returns {Promise<Result>}
 */
export function confirmChange(change, kindName, draft = {}, evidence = null) {
  return new Promise((resolve) => {
    /** @type {Result} */
    const result = { outcome: "cancelled", draft };
    let isSending = false;

    const numbers = change.fields.map((it) => (it.isSteps ? stepsField(it) : numberField(it)));
    const reason = reasonField(!change.keepsDeployment);
    const agreement = change.inSpite ? agreementField(change.inSpite) : null;
    const typed = [...numbers, reason].map((it) => ({ ...it, proposed: it.text() }));
    for (const { name, fill } of typed) if (draft[name] !== undefined) fill(draft[name]);
    // Without what is proposed: that may be something else the next time.
    const draftNow = () =>
      Object.fromEntries(typed.filter((it) => it.text() !== it.proposed).map(({ name, text }) => [name, text()]));
    const fields = [...numbers, ...(agreement ? [agreement] : []), reason];
    const values = () => Object.fromEntries(numbers.map((it) => [it.name, it.read()]));

    const effects = h("ul.effects", { id: "dialog-effects" });
    const drawEffects = () =>
      update(
        effects,
        change.effects(values()).map((line) => h("li", sentence(line))),
      );
    drawEffects();

    /** @param {Event} event */
    const submit = async (event) => {
      event.preventDefault();
      if (isSending) return;
      fields.forEach((it) => it.setFault(it.check()));
      const wrong = fields.find((it) => it.check());
      if (wrong) {
        wrong.focus();
        return;
      }
      isSending = true;
      update(fault);
      // Not `disabled`, which would move the focus to the start of the page.
      verb.setAttribute("aria-disabled", "true");
      update(verb, "Sending…");
      try {
        const answer = await change.send(values(), reason.read());
        if (answer.state === "pending") {
          Object.assign(result, { outcome: "proposed", notice: waiting(answer), approval: answer.id });
        } else Object.assign(result, { outcome: "done", message: change.done(values()) });
        dialog.close();
      } catch (error) {
        const failure = asFailure(error);
        if (failure.status === 412) {
          result.outcome = "late";
          dialog.close();
        } else {
          update(fault, h("div.notice.bad", drawFailure(failure)));
          fault.scrollIntoView({ block: "nearest" });
          markRejected(fields, failure);
        }
      } finally {
        isSending = false;
        verb.removeAttribute("aria-disabled");
        update(verb, change.verb);
      }
    };

    const fault = h("div", { role: "alert" });
    const verb = h("button.main", { type: "submit" }, change.verb);
    const form = h(
      "form",
      { novalidate: true, onInput: drawEffects, onSubmit: submit },
      change.setback && drawWarning(change.setback),
      evidence,
      h("p.lead", "What will happen:"),
      effects,
      h(
        "div",
        { class: numbers.length > 1 ? "fields" : null },
        numbers.map((it) => it.element),
      ),
      agreement?.element,
      reason.element,
      fault,
      h(
        "div.choice",
        button("Cancel", () => isSending || dialog.close()),
        verb,
      ),
    );
    const dialog = openDialog({
      eyebrow: kindName,
      title: change.title,
      parts: form,
      // There is something to read first.
      startsAtTitle: change.about !== undefined || change.setback !== undefined,
      isBusy: () => isSending,
      onClose: () => resolve({ ...result, draft: draftNow() }),
    });
    dialog.setAttribute("aria-describedby", "dialog-effects");
  });
}

/** @param {{ id?: string, expiresAt?: string }} approval */
const waiting = ({ id, expiresAt }) => [
  "Nothing has changed yet. Another operator has to approve this by ",
  when(expiresAt),
  ", in this console or with ",
  h("code", `caudal approvals approve ${id}`),
  copyButton(`caudal approvals approve ${id}`, "the command"),
];

/** Marks the fields that the service rejected. @param {Omit<Control, "text" | "fill">[]} fields @param {Failure} failure */
export function markRejected(fields, failure) {
  for (const { field = "", detail } of failure.errors) {
    const name = field.split(".").at(-1);
    const it = fields.find((one) => one.name === name);
    it?.setFault(`${it.label} ${detail}`);
  }
}
