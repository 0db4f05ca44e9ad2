// Asking for what a screen shows: something stands there meanwhile, a failure says what to do and can be tried again,
// and an answer that comes after one has left is dropped.

import { announce } from "./announce.js";
import { h, show } from "./dom.js";
import { notice, problemNotice, skeleton } from "./drawing.js";
import { profileNow } from "./profile.js";
import { t } from "./words.js";

/**
 * Draws what `asking()` gives by `drawing(answer)` into `place`. `said(answer)` is for those who hear the page and
 * asked to be told when a list has arrived. `remembered()` gives what was known before, or null: when the bank cannot
 * be reached that is shown, and said to be old.
 */
export async function load(place, { signal, asking, drawing, said, lines, remembered = () => null }) {
  place.setAttribute("aria-busy", "true");
  show(place, skeleton(lines));
  try {
    const answer = await asking();
    if (signal.aborted) return;
    show(place, drawing(answer));
    if (said && profileNow().screenReaderMode) announce(said(answer));
  } catch (problem) {
    // Without a status it is a fault of this page's, which must not look like one of the bank's.
    if (problem.status === undefined) throw problem;
    // After a 401 the sign-in is on its way.
    if (signal.aborted || problem.status === 401) return;
    const old = problem.status === 0 ? remembered() : null;
    if (old !== null) show(place, notice("warn", h("p", null, t("remembered"))), drawing(old));
    else
      show(
        place,
        problemNotice(problem, () => load(place, { signal, asking, drawing, said, lines, remembered })),
      );
  } finally {
    place.removeAttribute("aria-busy");
  }
}
