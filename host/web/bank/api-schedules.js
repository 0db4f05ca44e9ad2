// Requests about scheduled transfers. Amounts are converted here, as in api.js.

/** @import { ConfirmationRequest, FullDraft, NewSchedule, Schedule, Transfer } from "./types.js" */
import { fromPesos, toJson } from "./money.js";
import { call, change, get } from "./request.js";

const PATH = "/api/ledger/schedules";
/** As for other transfers. */
const TRANSFER_TIMEOUT_MS = 20_000;

/** @param {any} schedule @returns {Schedule} */
const asSchedule = ({ amount, ...rest }) => ({ ...rest, centavos: fromPesos(amount) });

/** @param {string} id @param {string} action */
const actionPath = (id, action) => `${PATH}/${encodeURIComponent(id)}/${action}`;

/** @returns {Promise<Schedule[]>} */
export async function schedules() {
  return (await get(PATH)).map(asSchedule);
}

/** @param {string} id @returns {Promise<Schedule>} */
export async function schedule(id) {
  return asSchedule(await get(`${PATH}/${encodeURIComponent(id)}`));
}

/**
 * Schedules the draft. Repeating it with the same key makes no second schedule.
 * @param {FullDraft} draft @param {NewSchedule} plan @param {string} key
 */
export async function create({ fromAccountId, toBeneficiaryId, centavos, concept, numericReference }, plan, key) {
  const remittance = { concept: concept ?? undefined, numericReference: numericReference ?? undefined };
  const rest = JSON.stringify({ fromAccountId, toBeneficiaryId, ...remittance, ...plan });
  // Not through a double, which cannot hold every amount that the ledger accepts.
  const body = `${rest.slice(0, -1)},"amount":${toJson(centavos)}}`;
  const { json } = await call("POST", PATH, { body, headers: { "Idempotency-Key": key } });
  return asSchedule(json);
}

/** @param {string} id */
export async function cancel(id) {
  return asSchedule(await change("POST", actionPath(id, "cancel"), {}));
}

/** Does without the payment that waits. @param {string} id @param {string} date */
export async function skip(id, date) {
  return asSchedule(await change("POST", actionPath(id, "skip"), { date }));
}

/**
 * Sends the payment that waits. Repeating it sends nothing twice.
 * @param {string} id @param {ConfirmationRequest} confirmation
 * @returns {Promise<Transfer>}
 */
export async function confirm(id, confirmation) {
  const options = { timeoutMs: TRANSFER_TIMEOUT_MS };
  const { amount, ...rest } = await change("POST", actionPath(id, "confirm"), confirmation, options);
  return { ...rest, centavos: fromPesos(amount) };
}
