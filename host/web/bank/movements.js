// Lines of a statement as they are written everywhere: what a movement is called, and what came of it.

/** @import { Child } from "../shared/dom.js" */
/** @import { Movement, TransferState } from "./types.js" */
import { h } from "../shared/dom.js";
import { lastFour, normalise } from "./clabe.js";
import { money, number, payeeName, signedMoney } from "./drawing.js";
import { reasonOf } from "./journal.js";
import { known } from "./known.js";
import { hasText, t } from "./words.js";

/** @param {Movement} movement */
export function nameOf({ entry: { type, beneficiaryName, payerName, payerAccountNumber, payerBank } }) {
  const name = beneficiaryName ?? payerName ?? payerBank ?? t("history.unnamed");
  const other = beneficiaryName ?? payerAccountNumber;
  if (known.accounts?.some(({ accountNumber }) => accountNumber === other)) return t("accounts.move");
  // Between two customers of this bank: the name if the bank has verified it.
  if (type === "deposit" && payerName) return t("entry.received", { name });
  // Otherwise what the person calls who has that number, if it is among their payees.
  const saved = known.payees?.find((it) => normalise(it.accountNumber) === other);
  if (type === "deposit" && saved) return t("entry.received", { name: payeeName(saved) });
  if (type === "deposit" && other) return t("entry.deposit.from", { four: lastFour(other) });
  // A later ledger may have types that this page has no words for.
  return hasText(`entry.${type}`) ? t(`entry.${type}`, { name }) : t("entry.other");
}

/** The name, which leads to the receipt of a transfer, and otherwise to `more`. @param {Movement} movement @param {string} [more] */
export function linkOf(movement, more) {
  const { transactionId } = movement.entry;
  const href = transactionId ? `#/history/receipt?id=${transactionId}` : more;
  return href ? h("a", { href }, nameOf(movement)) : nameOf(movement);
}

/** Where money from another bank comes from, or null. @param {Movement} movement */
export const payerLine = ({ entry: { payerBank, payerAccountNumber } }) =>
  payerBank &&
  h("p.hint.whole", `${t("history.payer")}: ${payerBank}`, payerAccountNumber && [" ", number(payerAccountNumber)]);

/** Why money did not arrive or came back, or null. @param {Movement} movement */
export function reasonFor({ entry: { type, transactionId }, state }) {
  // Of money that came back later, the entry that it came back with says why.
  return state === "failed" || type === "return" ? reasonOf(transactionId ?? "") : null;
}

/** What never left for good is neither spent nor earned: the refund has an entry of its own. @param {Movement} movement */
export const sumOf = ({ entry: { centavos }, state }) =>
  h("p.sum", state === "failed" ? h("s", money(Math.abs(centavos))) : signedMoney(centavos));

/** @param {TransferState | null} state @returns {Child} */
export const drawState = (state) => state && [" · ", h("span", { class: `state ${state}` }, t(`status.${state}`))];
