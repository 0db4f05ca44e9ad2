// The warning that fits what a payment is for: what it looks like, what to check, what to do now, and what to do if it is
// a fraud.

/** @import { FullDraft, Purpose, Verdict } from "./types.js" */
import { button, h } from "../shared/dom.js";
import { drawList, notice } from "./drawing.js";
import { known } from "./known.js";
import { isConfirmed } from "./payee-names.js";
import { drawPayeeWarnings } from "./payee-warnings.js";
import { reasons } from "./reasons.js";
import { drawRiskDetails, summarised, summaryOf } from "./risk-notice.js";
import { isFraud, isRed } from "./warning-rules.js";
import { hasText, t } from "./words.js";

/** The keys `key.1`, `key.2`, ... @param {string} key */
function keysOf(key) {
  const keys = [];
  while (hasText(`${key}.${keys.length + 1}`)) keys.push(`${key}.${keys.length + 1}`);
  return keys;
}

/** What to do about a fraud, also one that has happened. */
export function drawIfFraud({ isOpen = false } = {}) {
  return h(
    "details.more.if-fraud",
    { open: isOpen },
    h("summary", t("if-fraud.title")),
    h(
      "ol",
      keysOf("if-fraud").map((it) => h("li", t(it))),
    ),
  );
}

/** Whether the answer, or else the payment, is met in red. @param {Verdict} verdict @param {FullDraft} draft @param {Purpose} purpose */
export const isMetInRed = (verdict, { payee }, purpose) => isFraud(purpose) || isRed(verdict, isConfirmed(payee));

/**
 * @param {Verdict} verdict @param {FullDraft} draft @param {Purpose} purpose
 * @param {() => void} change takes the answer back
 */
export function drawWarning(verdict, draft, purpose, change) {
  const summary = summaryOf(draft);
  // An account that is in their name needs no dictating.
  const key = purpose === "known" && isConfirmed(draft.payee) ? "warn.confirmed" : `warn.${purpose}`;
  const unusual = reasons(verdict, draft);
  return h(
    "section.risk.fitted",
    { "aria-labelledby": "risk-title" },
    notice(
      isMetInRed(verdict, draft, purpose) ? "bad" : "warn",
      h("h2", { id: "risk-title", tabindex: -1 }, t(`${key}.title`, summary)),
      drawList(keysOf(key).map((it) => summarised(it, draft))),
      h("p", h("strong", summarised(`${key}.now`, draft))),
    ),
    unusual.length > 0 && [h("p", t("warn.unusual")), drawList(unusual)],
    verdict.scoredBy === "none" && h("p", t("risk.unscored.title"), "."),
    drawPayeeWarnings(draft.payee, known.payees),
    drawIfFraud({ isOpen: isFraud(purpose) }),
    h(
      "p.answered",
      t("warn.answered", { purpose: t(`purpose.${purpose}`) }),
      " ",
      button(t("warn.change"), change, { class: "quiet" }),
    ),
    drawRiskDetails(verdict),
  );
}
