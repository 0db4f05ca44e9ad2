// Dialogs, and the one that stands between a button and every change.
//
// All are native <dialog>s: the browser keeps the focus inside, closes on Escape and gives the focus back
// to the button that opened it.

import { h, markScrollable, show } from "./dom.js";
import { asProblem, drawProblem } from "./problems.js";
import { sentence } from "./words.js";

/** Longest reason, as the service takes it. */
const REASON_CHARS_MAX = 500;

/** Whether a dialog is open: the page behind it is left as it is. */
export function isDialogOpen() {
  return document.querySelector("dialog[open]") !== null;
}

/**
 * Opens a dialog and returns it. `isBusy` keeps it open while something is under way whose outcome would
 * be lost; `closed` runs after it has closed and the focus is back.
 */
export function openDialog({
  eyebrow,
  title,
  parts,
  isWide = false,
  startsAtTitle = false,
  isBusy = () => false,
  closed = () => {},
}) {
  const heading = h("h2", { id: "dialog-title" }, title);
  const dialog = h(
    "dialog",
    { class: isWide ? "wide" : null, "aria-labelledby": "dialog-title" },
    h("header", null, h("p", { class: "eyebrow" }, eyebrow), heading),
    parts,
  );
  dialog.addEventListener("cancel", (event) => {
    if (isBusy()) event.preventDefault();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed(dialog.returnValue);
  });
  document.body.append(dialog);
  dialog.showModal();
  // The first field has the focus now. Where that has moved what will happen out of sight, or where there
  // is only something to read, one begins at the title.
  if (startsAtTitle || dialog.scrollHeight > dialog.clientHeight) {
    heading.tabIndex = -1;
    heading.focus();
    dialog.scrollTop = 0;
  }
  markScrollable(dialog);
  return dialog;
}

/** A field with its label, its hint and a place for what is wrong with it. */
function field({ name, label, hint }, control, unit) {
  const id = `change-${name}`;
  const hintId = `${id}-hint`;
  const faultId = `${id}-fault`;
  control.id = id;
  control.name = name;
  control.setAttribute("aria-describedby", `${faultId} ${hintId}`);
  const fault = h("p", { class: "fault", id: faultId, role: "alert" });
  const complain = (text) => {
    show(fault, text);
    if (text) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    unit ? h("div", { class: "with-unit" }, control, unit) : control,
    fault,
    h("p", { class: "hint", id: hintId }, hint),
  );
  return { name, label, control, element, complain };
}

function percentField({ min, max, value, ...about }) {
  const control = h("input", { type: "number", min, max, step: 1, value, inputmode: "numeric", required: true });
  const it = field(about, control, "%");
  // What is proposed goes when another number is typed.
  control.addEventListener("focus", () => control.select());
  // NaN while nothing sensible stands there: the sentences above then leave the number out.
  it.read = () => {
    const number = control.value.trim() === "" ? NaN : Number(control.value);
    return Number.isInteger(number) && number >= min && number <= max ? number : NaN;
  };
  it.check = () => (Number.isNaN(it.read()) ? `Enter a whole number from ${min} to ${max}.` : "");
  return it;
}

function reasonField(draft) {
  const control = h("textarea", { rows: 3, maxlength: REASON_CHARS_MAX, required: true });
  control.value = draft;
  const it = field({ name: "reason", label: "Reason", hint: "Kept for good with your name, in the history." }, control);
  it.read = () => control.value.trim();
  it.check = () => (it.read() === "" ? "Say why: whoever reads the history later was not there." : "");
  return it;
}

/**
 * Says what a change will do, asks for the reason, and makes it. Resolves to {outcome, draft}: `done` with
 * `said`, `failed` with a `problem` that the page has to deal with (401, 412), or `cancelled`.
 */
export function confirmChange(change, kindName, draft = "") {
  return new Promise((resolve) => {
    const result = { outcome: "cancelled", draft };
    let isSending = false;

    const numbers = change.fields.map(percentField);
    const reason = reasonField(draft);
    const fields = [...numbers, reason];
    const values = () => Object.fromEntries(numbers.map((it) => [it.name, it.read()]));

    const says = h("ul", { class: "says", id: "dialog-says" });
    const sayIt = () =>
      show(
        says,
        change.says(values()).map((line) => h("li", null, sentence(line))),
      );
    sayIt();

    const fault = h("div", { role: "alert" });
    const cancel = h("button", { type: "button" }, "Cancel");
    const verb = h("button", { type: "submit", class: "main" }, change.verb);
    const form = h(
      "form",
      { novalidate: true },
      h("p", { class: "lead" }, "This will happen:"),
      says,
      h(
        "div",
        { class: numbers.length > 1 ? "fields" : null },
        numbers.map((it) => it.element),
      ),
      reason.element,
      fault,
      h("div", { class: "choice" }, cancel, verb),
    );

    const dialog = openDialog({
      eyebrow: kindName,
      title: change.title,
      parts: form,
      isBusy: () => isSending,
      closed: () => resolve({ ...result, draft: reason.read() }),
    });
    dialog.setAttribute("aria-describedby", "dialog-says");
    cancel.addEventListener("click", () => isSending || dialog.close());
    form.addEventListener("input", sayIt);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (isSending) return;
      fields.forEach((it) => it.complain(it.check()));
      const wrong = fields.find((it) => it.check());
      if (wrong) {
        wrong.control.focus();
        return;
      }
      isSending = true;
      show(fault);
      // Not `disabled`: that would drop the focus to the start of the page.
      verb.setAttribute("aria-disabled", "true");
      show(verb, "Sending…");
      try {
        await change.send(values(), reason.read());
        Object.assign(result, { outcome: "done", said: change.done(values()) });
      } catch (error) {
        result.problem = asProblem(error);
      }
      isSending = false;
      const status = result.problem?.status;
      if (result.outcome === "done" || status === 401 || status === 412) {
        if (status) result.outcome = "failed";
        dialog.close();
        return;
      }
      verb.removeAttribute("aria-disabled");
      show(verb, change.verb);
      show(fault, h("div", { class: "notice bad" }, drawProblem(result.problem)));
      fault.scrollIntoView({ block: "nearest" });
      blame(fields, result.problem);
      delete result.problem;
    });
  });
}

/** Marks the fields that the service found fault with. */
function blame(fields, problem) {
  for (const { field: name, detail } of problem.errors) {
    const at = String(name ?? "")
      .split(".")
      .at(-1);
    const it = fields.find((one) => one.name === at);
    it?.complain(`${it.label} ${detail}`);
  }
}
