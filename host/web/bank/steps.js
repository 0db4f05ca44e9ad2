// Progress through the four steps of a transfer.

import { h, heard } from "../shared/dom.js";
import { t } from "./words.js";

export const STEPS = ["parties", "amount", "review", "receipt"];

/** @param {number} step from 1 */
export function drawSteps(step) {
  const items = STEPS.map((name, place) => {
    const isDone = place + 1 < step;
    const isHere = place + 1 === step;
    return h(
      "li",
      { class: isDone ? "done" : null, "aria-current": isHere ? "step" : null },
      h("span.mark", { "aria-hidden": "true" }, isDone ? "✓" : String(place + 1)),
      h("span.name", t(`step.${name}`)),
      isDone && heard(` (${t("step.done")})`),
    );
  });
  return h("ol.steps", { "aria-label": t("steps.label") }, items);
}
