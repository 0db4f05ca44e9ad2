// Step-by-step help for a screen, under the form that it is about. It is there for whoever asks for it; a nudge only
// points to it.

import { announce } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { h } from "./dom.js";
import { hasText, t } from "./words.js";

/** The steps that the words know for a screen: guide.<screen>.1, .2, ... */
function stepsOf(screen) {
  const steps = [];
  while (hasText(`guide.${screen}.${steps.length + 1}`)) steps.push(t(`guide.${screen}.${steps.length + 1}`));
  return steps;
}

export const hasGuide = (screen) => hasText(`guide.${screen}.1`);

/** The help of a screen, closed; null where there is none. */
export function drawGuide(screen) {
  if (!hasGuide(screen)) return null;
  return h(
    "details",
    {
      class: "guide",
      id: "guide",
      onToggle: (event) => event.target.open && behaviour.askedForHelp(),
    },
    h("summary", null, t("guide.title")),
    h(
      "ol",
      null,
      stepsOf(screen).map((step) => h("li", null, step)),
    ),
  );
}

/** Opens the help and goes there: the person has just said yes to it. */
export function openGuide() {
  const guide = document.getElementById("guide");
  if (!guide) return;
  guide.open = true;
  guide.querySelector("summary").focus();
  announce(t("guide.opened"));
}
