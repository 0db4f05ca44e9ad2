// "This was not me": somebody reports a transfer as not theirs, and has its account frozen if they want that.

/** @import { Transfer } from "./types.js" */
import { button, focusOn, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import * as api from "./api.js";
import { confirmed } from "./dialog.js";
import { notice, problemNotice } from "./drawing.js";
import { tickField } from "./fields.js";
import { loadAccounts } from "./known.js";
import { drawIfFraud } from "./warning.js";
import { t } from "./words.js";

/** A button that asks first; the answer takes its place. @param {Transfer} transfer @param {AbortSignal} signal */
export function drawDisowning({ id }, signal) {
  const faults = h("div.faults");
  const place = h("div.flow.disowning");
  /** @param {boolean} freeze */
  const send = async (freeze) => {
    show(faults);
    try {
      const { frozen } = await api.reportTransfer(id, freeze);
      if (frozen) loadAccounts().catch(() => {});
      if (signal.aborted) return;
      const said = h("div", { tabindex: -1 }, notice("good", h("p", t(frozen ? "disown.done.frozen" : "disown.done"))));
      show(place, said, drawIfFraud({ isOpen: true }));
      focusOn(said);
    } catch (error) {
      const problem = asProblem(error);
      if (signal.aborted || problem.status === 401) return;
      show(
        faults,
        problemNotice(problem, () => send(freeze)),
      );
    }
  };
  const ask = async () => {
    const freeze = tickField({ name: "freeze", label: t("disown.freeze"), hint: t("disown.freeze.hint") });
    const isSure = await confirmed({
      title: t("disown.title"),
      about: [h("p", t("disown.about")), freeze.element],
      yes: t("disown.yes"),
      no: t("disown.no"),
    });
    if (isSure) await send(freeze.read());
  };
  show(place, faults, h("p.acts", button(t("disown.ask"), ask, { class: "quiet" })), drawIfFraud());
  return place;
}
