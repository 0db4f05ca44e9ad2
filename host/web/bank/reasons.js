// Why a transfer looks unusual: a sentence for each of the risk scorer's codes, with this payee, this amount and what is
// usual for the person.

/** @import { FullDraft, Verdict } from "./types.js" */

import { writeMoney } from "./money.js";
import { counted, hasText, t } from "./words.js";

/** @param {string} code @param {Verdict["facts"]} facts @param {FullDraft} draft */
function sentence(code, facts, { payee, centavos }) {
  switch (code) {
    case "AMOUNT_MUCH_HIGHER_THAN_AVERAGE":
      return t("risk.AMOUNT_MUCH_HIGHER_THAN_AVERAGE", {
        amount: writeMoney(centavos),
        average: writeMoney(Math.round(facts.avg_transaction_amount * 100)),
      });
    case "UNUSUAL_TIME":
      return t("risk.UNUSUAL_TIME", { hour: String(facts.hour_of_day).padStart(2, "0") });
    case "LOW_HISTORY":
      if (facts.num_past_transactions === 0) return t("risk.LOW_HISTORY.none");
      return counted("risk.LOW_HISTORY", facts.num_past_transactions);
    default:
      // A later model may have reasons that this page has no words for; their codes are among the details.
      return hasText(`risk.${code}`) ? t(`risk.${code}`, { name: payee.name }) : t("risk.other");
  }
}

/** @param {Verdict} verdict @param {FullDraft} draft */
export function reasons(verdict, draft) {
  return verdict.factors.map((code) => sentence(code, verdict.facts, draft));
}
