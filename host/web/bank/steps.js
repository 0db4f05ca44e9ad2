// The four steps of a transfer: where one is, and what is still to come.

import { h, heard } from "./dom.js";
import { t } from "./words.js";

export const STEPS = ["parties", "amount", "review", "receipt"];

/** The indicator; `step` counts from one. */
export function drawSteps(step) {
  const items = STEPS.map((name, place) => {
    const isDone = place + 1 < step;
    const isHere = place + 1 === step;
    return h(
      "li",
      { class: isDone ? "done" : null, "aria-current": isHere ? "step" : null },
      h("span", { class: "mark", "aria-hidden": "true" }, isDone ? "✓" : String(place + 1)),
      h("span", { class: "name" }, t(`step.${name}`)),
      isDone && heard(` (${t("step.done")})`),
    );
  });
  return h("ol", { class: "steps", "aria-label": t("steps.label") }, items);
}
