// Looking for somebody among many payees.

/** @import { Payee } from "./types.js" */
import { h } from "../shared/dom.js";
import { announce } from "./announce.js";
import { counted, t } from "./words.js";

/** At this many payees, filtering is quicker than scanning the list. */
const FILTER_FROM = 7;

/** @param {string} text */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** A field that hides payees whose name, alias and bank do not match, or nothing for a few. @param {Payee[]} payees @param {() => HTMLElement[]} rows */
export function filterOf(payees, rows) {
  if (payees.length < FILTER_FROM) return null;
  const input = h("input", { type: "search", id: "payee-filter", autocomplete: "off" });
  input.addEventListener("input", () => {
    const wanted = plain(input.value.trim());
    let count = 0;
    rows().forEach((row, place) => {
      const { name, alias, bankName } = payees[place];
      row.hidden = !plain(`${name} ${alias ?? ""} ${bankName}`).includes(wanted);
      if (!row.hidden) count += 1;
    });
    announce(counted("parties.filtered", count));
  });
  return h("div.filter", h("label", { for: "payee-filter" }, t("parties.filter")), input);
}
