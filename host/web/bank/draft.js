// The transfer being prepared, and the key that keeps it from being sent twice. It outlives a reload of the tab, for the
// same person: the tab stores ids, the amount, the concept, the reference and the key, but no names or account numbers. Of
// a transfer that was sent and never answered it stores everything, because only its key can find out whether it went
// through.

/** @import { Draft, FullDraft, Payee } from "./types.js" */

const KEY = "caudal.draft";
const UNSETTLED_KEY = "caudal.unsettled";

/** @returns {Draft} */
const emptyDraft = () => ({
  fromAccountId: null,
  toBeneficiaryId: null,
  centavos: null,
  concept: null,
  numericReference: null,
  typed: null,
  typedRemittance: null,
  payee: null,
  isForLater: false,
  replaces: null,
  key: null,
  schedule: null,
});

let draft = emptyDraft();
/** Whose draft it is; null while nobody is signed in. @type {string | null} */
let owner = null;

export const draftNow = () => draft;

/** The first step that has to be taken before this one, or null. @param {string} path */
export function missingStep(path) {
  if (draft.fromAccountId === null || draft.toBeneficiaryId === null) return "/transfer/parties";
  return path === "/transfer/review" && draft.centavos === null ? "/transfer/amount" : null;
}

/** The draft once everything is chosen, or null. @returns {FullDraft | null} */
export function fullDraft() {
  const { fromAccountId, toBeneficiaryId, centavos, concept, numericReference, payee } = draft;
  if (fromAccountId === null || toBeneficiaryId === null || centavos === null || payee === null) return null;
  return { fromAccountId, toBeneficiaryId, centavos, concept, numericReference, payee };
}

/** @param {string} key */
function stored(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

function keep() {
  const { payee, replaces: named, ...ids } = draft;
  const replaces = named && { ...named, beneficiaryName: undefined };
  if (owner !== null) sessionStorage.setItem(KEY, JSON.stringify({ user: owner, ...ids, replaces }));
}

/** @param {Draft} next */
function become(next) {
  draft = next;
  keep();
}

/** At sign-in: goes on with what this tab has of the same user, and drops what it has of another. @param {string} user */
export function claimDraft(user) {
  const { user: before, ...kept } = stored(KEY) ?? {};
  const isKept = before === user && draft.fromAccountId === null && draft.toBeneficiaryId === null;
  const centavos = Number.isSafeInteger(kept.centavos) ? kept.centavos : null;
  owner = user;
  become(isKept ? { ...emptyDraft(), ...kept, centavos } : draft);
}

/** Chooses whom to pay, and from where. @param {Payee | null} payee @param {Partial<Draft>} changes */
export function choosePayee(payee, changes) {
  // What was being typed for another payee must not be suggested.
  const isSame = payee?.id === draft.toBeneficiaryId;
  const kept = isSame
    ? {}
    : { typed: null, typedRemittance: null, concept: null, numericReference: null, replaces: null };
  choose({ ...kept, toBeneficiaryId: payee?.id ?? null, payee, ...changes });
}

/** Changes the draft. A different transfer gets a new key. @param {Partial<Draft>} changes */
export function choose(changes) {
  const next = { ...draft, ...changes };
  const isSame =
    next.fromAccountId === draft.fromAccountId &&
    next.toBeneficiaryId === draft.toBeneficiaryId &&
    next.centavos === draft.centavos &&
    next.concept === draft.concept &&
    next.numericReference === draft.numericReference;
  become(isSame ? next : { ...next, key: null });
}

/** Takes up a draft with its key. @param {Draft} kept */
export function restoreDraft(kept) {
  become({ ...emptyDraft(), ...kept });
}

export function start() {
  become(emptyDraft());
}

/** Starts with something chosen, unless an earlier transfer is unsettled. @param {Partial<Draft>} changes */
export function startWith(changes) {
  if (isUnsettled()) return;
  start();
  choose(changes);
}

/** The idempotency key: made once per reviewed transfer, used for every attempt. */
export function keyNow() {
  const key = draft.key ?? crypto.randomUUID();
  become({ ...draft, key });
  return key;
}

/** The key of a schedule: the same plan is never made twice, not even after a reload. @param {unknown} plan */
export function scheduleKey(plan) {
  const { fromAccountId, toBeneficiaryId, centavos, concept, numericReference } = draft;
  const text = JSON.stringify([fromAccountId, toBeneficiaryId, centavos, concept, numericReference, plan]);
  const schedule = draft.schedule?.plan === text ? draft.schedule : { plan: text, key: crypto.randomUUID() };
  become({ ...draft, schedule });
  return schedule.key;
}

/** After a refusal, which the bank keeps under its key: the next attempt needs a new one. */
export function dropKey() {
  become({ ...draft, key: null });
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
  sessionStorage.setItem(UNSETTLED_KEY, JSON.stringify({ user, ...draft }));
}

/** Whether a transfer was sent whose outcome is unknown. */
export const isUnsettled = () => sessionStorage.getItem(UNSETTLED_KEY) !== null;

/** The outcome is known. */
export function settle() {
  sessionStorage.removeItem(UNSETTLED_KEY);
}

/** Takes up the user's unsettled transfer; false if there is none. @param {string} user */
export function resume(user) {
  const { user: before, ...sent } = stored(UNSETTLED_KEY) ?? {};
  const { fromAccountId, toBeneficiaryId, centavos, concept = null, numericReference = null, key, payee } = sent;
  if (before !== user || typeof key !== "string" || !Number.isSafeInteger(centavos)) return false;
  if (draft.key !== key || draft.payee === null) {
    become({ ...emptyDraft(), fromAccountId, toBeneficiaryId, centavos, concept, numericReference, key, payee });
  }
  return true;
}

/** The transfer is made. */
export function finish() {
  start();
  settle();
}

/** At sign-out. */
export function forgetTransfer() {
  finish();
  owner = null;
  sessionStorage.removeItem(KEY);
}
