// What the history in the page says about a transfer, as the risk scorer asks it. For the moments when the
// ledger cannot be asked: its own context is better, since it knows more than the page has seen.

import { normalise } from "./clabe.js";
import { toPesos } from "./money.js";

const MS_IN_MINUTE = 60_000;

/**
 * The facts, in the shape of a risk request.
 *
 * - `draft`: {payee, centavos} with the payee as the ledger listed it, or null for one that is not known;
 * - `history`: transfers that the page has seen, {toBeneficiaryId, centavos, status}, in any order;
 * - `payees`: the payees that the page has seen, so that one number saved twice counts as one;
 * - `hour`: local hour; `isNewDevice`, `hasMoved`: what the page knows of device and place;
 * - `savedAt`: when this page saw the payee being saved (ms), and `now` (ms); both may be left out.
 *
 * Only completed transfers count. An empty history is no reassurance: it makes the payee new and the history low.
 */
export function riskFacts({ draft, history, payees, hour, isNewDevice, hasMoved, savedAt, now }) {
  const completed = history.filter((it) => it.status === "completed");
  const sum = completed.reduce((total, it) => total + it.centavos, 0);
  const numbers = new Map(payees.map((it) => [it.id, normalise(it.accountNumber)]));
  const number = draft.payee ? normalise(draft.payee.accountNumber) : null;
  // A deleted payee's number is not known any more; then only its id can tell.
  const isToPayee = (it) =>
    it.toBeneficiaryId === draft.payee?.id || (number !== null && numbers.get(it.toBeneficiaryId) === number);
  const toPayee = draft.payee ? completed.filter(isToPayee).length : 0;
  const facts = {
    amount: toPesos(draft.centavos),
    is_new_beneficiary: toPayee === 0,
    hour_of_day: hour,
    num_past_transactions: completed.length,
    avg_transaction_amount: completed.length === 0 ? 0 : sum / completed.length / 100,
    max_transaction_amount: toPesos(completed.reduce((most, it) => Math.max(most, it.centavos), 0)),
    num_transactions_to_beneficiary: toPayee,
    is_new_device: isNewDevice,
    geolocation_changed: hasMoved,
  };
  if (Number.isFinite(savedAt) && Number.isFinite(now) && now >= savedAt) {
    facts.beneficiary_saved_minutes = Math.floor((now - savedAt) / MS_IN_MINUTE);
  }
  return facts;
}
