// Why a transfer looks unusual: a sentence for each of the risk scorer's codes that say something of it, with this payee, this amount and what is
// usual for the person.

/** @import { FullDraft, Verdict } from "./types.js" */

import { writeMoney } from "./money.js";
import { telling } from "./warning-rules.js";
import { hasText, t } from "./words.js";

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
    default:
      // A later model may have reasons that this page has no words for; their codes are among the details.
      return hasText(`risk.${code}`) ? t(`risk.${code}`, { name: payee.name }) : t("risk.other");
  }
}

/** @param {Verdict} verdict @param {FullDraft} draft */
export function reasons(verdict, draft) {
  return telling(verdict).map((code) => sentence(code, verdict.facts, draft));
}
