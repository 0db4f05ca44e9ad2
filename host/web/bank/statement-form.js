// The form that searches a statement.

/** @import { Child } from "../shared/dom.js" */
/** @import { Filter } from "./types.js" */
import { h } from "../shared/dom.js";
import { isActive, noFilter } from "./statement-filter.js";
import { dayKey } from "./times.js";
import { t } from "./words.js";

/** Longer than any name, so that a search text stays readable. */
const TEXT_CHARS_MAX = 200;
const DIRECTIONS = ["", "in", "out"];
const STATES = ["", "completed", "pending", "failed", "returned"];

/** @param {string} name @param {HTMLElement} control */
const field = (name, control) =>
  h(`div.field.by-${name}`, h("label", { for: `filter-${name}` }, t(`filter.${name}`)), control);

/** @param {string} name @param {string[]} values @param {string} chosen */
function list(name, values, chosen) {
  const select = h(
    "select",
    { id: `filter-${name}`, name },
    values.map((value) => h("option", { value }, t(`filter.${name}.${value || "any"}`))),
  );
  select.value = chosen;
  return field(name, select);
}

/** @param {string} name @param {string} value */
const date = (name, value) =>
  field(name, h("input", { type: "date", id: `filter-${name}`, name, value, max: dayKey(new Date()) }));

/**
 * `extra` is what is rarely used, beside the filters.
 * @param {Filter} filter what is looked for now @param {(filter: Filter) => unknown} search @param {Child} extra
 * @returns {HTMLFormElement}
 */
export function drawSearch(filter, search, extra) {
  const { text, ...others } = filter;
  const clear = h("button.quiet", { type: "button", hidden: !isActive(filter) }, t("filter.clear"));
  const form = h(
    "form.search",
    { role: "search", "aria-label": t("filter.title"), novalidate: true },
    field(
      "text",
      h("input", {
        type: "search",
        id: "filter-text",
        name: "text",
        value: text,
        maxlength: TEXT_CHARS_MAX,
        autocomplete: "off",
        "aria-describedby": "filter-text-hint",
      }),
    ),
    h("p.hint", { id: "filter-text-hint" }, t("filter.text.hint")),
    h(
      "details.filters",
      // On a wide screen there is room for all of it.
      { open: isActive({ ...others, text: "" }) || matchMedia("(min-width: 80rem)").matches },
      h("summary", t("filter.more")),
      h(
        "div.fields",
        list("direction", DIRECTIONS, filter.direction),
        list("state", STATES, filter.state),
        date("from", filter.from),
        date("to", filter.to),
      ),
      extra,
    ),
    h("p.acts", h("button.main", { type: "submit" }, t("filter.submit")), clear),
  );
  const go = (/** @type {Filter} */ wanted) => {
    clear.hidden = !isActive(wanted);
    search(wanted);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const read = new FormData(form);
    const wanted = Object.keys(noFilter()).map((name) => [name, String(read.get(name) ?? "").trim()]);
    go(Object.fromEntries(wanted));
  });
  clear.addEventListener("click", () => {
    for (const control of form.querySelectorAll("input, select")) {
      /** @type {HTMLInputElement | HTMLSelectElement} */ (control).value = "";
    }
    form.querySelector("input")?.focus();
    go(noFilter());
  });
  return form;
}
