// The transfer being prepared, and the key that keeps it from being sent twice. It lives in memory, except while the person
// signs in elsewhere, and for a transfer that was sent and never answered: that one survives a reload of the tab, because
// only its key can find out whether it went through.

/** @import { Draft, FullDraft, Receipt } from "./types.js" */

const KEY = "caudal.unsettled";

/** @returns {Draft} */
const emptyDraft = () => ({ fromAccountId: null, toBeneficiaryId: null, centavos: null, payee: null, key: null });

let draft = emptyDraft();

/** @type {Receipt | null} */
let receipt = null;

export const draftNow = () => draft;
export const receiptNow = () => receipt;

/** The draft once everything is chosen, or null. @returns {FullDraft | null} */
export function fullDraft() {
  const { fromAccountId, toBeneficiaryId, centavos, payee } = draft;
  if (fromAccountId === null || toBeneficiaryId === null || centavos === null || payee === null) return null;
  return { fromAccountId, toBeneficiaryId, centavos, payee };
}

/** Changes the draft. A different transfer gets a new key. @param {Partial<Draft>} changes */
export function choose(changes) {
  const next = { ...draft, ...changes };
  const isSame =
    next.fromAccountId === draft.fromAccountId &&
    next.toBeneficiaryId === draft.toBeneficiaryId &&
    next.centavos === draft.centavos;
  draft = isSame ? next : { ...next, key: null };
}

/** Takes up a draft with its key. @param {Draft} kept */
export function restoreDraft(kept) {
  draft = { ...emptyDraft(), ...kept };
}

export function start() {
  draft = emptyDraft();
  receipt = null;
}

/** Starts with something chosen, unless an earlier transfer is unsettled. @param {Partial<Draft>} changes */
export function startWith(changes) {
  if (isUnsettled()) return;
  start();
  choose(changes);
}

/** The idempotency key: made once per reviewed transfer, used for every attempt. */
export function keyNow() {
  draft.key ??= crypto.randomUUID();
  return draft.key;
}

/** After a refusal, which the bank keeps under its key: the next attempt needs a new one. */
export function dropKey() {
  draft.key = null;
  settle();
}

/** @type {{ name: string, text: string } | null} */
let fault = null;

/** Keeps what the bank found wrong with a field, for the step where it can be corrected. @param {string} name @param {string} text */
export function setFault(name, text) {
  fault = { name, text };
}

/** The fault of one of these fields, once. @param {string[]} names */
export function takeFault(names) {
  if (!fault || !names.includes(fault.name)) return null;
  const taken = fault;
  fault = null;
  return taken;
}

/** Before sending: from now on the outcome may be unknown. @param {string} user */
export function unsettle(user) {
  sessionStorage.setItem(KEY, JSON.stringify({ user, ...draft }));
}

/** Whether a transfer was sent whose outcome is unknown. */
export const isUnsettled = () => sessionStorage.getItem(KEY) !== null;

/** The outcome is known. */
export function settle() {
  sessionStorage.removeItem(KEY);
}

/** Takes up the user's unsettled transfer; false if there is none. @param {string} user */
export function resume(user) {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (stored?.user !== user || typeof stored.key !== "string" || !Number.isSafeInteger(stored.centavos)) return false;
    const { fromAccountId, toBeneficiaryId, centavos, key, payee } = stored;
    if (draft.key !== key) draft = { fromAccountId, toBeneficiaryId, centavos, key, payee };
    return true;
  } catch {
    return false;
  }
}

/** @param {Receipt} made */
export function finish(made) {
  draft = emptyDraft();
  receipt = made;
  settle();
}

export function forgetTransfer() {
  start();
  settle();
}
