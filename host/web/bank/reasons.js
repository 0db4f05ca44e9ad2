// Why a transfer looks unusual, in plain words about this transfer: each code of the risk scorer as a sentence with the
// payee, the amount and what is usual for the person.

import { writeMoney } from "./money.js";
import { counted, hasText, t } from "./words.js";

function sentence(code, { facts, payee, centavos }) {
  switch (code) {
    case "AMOUNT_MUCH_HIGHER_THAN_AVERAGE":
      return t("risk.AMOUNT_MUCH_HIGHER_THAN_AVERAGE", {
        amount: writeMoney(centavos),
        average: writeMoney(Math.round(facts.avg_transaction_amount * 100)),
      });
    case "UNUSUAL_TIME":
      return t("risk.UNUSUAL_TIME", { hour: String(facts.hour_of_day).padStart(2, "0") });
    case "LOW_HISTORY":
      return counted("risk.LOW_HISTORY", facts.num_past_transactions);
    default:
      // A later model may name a reason that this page has no words for; it is not kept from the person.
      return hasText(`risk.${code}`) ? t(`risk.${code}`, { name: payee.name }) : t("risk.other", { code });
  }
}

/** The sentences of a verdict, in its order. */
export function reasons(verdict, { payee, centavos }) {
  return verdict.factors.map((code) => sentence(code, { facts: verdict.facts, payee, centavos }));
}
