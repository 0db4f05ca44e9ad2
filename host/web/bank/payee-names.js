// What banks have said of payees' names, while this tab is open: nothing of it is stored.

/** @import { Payee, PayeeCheck } from "./types.js" */
import { normalise } from "./clabe.js";

/** @type {Map<string, PayeeCheck>} */
const checks = new Map();

/** @param {Pick<Payee, "name" | "accountNumber">} payee */
const keyOf = ({ name, accountNumber }) => JSON.stringify([name, normalise(accountNumber)]);

/** @param {Pick<Payee, "name" | "accountNumber">} payee */
export const checkOf = (payee) => checks.get(keyOf(payee)) ?? null;

/** Whether the payee's bank says that the account is theirs. @param {Pick<Payee, "name" | "accountNumber">} payee */
export const isConfirmed = (payee) => checkOf(payee)?.result === "match";

/** @param {Pick<Payee, "name" | "accountNumber">} payee @param {PayeeCheck} check */
export function noteCheck(payee, check) {
  checks.set(keyOf(payee), check);
}

/** At sign-out. */
export function forgetChecks() {
  checks.clear();
}
