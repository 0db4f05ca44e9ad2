// Step-by-step help below a screen's form. A nudge only points to it.

import { h } from "../shared/dom.js";
import { announce } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { hasText, t } from "./words.js";

/** The texts `guide.<screen>.1`, `.2`, ... @param {string} screen */
function stepsOf(screen) {
  const steps = [];
  while (hasText(`guide.${screen}.${steps.length + 1}`)) steps.push(t(`guide.${screen}.${steps.length + 1}`));
  return steps;
}

/** @param {string} screen */
export const hasGuide = (screen) => hasText(`guide.${screen}.1`);

/** @param {string} screen */
export function drawGuide(screen) {
  if (!hasGuide(screen)) return null;
  return h(
    "details.guide",
    {
      id: "guide",
      onToggle: (/** @type {any} */ event) => event.target.open && behaviour.askedForHelp(),
    },
    h("summary", t("guide.title")),
    h(
      "ol",
      stepsOf(screen).map((step) => h("li", step)),
    ),
  );
}

/** Opens the guide and moves the focus there. */
export function openGuide() {
  const guide = document.querySelector("details#guide");
  if (!(guide instanceof HTMLDetailsElement)) return;
  guide.open = true;
  guide.querySelector("summary")?.focus();
  announce(t("guide.opened"));
}
