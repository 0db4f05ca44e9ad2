// What the page has seen of the ledger: shown while the host is unreachable. In memory, forgotten at sign-out. The accounts
// alone outlive a reload of the tab, with their time and for the same person, until the session ends in any way.

/** @import { Account, Filter, Movement, Payee, Terms, Transfer } from "./types.js" */
import * as api from "./api.js";
import { knowOwnBank } from "./banks.js";
import { forgetChecks } from "./payee-names.js";

/** Transfers to score from when the ledger is unreachable; the API's longest page. */
const HISTORY_MAX = 1_000;
const KEY = "caudal.seen";
const BANK_NAME = "Caudal";

/** `savedAt` has the times (ms) at which this page saw payees being saved. */
const nothing = () => ({
  owner: /** @type {string | null} */ (null),
  accounts: /** @type {Account[] | null} */ (null),
  /** When (ms) the page saw them. */
  accountsAt: 0,
  payees: /** @type {Payee[] | null} */ (null),
  payeesAt: 0,
  history: /** @type {Transfer[]} */ ([]),
  /** The newest, with their accounts. */
  movements: /** @type {(Movement & { account: Account })[] | null} */ (null),
  /** What the person looks for in each account's statement. */
  filters: /** @type {Map<string, Filter>} */ (new Map()),
  savedAt: /** @type {Map<string, number>} */ (new Map()),
  /** Null: the service does not say. */
  terms: /** @type {Terms | null} */ (null),
});

export const known = nothing();

/** Of what is kept in the tab, whatever the reason. */
export function forgetKept() {
  sessionStorage.removeItem(KEY);
}

export function forgetAll() {
  forgetKept();
  Object.assign(known, nothing());
  forgetChecks();
}

/** At sign-in, or after a reload: goes on with what this tab has of the same person. @param {string} user */
export function claimKnown(user) {
  let kept = null;
  try {
    kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    // What is not readable is replaced.
  }
  if (kept?.user === user && Array.isArray(kept.accounts)) {
    known.accounts ??= kept.accounts;
    known.accountsAt ||= Number(kept.at) || 0;
  } else forgetKept();
  known.owner = user;
}

export async function loadAccounts() {
  const { owner } = known;
  const accounts = await api.accounts();
  // Somebody may have signed out meanwhile.
  if (known.owner !== owner) return accounts;
  known.accounts = accounts;
  known.accountsAt = Date.now();
  if (owner !== null) sessionStorage.setItem(KEY, JSON.stringify({ user: owner, at: known.accountsAt, accounts }));
  return accounts;
}

export async function loadPayees() {
  const { owner } = known;
  const payees = await api.payees();
  if (known.owner !== owner) return payees;
  known.payees = payees;
  known.payeesAt = Date.now();
  return payees;
}

/** Loads the history in advance, while there is a connection; failure is harmless. */
export async function loadHistory() {
  try {
    const { transfers } = await api.transfers({ limit: HISTORY_MAX });
    const loaded = new Set(transfers.map(({ id }) => id));
    known.history = [...transfers, ...known.history.filter(({ id }) => !loaded.has(id))];
  } catch {
    // Keep the earlier history.
  }
}

/** What the next transfer is bound by, and which CLABEs are this bank's own; failure is harmless. */
export async function loadTerms() {
  const { owner } = known;
  const terms = await api.terms().catch(() => null);
  if (!terms || known.owner !== owner) return;
  known.terms = terms;
  knowOwnBank(terms.clabeInstitution, BANK_NAME);
}

/** @param {Payee} payee */
export function addPayee(payee, now = Date.now()) {
  known.payees = [...(known.payees ?? []), payee];
  known.savedAt.set(payee.id, now);
}

/** @param {Transfer} transfer */
export function addTransfer(transfer) {
  known.history = [transfer, ...known.history.filter((it) => it.id !== transfer.id)];
}

/** @param {string | null} id */
export const accountOf = (id) => known.accounts?.find((it) => it.id === id) ?? null;
/** @param {string | null} id */
export const payeeOf = (id) => known.payees?.find((it) => it.id === id) ?? null;
