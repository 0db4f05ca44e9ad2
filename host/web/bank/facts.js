// The facts for the risk scorer, from the history in this page. A fallback for when the ledger, which knows more, is
// unreachable.

/** @import { RiskRequest } from "../../../components/js/src/index.js" */
/** @import { Device, Payee, Transfer } from "./types.js" */

import { normalise } from "./clabe.js";
import { toPesos } from "./money.js";

const MS_IN_MINUTE = 60_000;

/**
 * Only completed transfers count. An empty history is no reassurance: it means a new payee and few transfers.
 *
 * @typedef {object} Seen
 * @property {{ payee: Pick<Payee, "id" | "accountNumber"> | null, centavos: number }} draft null: a payee that is not known
 * @property {Pick<Transfer, "toBeneficiaryId" | "centavos" | "status">[]} history in any order
 * @property {Pick<Payee, "id" | "accountNumber">[]} payees a number that was saved twice counts as one
 * @property {number} hour local
 * @property {number} [savedAt] when this page saw the payee being saved, in ms
 * @property {number} [now] in ms
 *
 * @param {Seen & Device} seen
 */
export function riskFacts({ draft, history, payees, hour, isNewDevice, hasMoved, savedAt, now }) {
  const completed = history.filter((it) => it.status === "completed");
  const sum = completed.reduce((total, it) => total + it.centavos, 0);
  const numbers = new Map(payees.map((it) => [it.id, normalise(it.accountNumber)]));
  const number = draft.payee ? normalise(draft.payee.accountNumber) : null;
  // The number of a deleted payee is no longer known, only its id.
  /** @param {{ toBeneficiaryId: string | null }} it */
  const isToPayee = (it) =>
    it.toBeneficiaryId === draft.payee?.id || (number !== null && numbers.get(it.toBeneficiaryId ?? "") === number);
  const toPayee = draft.payee ? completed.filter(isToPayee).length : 0;
  /** @type {RiskRequest} */
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
  if (savedAt !== undefined && now !== undefined && now >= savedAt) {
    facts.beneficiary_saved_minutes = Math.floor((now - savedAt) / MS_IN_MINUTE);
  }
  return facts;
}
