// What may be wrong with a payee: shown in the lists, and again wherever money is about to be sent.

/** @import { Payee } from "./types.js" */
import { h } from "../shared/dom.js";
import { isSameBank, normalise, readNumber } from "./clabe.js";
import { drawList, notice } from "./drawing.js";
import { checkOf } from "./payee-names.js";
import { hasText, t } from "./words.js";

/** Part of a name, or one that is mistyped, is worth a look and no doubt. */
const MILD = ["name-close", "name-partial"];

/** @param {Pick<Payee, "name" | "accountNumber">} payee */
function nameCode(payee) {
  const { result, initials } = checkOf(payee) ?? {};
  if (result === "no-match") return "name-differs";
  return result === "close-match" && (initials ? "name-close" : "name-partial");
}

/** What the bank said of the name, in words, or null. @param {Pick<Payee, "name" | "accountNumber">} payee */
export function nameWarning(payee) {
  const code = nameCode(payee);
  return code ? t(`warning.${code}`, { name: payee.name, initials: checkOf(payee)?.initials }) : null;
}

/** Whether a payment to the payee should not go on without a question. @param {Payee} payee @param {Payee[] | null} payees */
export const isDoubtful = (payee, payees) => warningCodes(payee, payees).some((code) => !MILD.includes(code));

/**
 * The codes of a payee's warnings: the ledger's, and what the page sees in the number and in the other payees.
 * @param {Payee} payee @param {Payee[] | null} payees
 */
export function warningCodes({ id, name, bankName, accountNumber, warnings = [] }, payees) {
  const { kind, bank, checks, digits } = readNumber(accountNumber);
  const isTwice = (payees ?? []).some((it) => it.id !== id && normalise(it.accountNumber) === digits);
  const seen = [
    kind === "clabe" && !checks && "clabe-check-digit",
    bank !== null && !isSameBank(bank, bankName) && "bank-name-differs",
    kind === "clabe" && checks && bank === null && "bank-unknown",
    kind === "other" && "number-other",
    isTwice && "saved-twice",
    nameCode({ name, accountNumber }),
  ];
  // The page may know a bank that the list of the ledger lacks: this one.
  const told = warnings.filter((it) => it !== "bank-unknown" || bank === null);
  return [...new Set([...told, ...seen.filter((it) => typeof it === "string")])];
}

/** The same in words. @param {Payee} payee @param {Payee[] | null} payees */
export function payeeWarnings(payee, payees) {
  const { bank, digits } = readNumber(payee.accountNumber);
  const params = { bank: payee.derivedBank ?? bank, typed: payee.bankName, code: digits.slice(0, 3) };
  const named = { ...params, name: payee.name, initials: checkOf(payee)?.initials };
  return warningCodes(payee, payees)
    .filter((code) => hasText(`warning.${code}`))
    .map((code) => t(`warning.${code}`, named));
}

/** @param {Payee} payee @param {Payee[] | null} payees */
export function drawPayeeWarnings(payee, payees) {
  return payeeWarnings(payee, payees).map((text) => h("span.derived.warn", text));
}

/** The same where money is about to be sent, or null. @param {Payee} payee @param {Payee[] | null} payees */
export function drawPayeeNotice(payee, payees) {
  const warnings = payeeWarnings(payee, payees);
  return warnings.length === 0 ? null : notice("warn", h("p.title", t("warning.title")), drawList(warnings));
}
