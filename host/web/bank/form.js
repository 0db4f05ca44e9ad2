// A form: it keeps what was typed, says everything that is wrong at once and first, with links to the fields, and
// sends nothing twice. What was typed outlives a change of language, a lost connection and a new sign-in.

import { announce } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { focusOn, h, show } from "./dom.js";
import { problemNotice } from "./drawing.js";
import { fieldFault } from "./problems.js";
import { t } from "./words.js";

const yes = async () => true;

/** What was typed into forms that were not sent yet, by the form's name. In memory only. */
const drafts = new Map();

export function forgetDrafts() {
  drafts.clear();
}

/** The page marks its title while something is wrong. */
export const titles = { setFaulty() {} };

function summary(faults) {
  const items = faults.map(({ field, text }) =>
    h(
      "li",
      null,
      h(
        "a",
        {
          href: `#${field.control.id}`,
          // Following the link would leave the screen: the address names screens.
          onClick: (event) => {
            event.preventDefault();
            field.control.focus();
          },
        },
        text,
      ),
    ),
  );
  const title = h("h2", { id: "faults-title" }, t("faults.title"));
  return h(
    "div",
    { class: "summary", tabindex: -1, role: "group", "aria-labelledby": "faults-title" },
    h("div", { role: "alert" }, title, h("ul", null, items)),
  );
}

/**
 * Gives the form's element. `send(values)` may throw: a Problem with faults of fields is shown beside them, any other
 * above the form. `confirm()` may ask before anything is sent. `beside` stands next to the button.
 */
export function drawForm({
  name,
  fields,
  submit,
  busy,
  send,
  confirm = yes,
  extra,
  beside,
  submitClass = "main",
  drafted = true,
}) {
  const faultsPlace = h("div", { class: "faults" });
  const act = h("button", { type: "submit", class: submitClass }, submit);
  const values = () => Object.fromEntries(fields.map((it) => [it.name, it.read()]));
  const keepDraft = () => drafted && drafts.set(name, values());

  const showFaults = (faults) => {
    fields.forEach((it) => it.complain(faults.find(({ field }) => field === it)?.text ?? ""));
    behaviour.failed(faults.length);
    titles.setFaulty(true);
    const place = summary(faults);
    show(faultsPlace, place);
    place.focus();
  };

  let isSending = false;
  const submitted = async (event) => {
    event?.preventDefault();
    if (isSending) return;
    const given = values();
    const faults = fields.map((field) => ({ field, text: field.check(given[field.name]) })).filter(({ text }) => text);
    if (faults.length > 0) {
      showFaults(faults);
      return;
    }
    fields.forEach((it) => it.complain(""));
    show(faultsPlace);
    titles.setFaulty(false);
    isSending = true;
    if (!(await confirm())) {
      isSending = false;
      return;
    }
    // Not `disabled`: that would drop the focus to the start of the page.
    act.setAttribute("aria-disabled", "true");
    show(act, busy ?? t("sending"));
    if (busy) announce(busy);
    try {
      await send(given);
      drafts.delete(name);
    } catch (problem) {
      // The session shows the sign-in by itself; what was typed waits.
      if (problem.status !== 401) fail(problem);
    } finally {
      isSending = false;
      act.removeAttribute("aria-disabled");
      show(act, submit);
    }
  };

  const fail = (problem) => {
    if (problem.errors === undefined) throw problem;
    const faults = problem.errors
      .map((error) => ({ field: fields.find((it) => it.name === error.field), text: fieldFault(error) }))
      .filter(({ field }) => field);
    if (faults.length > 0) {
      showFaults(faults);
      return;
    }
    titles.setFaulty(true);
    const shown = h(
      "div",
      { tabindex: -1 },
      problemNotice(problem, () => submitted()),
    );
    show(faultsPlace, shown);
    focusOn(shown);
  };

  // In doubt the way back comes first, else the way on.
  const acts = submitClass === "main" ? [act, beside] : [beside, act];
  const element = h(
    "form",
    { novalidate: true, onSubmit: submitted, onInput: keepDraft },
    faultsPlace,
    fields.map((it) => it.element),
    extra,
    h("div", { class: "acts" }, acts),
  );
  const before = drafted ? drafts.get(name) : undefined;
  if (before) fields.forEach((it) => it.name in before && it.write(before[it.name]));
  return { element, fields, showFaults };
}
