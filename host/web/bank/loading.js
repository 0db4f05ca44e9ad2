// Loads what a screen shows: first a placeholder, a retry after a failure, and nothing at all once the person has
// left the screen.

/** @import { Child } from "../shared/dom.js" */
import { h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { announce } from "./announce.js";
import { notice, problemNotice, skeleton } from "./drawing.js";
import { profileNow } from "./profile.js";
import { clock, shortDay } from "./times.js";
import { t } from "./words.js";

/** How old what is shown is. @param {number} ms */
function remembered(ms) {
  const at = new Date(ms);
  return ms > 0 ? t("remembered.at", { day: shortDay(at), clock: clock(at) }) : t("remembered");
}

/** Replaces the content of a place; a link that has the focus keeps it. @param {HTMLElement} place @param {Child} content */
export function showAgain(place, content) {
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  show(place, content);
  const same = [...place.querySelectorAll("a")].find((it) => focused && it.isEqualNode(focused));
  same?.focus({ preventScroll: true });
}

/**
 * Draws the data from `load` into a place; `isAgain` leaves what is there until then, and the focus where it was. `summary` is announced in screen reader mode. `fallback` is data from before,
 * or null, seen at `seenAt`: it is shown, and marked as old, when the bank is unreachable.
 * @template Data
 * @param {HTMLElement} place
 * @param {{ signal: AbortSignal, load: () => Promise<Data>, draw: (data: Data) => Child, summary?: (data: Data) => string,
 *   lines?: number, isAgain?: boolean, fallback?: () => Data | null, seenAt?: () => number }} about
 * @returns {Promise<void>}
 */
export async function drawLoaded(place, about) {
  const { signal, load, draw, summary, lines, isAgain = false, fallback, seenAt } = about;
  place.setAttribute("aria-busy", "true");
  if (!isAgain) show(place, skeleton(lines));
  try {
    const data = await load();
    if (signal.aborted) return;
    showAgain(place, draw(data));
    if (summary && profileNow().screenReaderMode) announce(summary(data));
  } catch (error) {
    const problem = asProblem(error);
    // After a 401 the session shows the sign-in.
    if (signal.aborted || problem.status === 401) return;
    const old = problem.status === 0 ? fallback?.() : null;
    if (old) show(place, notice("warn", h("p", remembered(seenAt?.() ?? 0))), draw(old));
    else
      show(
        place,
        problemNotice(problem, () => drawLoaded(place, about)),
      );
  } finally {
    place.removeAttribute("aria-busy");
  }
}
