// What this browser remembers about each user: that they completed a transfer here, in which time zone, and which of
// their transfers may still do so. Users are stored under a short digest, so that names do not appear in clear. The
// records are a hint, not a proof.

/** @import { Transfer } from "./types.js" */
import { timeZone } from "./times.js";

const KEY = "caudal.devices";
/** Transfers that were sent here and are not completed yet, with the time zone of each. */
const WAITING = "caudal.waiting";
/** Of one user. Older ones are given up: then the device stays new, which only costs a question. */
const WAITING_MAX = 20;

/** FNV-1a: short and stable, not secret. @param {string} text */
export function digest(text) {
  let hash = 0x811c9dc5;
  for (const octet of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ octet, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, "0");
}

/** @param {string} key @returns {Record<string, any>} */
function records(key) {
  try {
    const read = JSON.parse(localStorage.getItem(key) ?? "{}");
    return read !== null && typeof read === "object" ? read : {};
  } catch {
    return {};
  }
}

/** @param {string} key @param {string} user @param {unknown} record */
function store(key, user, record) {
  try {
    localStorage.setItem(key, JSON.stringify({ ...records(key), [digest(user)]: record }));
  } catch {
    // Without storage every device is new: more questions, never fewer.
  }
}

/** A device that was never used cannot have moved. @param {string} user */
export function deviceFacts(user) {
  const record = records(KEY)[digest(user)];
  if (!record || typeof record !== "object") return { isNewDevice: true, hasMoved: false };
  return { isNewDevice: false, hasMoved: typeof record.zone === "string" && record.zone !== timeZone() };
}

/** @param {string} user @returns {Record<string, string>} */
const waitingOf = (user) => records(WAITING)[digest(user)] ?? {};

/** Whether a transfer that was sent here may have been completed meanwhile. @param {string} user */
export const isWaiting = (user) => Object.keys(waitingOf(user)).length > 0;

/** After sending, on whatever rail. @param {string} user @param {Pick<Transfer, "id" | "status">} transfer */
export function noteSent(user, transfer) {
  const waiting = Object.entries({ ...waitingOf(user), [transfer.id]: timeZone() });
  store(WAITING, user, Object.fromEntries(waiting.slice(-WAITING_MAX)));
  noteOutcomes(user, [transfer]);
}

/**
 * Once a transfer from here is completed, device and place count as usual; a failed one proves nothing.
 * @param {string} user @param {Pick<Transfer, "id" | "status">[]} transfers
 */
export function noteOutcomes(user, transfers) {
  const waiting = waitingOf(user);
  const ended = transfers.filter(({ id, status }) => id in waiting && status !== "pending");
  if (ended.length === 0) return;
  // The lists have the newest first, and the newest place counts.
  const last = ended.find(({ status }) => status === "completed");
  if (last) store(KEY, user, { zone: waiting[last.id] });
  for (const { id } of ended) delete waiting[id];
  store(WAITING, user, waiting);
}
