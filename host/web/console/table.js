// Tables that may be wider than the page.

/** @import { Child } from "../shared/dom.js" */
/** @import { Cell } from "./types.js" */
import { h, setAttributes } from "../shared/dom.js";

/** @param {Cell} cell @returns {[Child, string | null]} */
const pair = (cell) => (Array.isArray(cell) ? /** @type {[Child, string | null]} */ (cell) : [cell, null]);

/**
 * The first cell of a row is the row's heading. `keys` identify rows when the table is updated.
 * @param {{ label: string, caption?: string, heads: Cell[], rows: Cell[][], keys?: (string | number)[], className?: string }} table
 */
export function table({ label, caption, heads, rows, keys, className }) {
  const head = heads.map(pair).map(([text, kind]) => h("th", { scope: "col", class: kind }, text));
  const body = rows.map((row, at) => {
    const [first, ...others] = row.map(pair);
    const cells = others.map(([content, kind]) => h("td", { class: kind }, content));
    return h("tr", { "data-key": keys?.[at] }, h("th", { scope: "row", class: first[1] }, first[0]), cells);
  });
  return h(
    "div.scroll",
    { "data-keeps": "tabindex role aria-label", "data-label": label },
    h("table", { class: className }, caption && h("caption", caption), h("thead", h("tr", head)), h("tbody", body)),
  );
}

/** A term and its description. @param {string} term @param {Child[]} about */
export const fact = (term, ...about) => h("div", h("dt", term), h("dd", about));

/** What belongs to a fact, in a quieter colour. @param {Child} text */
export const note = (text) => text && [" ", h("span.note", text)];

/** Lets the keyboard scroll tables that do not fit, and only those: extra tab stops slow people down. @param {ParentNode} within */
export function markScrollable(within) {
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (within.querySelectorAll(".scroll"))) {
    const scrolls = place.scrollWidth > place.clientWidth + 1;
    if (scrolls === place.hasAttribute("tabindex")) continue;
    if (scrolls) setAttributes(place, { tabindex: 0, role: "group", "aria-label": place.dataset.label });
    else ["tabindex", "role", "aria-label"].forEach((name) => place.removeAttribute(name));
  }
}
