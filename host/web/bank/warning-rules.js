// What the page asks and says before an unusual payment: pure rules, so that a simulation can count how often ordinary
// customers meet them. They govern the page's warnings. The risk level, and what the bank requires at each, stay the
// scorer's and the bank's.

/** @import { RiskRequest } from "../../../components/js/src/index.js" */
/** @import { Caution, Purpose, Verdict } from "./types.js" */

/**
 * In pesos. The mean loss that people in Mexico claimed as a fraud was eight times as much (CONDUSEF, first half of 2025);
 * questions about less would wear out attention for little.
 */
export const SMALL_PESOS = 500;

/** The risk factor's own boundary: exactly twice the average is not much more. */
const LARGE_TIMES = 2;

/** A payee that was saved a day ago was not saved during the call that asks for the money. */
export const SAVED_MINUTES = 24 * 60;

/** As often as the bank asks for before it calls a history short: a rent that was paid three times is no news. */
const REGULAR_TIMES = 3;

/**
 * In seconds: what reading a warning aloud takes, so that nobody sends before its end. Longer pauses are spent elsewhere,
 * and a caller can talk through them.
 */
export const PAUSE_SECONDS = 10;

/** In the order of the question: the frauds that are most common by telephone first. @type {Purpose[]} */
export const PURPOSES = ["call", "purchase", "offer", "number", "known", "own", "other"];

/** Answers that are a well-known fraud in themselves. @type {Purpose[]} */
const FRAUDS = ["call", "offer", "number"];

/** Reasons that are true of everybody who begins, or who has a new telephone. */
const COMMON = ["NEW_BENEFICIARY", "NEW_DEVICE", "LOW_HISTORY"];

/**
 * The reasons that say something of this payment. A short history never does, and a new device not of somebody who has
 * not paid from any. Those of the model itself come last.
 * @param {Pick<Verdict, "facts" | "factors" | "reasons">} verdict
 */
export const telling = ({ facts, factors, reasons = [] }) =>
  [...new Set([...factors, ...reasons])].filter(
    (it) => it !== "LOW_HISTORY" && !(it === "NEW_DEVICE" && facts.num_past_transactions === 0),
  );

/** Whether a model sees a risk that no reason explains. @param {Pick<Verdict, "factors" | "reasons" | "level" | "scoredBy">} verdict */
export const isUnexplained = ({ factors, reasons = [], level, scoredBy }) =>
  level !== "low" && scoredBy !== "none" && factors.length === 0 && reasons.length === 0;

/** Whether anything but what everybody does at some time is unusual. @param {Pick<Verdict, "factors">} verdict */
const isOdd = ({ factors }) => factors.some((it) => !COMMON.includes(it));

/**
 * Whether a warning is red, whatever the person answers: not for what everybody does at some time, and not beside the name
 * that the payee's bank confirms.
 * @param {Pick<Verdict, "factors" | "level" | "scoredBy">} verdict @param {boolean} isConfirmed
 */
export const isRed = (verdict, isConfirmed) =>
  !isConfirmed && (verdict.scoredBy === "none" || (verdict.level === "high" && isOdd(verdict)));

/** @param {RiskRequest} facts */
const isSmall = (facts) => facts.amount <= SMALL_PESOS;

/** Much for this person. @param {RiskRequest} facts */
const isLarge = (facts) => !isSmall(facts) && facts.amount > LARGE_TIMES * facts.avg_transaction_amount;

/**
 * A payment as this person makes them: a small one to somebody they have paid, or from a device they know, either to
 * somebody they have paid and no more than they usually send, or a small one to somebody saved a while ago. It is not
 * warned about, whatever the hour.
 * @param {Pick<Verdict, "facts" | "scoredBy">} verdict
 */
function isFamiliar({ facts, scoredBy }) {
  if (scoredBy === "none") return false;
  const isPaid = facts.num_transactions_to_beneficiary > 0;
  if (isPaid && isSmall(facts)) return true;
  if (facts.is_new_device) return false;
  if (isPaid && facts.amount <= facts.avg_transaction_amount) return true;
  return isSmall(facts) && (facts.beneficiary_saved_minutes ?? 0) >= SAVED_MINUTES;
}

/**
 * To somebody paid often, and no more than the person has sent before. From a device and a place that are known it meets
 * nothing, not even what is odd about the payee, who got the money each time; otherwise the reasons: a question each month
 * about the same rent would only teach them to click it away.
 * @param {RiskRequest} facts
 */
const isRegular = (facts) =>
  facts.num_transactions_to_beneficiary >= REGULAR_TIMES && facts.amount <= facts.max_transaction_amount;

/**
 * How a payment is met: not at all, as the first one to somebody, with the reasons why it is unusual, or with a question
 * and a warning that fits the answer. `hasDoubts`: something about the payee's number or name does not fit.
 * @param {Pick<Verdict, "facts" | "factors" | "reasons" | "scoredBy" | "level">} verdict @param {boolean} hasDoubts
 * @returns {Caution}
 */
export function cautionOf(verdict, hasDoubts) {
  const { facts, level, scoredBy } = verdict;
  const isAsAlways = isRegular(facts) && scoredBy !== "none";
  if (isAsAlways && !facts.is_new_device && !facts.geolocation_changed) return "familiar";
  if (isFamiliar(verdict)) return hasDoubts ? "doubts" : "familiar";
  const isNew = facts.is_new_beneficiary;
  // Where everybody begins: with something small to somebody new.
  const isBeginner = facts.num_past_transactions < REGULAR_TIMES && scoredBy !== "none";
  if (isBeginner && isNew && isSmall(facts) && !isOdd(verdict)) return hasDoubts ? "doubts" : "first";
  const isUnusual =
    level === "high" ||
    (isNew && isLarge(facts)) ||
    (level === "medium" && (isNew || isLarge(facts)) && !isSmall(facts)) ||
    (isNew && hasDoubts && !isSmall(facts));
  if (isUnusual && !isAsAlways) return "question";
  if (level === "low" || (telling(verdict).length === 0 && !isUnexplained(verdict)))
    return hasDoubts ? "doubts" : "none";
  return "reasons";
}

/**
 * Whether a payment that was asked about waits for a moment: where the answer is a fraud in itself, and, because callers
 * tell people what to answer, where a high risk meets much money or a stranger, whatever the answer.
 * @param {Pick<Verdict, "facts" | "level">} verdict @param {Purpose} purpose
 */
export function isPaused({ facts, level }, purpose) {
  if (FRAUDS.includes(purpose)) return true;
  return level === "high" && !isSmall(facts) && (facts.is_new_beneficiary || isLarge(facts));
}

/** Whether a payment is met without any warning. @param {Caution} caution */
export const isCalm = (caution) => ["none", "familiar", "first"].includes(caution);

/** Whether the answer is a fraud in itself. @param {Purpose} purpose */
export const isFraud = (purpose) => FRAUDS.includes(purpose);
