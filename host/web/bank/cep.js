// What Banxico asks for to look up a transfer's electronic receipt (CEP), each with a button to copy it.

/** @import { Account, Payee, Transfer } from "./types.js" */
import { h } from "../shared/dom.js";
import { readNumber } from "./clabe.js";
import { copyPair } from "./copying.js";
import { money, number } from "./drawing.js";
import { toJson } from "./money.js";
import { dayKey } from "./times.js";
import { t } from "./words.js";

/** The bank that sends: the one in the CLABE of the account. @param {Account | null} account */
const sendingBank = (account) => account && readNumber(account.accountNumber).bank;

/** The bank that receives: the one in the payee's CLABE, or as the person saved it. @param {Payee} payee */
const receivingBank = (payee) => readNumber(payee.accountNumber).bank ?? payee.bankName;

/** @param {Date} date as Banxico's form has it: 21/11/2026 */
const writeDate = (date) => dayKey(date).split("-").reverse().join("/");

/** Nothing for a transfer without a tracking key. @param {Transfer} transfer @param {{ payee: Payee | null, account: Account | null }} about */
export function drawCep({ speiReference, numericReference, centavos, createdAt }, { payee, account }) {
  if (!speiReference) return null;
  const date = new Date(createdAt);
  const sender = sendingBank(account);
  return h(
    "section.sheet.cep",
    { "aria-labelledby": "cep-title" },
    h("h2", { id: "cep-title" }, t("cep.title")),
    h("p.hint", t("cep.about")),
    h(
      "dl.facts.review",
      copyPair(t("cep.date"), writeDate(date), writeDate(date)),
      copyPair(t("receipt.reference"), speiReference),
      numericReference ? copyPair(t("reference.label"), String(numericReference), String(numericReference)) : null,
      sender ? copyPair(t("cep.sender"), sender, sender) : null,
      payee && copyPair(t("cep.receiver"), receivingBank(payee), receivingBank(payee)),
      payee && copyPair(t("cep.account"), readNumber(payee.accountNumber).digits, number(payee.accountNumber)),
      copyPair(t("receipt.amount"), toJson(centavos), money(centavos)),
    ),
    // SPEI counts an evening, a weekend and a bank holiday to the next business day.
    h("p.hint", t("cep.next-day")),
  );
}
