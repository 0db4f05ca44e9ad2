// Why a transfer looks unusual: a sentence for each of the risk scorer's codes that say something of it. Where the page
// knows more, with this payee, this amount and what is usual for the person; otherwise in the bank's words.

/** @import { FullDraft, Verdict } from "./types.js" */

import { writeMoney } from "./money.js";
import WORDS from "./reason-words.js";
import { isUnexplained, telling } from "./warning-rules.js";
import { hasText, languageNow, t } from "./words.js";

/** @param {string} code @returns {string | undefined} */
function inTheBanksWords(code) {
  /** @type {Record<string, { es: string, en: string }>} */
  const all = WORDS;
  return all[code]?.[languageNow() === "en" ? "en" : "es"];
}

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
      if (hasText(`risk.${code}`)) return t(`risk.${code}`, { name: payee.name });
      // A later model may have reasons that this page has no words for; their codes are among the details.
      return inTheBanksWords(code) ?? t("risk.other");
  }
}

/** @param {Verdict} verdict @param {FullDraft} draft */
export function reasons(verdict, draft) {
  if (isUnexplained(verdict)) return [t("risk.unexplained")];
  return telling(verdict).map((code) => sentence(code, verdict.facts, draft));
}
