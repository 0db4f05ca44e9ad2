// A pause before the riskiest payments. Only sending waits: the button keeps its place and its focus, and the way out
// works. Screen readers hear the beginning and the end, and the seconds on request.

import { h, show } from "../shared/dom.js";
import { announce } from "./announce.js";
import { counted, t } from "./words.js";

const SECOND_MS = 1_000;

/** Seconds that tick away hurry people; where motion is unwelcome, nothing changes until the end. */
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Holds a button back until `endsAt` (ms). `element` says so; `mayGo` is false before the end, and says how long it is.
 * @param {HTMLElement} held @param {{ endsAt: number, signal: AbortSignal, now?: () => number }} about
 */
export function pause(held, { endsAt, signal, now = Date.now }) {
  const element = h("p.pause", { id: "pause" });
  const left = () => Math.max(0, Math.ceil((endsAt - now()) / SECOND_MS));
  const text = () => counted("pause.left", left());
  const draw = () => show(element, isStill() ? t("pause.still") : text());
  const end = () => {
    clearInterval(ticking);
    held.removeAttribute("aria-disabled");
    show(element, t("pause.over"));
  };
  const tick = () => {
    if (left() > 0) {
      if (!isStill()) draw();
      return;
    }
    end();
    announce(t("pause.over"));
  };
  const ticking = setInterval(tick, SECOND_MS / 4);
  signal.addEventListener("abort", () => clearInterval(ticking));
  held.setAttribute("aria-describedby", "pause");
  if (left() > 0) {
    // Not `disabled`, which would take the button out of the order of the Tab key.
    held.setAttribute("aria-disabled", "true");
    draw();
  } else end();
  return {
    element,
    begins: text,
    mayGo() {
      if (left() === 0) return true;
      announce(text());
      return false;
    },
  };
}
