// What the page has seen of the ledger: shown while the host is unreachable. In memory only, forgotten at sign-out.

/** @import { Account, Payee, Transfer } from "./types.js" */
import * as api from "./api.js";
import { forgetChecks } from "./payee-names.js";

/** Transfers to score from when the ledger is unreachable; the API's longest page. */
const HISTORY_MAX = 1_000;

/** `savedAt` has the times (ms) at which this page saw payees being saved. */
const nothing = () => ({
  accounts: /** @type {Account[] | null} */ (null),
  payees: /** @type {Payee[] | null} */ (null),
  history: /** @type {Transfer[]} */ ([]),
  savedAt: /** @type {Map<string, number>} */ (new Map()),
});

export const known = nothing();

export function forgetAll() {
  Object.assign(known, nothing());
  forgetChecks();
}

export async function loadAccounts() {
  known.accounts = await api.accounts();
  return known.accounts;
}

export async function loadPayees() {
  known.payees = await api.payees();
  return known.payees;
}

/** Loads the history in advance, while there is a connection; failure is harmless. */
export async function loadHistory() {
  try {
    known.history = (await api.transfers({ limit: HISTORY_MAX })).transfers;
  } catch {
    // Keep the earlier history.
  }
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
