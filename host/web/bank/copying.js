// Text that people take elsewhere: shown with a button that copies it.

/** @import { Child } from "../shared/dom.js" */
import { button, h, heard, show } from "../shared/dom.js";
import { t } from "./words.js";

/**
 * A row in a list of facts. `text` is what is copied; `shown` is what is seen, if that differs.
 * @param {string} term @param {string} text @param {Child} [shown]
 */
export function copyPair(term, text, shown = h("code.reference", text)) {
  const status = h("p.status", { role: "status" });
  const value = h("span.copied", shown);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      show(status, t("copy.done"));
    } catch {
      // Some browsers do not let a page copy: select the text, so that the person can.
      getSelection()?.selectAllChildren(value);
      show(status, t("copy.by-hand"));
    }
  };
  const act = button([t("copy"), heard(` ${term}`)], copy, { class: "small" });
  return h("div.copy", h("dt", term), h("dd", value, " ", act, status));
}
