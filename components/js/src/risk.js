// The risk of a transfer: request, checks of the answer, and the answer on the wire.

/** @import { Part } from "./internal.js" */

/** @type {"risk"} */
export const kind = "risk";

const HOUR_MAX = 23;

/** The lowest scores of `medium` and `high`. */
const MEDIUM_FROM = 0.25;
const HIGH_FROM = 0.75;

const FACTOR_CODES = [
  "AMOUNT_MUCH_HIGHER_THAN_AVERAGE",
  "NEW_BENEFICIARY",
  "UNUSUAL_TIME",
  "NEW_DEVICE",
  "LOCATION_CHANGED",
  "LOW_HISTORY",
];

/** Fields are read in the order of the server's errors. @type {Part["read"]} */
export function read(fields) {
  const echo = { user_id: fields.id("user_id") };
  const request = {
    amount: fields.nonNegative("amount"),
    isNewBeneficiary: fields.boolean("is_new_beneficiary"),
    hourOfDay: fields.integerUpTo("hour_of_day", HOUR_MAX),
    numPastTransactions: fields.count("num_past_transactions"),
    avgTransactionAmount: fields.nonNegative("avg_transaction_amount"),
    maxTransactionAmount: fields.nonNegative("max_transaction_amount"),
    numTransactionsToBeneficiary: fields.count("num_transactions_to_beneficiary"),
    isNewDevice: fields.boolean("is_new_device"),
    geolocationChanged: fields.boolean("geolocation_changed"),
    beneficiarySavedMinutes: fields.optionalCount("beneficiary_saved_minutes"),
  };
  return { request, echo };
}

/** @type {Part["fault"]} */
export function fault({ level, score, base, contributions, factors }) {
  if (!(score >= 0 && score <= 1)) return "the score is not a number from 0 to 1";
  if (level !== levelOf(score)) return "the level does not fit the score";
  const weights = [base, ...contributions.map((/** @type {any} */ it) => it.weight)];
  if (!weights.every(Number.isFinite)) return "a contribution is not a finite number";
  if (!factors.every((/** @type {string} */ code) => FACTOR_CODES.includes(code))) return "a factor code is unknown";
  if (level !== "low" && factors.length === 0) return "a medium or high verdict has no factor";
  return "";
}

/** @param {number} score */
function levelOf(score) {
  if (score >= HIGH_FROM) return "high";
  return score >= MEDIUM_FROM ? "medium" : "low";
}

/** @type {Part["answer"]} */
export function answer({ level, score, factors }, echo, model_version) {
  return { ...echo, model_version, result: { risk_level: level, risk_score: score, risk_factors: factors } };
}
