// The transfer that a person is making: what was chosen so far, its verdict, and the key that keeps it from being
// sent twice. In memory, except for one that was sent and never answered: it outlives a reload of the tab, because
// only its key can tell whether it went through. No drawing.

const KEPT = "caudal.unsettled";

const nothing = () => ({
  fromAccountId: null,
  toBeneficiaryId: null,
  centavos: null,
  payee: null,
  key: null,
  verdict: null,
});

let draft = nothing();
/** The last completed transfer with what its receipt shows. */
let receipt = null;

export const draftNow = () => draft;
export const receiptNow = () => receipt;

/** What makes a transfer another one. */
const MAKES_IT = ["fromAccountId", "toBeneficiaryId", "centavos"];

/** Changes what was chosen. Another transfer is another key, and has to be judged again. */
export function choose(changes) {
  const isSame = MAKES_IT.every((name) => !(name in changes) || draft[name] === changes[name]);
  draft = { ...draft, ...changes, ...(isSame ? {} : { key: null, verdict: null }) };
}

export function start() {
  draft = nothing();
  receipt = null;
}

/** Starts with something chosen; one whose outcome is open is not put aside for it. */
export function startWith(changes) {
  if (isUnsettled()) return;
  start();
  choose(changes);
}

/** The key of the transfer as it is reviewed now: made once, used for every try. */
export function keyNow() {
  draft.key ??= crypto.randomUUID();
  return draft.key;
}

/** A refusal is kept under its key for good: the next try needs another one. */
export function dropKey() {
  draft.key = null;
  settle();
}

export function judged(verdict) {
  draft.verdict = verdict;
}

/** What the bank refused about the draft, for the step where it can be mended: {field, text}. */
let blamed = null;

export function blame(field, text) {
  blamed = { field, text };
}

/** What was refused about one of these fields; it is said once. */
export function takeBlame(names) {
  if (!blamed || !names.includes(blamed.field)) return null;
  const { field: name, text } = blamed;
  blamed = null;
  return { name, text };
}

export const isSendable = () =>
  draft.fromAccountId !== null && draft.toBeneficiaryId !== null && draft.centavos !== null;

/** Before it is sent: from here on its outcome may be open. */
export function unsettle(user) {
  const { fromAccountId, toBeneficiaryId, centavos, key, payee } = draft;
  sessionStorage.setItem(KEPT, JSON.stringify({ user, fromAccountId, toBeneficiaryId, centavos, key, payee }));
}

/** Whether something was sent whose outcome is not known. */
export const isUnsettled = () => sessionStorage.getItem(KEPT) !== null;

/** Its outcome is known. */
export function settle() {
  sessionStorage.removeItem(KEPT);
}

/** Takes up again what was sent and never answered, by the same user; tells whether there is such a transfer. */
export function resume(user) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (kept?.user !== user || typeof kept.key !== "string" || !Number.isSafeInteger(kept.centavos)) return false;
    const { fromAccountId, toBeneficiaryId, centavos, key, payee } = kept;
    if (draft.key !== key) draft = { ...nothing(), fromAccountId, toBeneficiaryId, centavos, key, payee };
    return true;
  } catch {
    return false;
  }
}

export function finish(made) {
  draft = nothing();
  receipt = made;
  settle();
}

export function forgetTransfer() {
  start();
  settle();
}
