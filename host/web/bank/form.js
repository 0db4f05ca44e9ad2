// A form. It shows every fault at once, above the fields and with links to them, and never submits twice. What was typed
// survives a change of language, a lost connection and a new sign-in.

/** @import { Child } from "../shared/dom.js" */
/** @import { FieldFault, Form } from "./types.js" */
/** @import { Problem } from "../shared/problem.js" */
import { focusOn, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { announce } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { problemNotice } from "./drawing.js";
import { fieldFault } from "./problems.js";
import { t } from "./words.js";

/** What was typed into forms that were not submitted yet, by the form's name. @type {Map<string, any>} */
const drafts = new Map();

/** What was typed when the page was unloaded: in sessionStorage no longer than it takes to load it again. */
const KEY = "caudal.forms";

export function forgetDrafts() {
  drafts.clear();
  sessionStorage.removeItem(KEY);
}

/** Before the page is unloaded. @param {string | null} user */
export function keepDrafts(user) {
  if (user !== null && drafts.size > 0) sessionStorage.setItem(KEY, JSON.stringify({ user, forms: [...drafts] }));
}

/** Once it is there again: for the same person only. @param {string | null} user */
export function claimDrafts(user) {
  try {
    const { user: before, forms } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    if (before === user) restoreDrafts(forms);
  } catch {
    // What is not readable is typed again.
  } finally {
    sessionStorage.removeItem(KEY);
  }
}

export const draftsNow = () => [...drafts];

/** @param {[string, any][]} kept */
export function restoreDrafts(kept) {
  for (const [name, values] of kept) drafts.set(name, values);
}

/** The page marks its title while something is wrong, and may have help to add where it says so. */
export const hooks = {
  setFaulty: (/** @type {boolean} */ _isNow, /** @type {HTMLElement | undefined} */ _place = undefined) => {},
};

/** @param {FieldFault[]} faults */
function drawSummary(faults) {
  const items = faults.map(({ field, text }) => {
    // Following the link would leave the screen, since the address names screens.
    const focus = (/** @type {Event} */ event) => {
      event.preventDefault();
      field.control.focus();
    };
    return h("li", h("a", { href: `#${field.control.id}`, onClick: focus }, text));
  });
  return h(
    "div.summary",
    { tabindex: -1, role: "group", "aria-labelledby": "faults-title" },
    h("div", { role: "alert" }, h("h2", { id: "faults-title" }, t("faults.title")), h("ul", items)),
  );
}

/**
 * `send` may throw a Problem: faults of fields are shown beside them, any other problem above the form. `confirm` runs
 * before anything is sent. `beside` is shown next to the button.
 * @param {{ name: string, fields: Form["fields"], submit: string, send: (values: any) => unknown, busy?: string,
 *   confirm?: () => Promise<boolean>, extra?: Child, beside?: Child, submitClass?: string | null, isDrafted?: boolean }} about
 * @returns {Form}
 */
export function drawForm(about) {
  const { name, fields, submit, busy, send, confirm, extra, beside, submitClass = "main", isDrafted = true } = about;
  const faultsPlace = h("div.faults");
  const submitButton = h("button", { type: "submit", class: submitClass }, submit);
  const values = () => Object.fromEntries(fields.map((it) => [it.name, it.read()]));
  const keepDraft = () => isDrafted && drafts.set(name, values());

  /** @param {FieldFault[]} faults */
  const showFaults = (faults) => {
    fields.forEach((it) => it.setFault(faults.find(({ field }) => field === it)?.text ?? ""));
    behaviour.failed(faults.length);
    const summary = drawSummary(faults);
    show(faultsPlace, summary);
    hooks.setFaulty(true, faultsPlace);
    summary.focus();
  };

  let isSending = false;
  /** @param {Event} [event] */
  const submitted = async (event) => {
    event?.preventDefault();
    if (isSending) return;
    const given = values();
    const faults = fields.map((field) => ({ field, text: field.check(given[field.name]) })).filter(({ text }) => text);
    if (faults.length > 0) {
      showFaults(faults);
      return;
    }
    fields.forEach((it) => it.setFault(""));
    show(faultsPlace);
    hooks.setFaulty(false);
    isSending = true;
    if (confirm && !(await confirm())) {
      isSending = false;
      return;
    }
    // Not `disabled`, which would move the focus to the start of the page.
    submitButton.setAttribute("aria-disabled", "true");
    show(submitButton, busy ?? t("sending"));
    if (busy) announce(busy);
    try {
      await send(given);
      drafts.delete(name);
    } catch (error) {
      const problem = asProblem(error);
      // On a 401 the session shows the sign-in; what was typed waits.
      if (problem.status !== 401) showProblem(problem);
    } finally {
      isSending = false;
      submitButton.removeAttribute("aria-disabled");
      show(submitButton, submit);
    }
  };

  /** @param {Problem} problem */
  const showProblem = (problem) => {
    const faults = problem.errors.flatMap((error) => {
      const field = fields.find((it) => it.name === error.field);
      return field ? [{ field, text: fieldFault(error) }] : [];
    });
    if (faults.length > 0) {
      showFaults(faults);
      return;
    }
    hooks.setFaulty(true);
    const notice = h(
      "div",
      { tabindex: -1 },
      problemNotice(problem, () => submitted()),
    );
    show(faultsPlace, notice);
    focusOn(notice);
  };

  // For a risky submit, the way back comes first.
  const acts = submitClass === "main" ? [submitButton, beside] : [beside, submitButton];
  const element = h(
    "form",
    { novalidate: true, onSubmit: submitted, onInput: keepDraft },
    faultsPlace,
    fields.map((it) => it.element),
    extra,
    h("div.acts", acts),
  );
  const draft = isDrafted ? drafts.get(name) : undefined;
  if (draft) fields.forEach((it) => it.name in draft && it.write(draft[it.name]));
  return { element, fields, showFaults };
}
