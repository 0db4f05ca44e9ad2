// What the page has seen of the ledger: to show something at once, and to go on when the host is out of reach.
// In memory only; all of it is forgotten when the person leaves. No drawing.

import * as api from "./api.js";

/** How much of the history the risk's facts are made from when the ledger cannot be asked; the API's longest page. */
const HISTORY_MAX = 1_000;

const nothing = () => ({ accounts: null, payees: null, history: [], savedAt: new Map() });

export const known = nothing();

export function forgetAll() {
  Object.assign(known, nothing());
}

export async function askAccounts() {
  known.accounts = await api.accounts();
  return known.accounts;
}

export async function askPayees() {
  known.payees = await api.payees();
  return known.payees;
}

/** Asked in advance, while there is a connection: a failure is no matter yet. */
export async function askHistory() {
  try {
    known.history = (await api.transfers({ limit: HISTORY_MAX })).transfers;
  } catch {
    // What was seen before stays.
  }
}

/** A payee that was just saved: from when on it is known. */
export function sawSaving(payee, now = Date.now()) {
  known.payees = [...(known.payees ?? []), payee];
  known.savedAt.set(payee.id, now);
}

export function sawTransfer(transfer) {
  known.history = [transfer, ...known.history.filter((it) => it.id !== transfer.id)];
}

export const accountOf = (id) => known.accounts?.find((it) => it.id === id) ?? null;
export const payeeOf = (id) => known.payees?.find((it) => it.id === id) ?? null;
