// What Banxico asks for to look up a transfer's electronic receipt (CEP), each with a button to copy it.

/** @import { Account, Payee, Transfer, TransferState } from "./types.js" */
import { h } from "../shared/dom.js";
import { readNumber } from "./clabe.js";
import { copyPair } from "./copying.js";
import { money, number } from "./drawing.js";
import { toJson } from "./money.js";
import { payeeAsSent } from "./receipt.js";
import { dayKey } from "./times.js";
import { t } from "./words.js";

const ADDRESS = "https://www.banxico.org.mx/cep/";

/** @param {Date} date as Banxico's form has it: 21/11/2026 */
const writeDate = (date) => dayKey(date).split("-").reverse().join("/");

/**
 * Nothing for a transfer of which Banxico has no receipt, because it was rejected or stayed within the bank, or of which
 * the page does not know all that Banxico asks for.
 * @param {Transfer} transfer @param {TransferState} state @param {{ payee: Payee | null, account: Account | null }} about
 */
export function drawCep(transfer, state, { payee, account }) {
  const { speiReference, numericReference, centavos, createdAt } = transfer;
  const { bank, number: text } = payeeAsSent(transfer, payee);
  const { bank: sender } = readNumber(account?.accountNumber ?? "");
  const { bank: named, digits } = readNumber(text ?? "");
  const receiver = named ?? bank;
  if (!speiReference || !sender || !receiver || !text || state === "failed" || sender === receiver) return null;
  const date = new Date(createdAt);
  const tab = h("span.off-paper", ` ${t("cep.tab")}`);
  const link = h("a", { href: ADDRESS, target: "_blank", rel: "noopener" }, "banxico.org.mx/cep", tab);
  return h(
    "section.sheet.cep",
    { "aria-labelledby": "cep-title" },
    h("h2", { id: "cep-title" }, t("cep.title")),
    h("p.hint", t("cep.about"), " ", link, "."),
    h(
      "dl.facts.review",
      copyPair(t("cep.date"), writeDate(date), writeDate(date)),
      copyPair(t("receipt.reference"), speiReference),
      numericReference ? copyPair(t("reference.label"), String(numericReference), String(numericReference)) : null,
      copyPair(t("cep.sender"), sender, sender),
      copyPair(t("cep.receiver"), receiver, receiver),
      copyPair(t("cep.account"), digits, number(text)),
      copyPair(t("receipt.amount"), toJson(centavos), money(centavos)),
    ),
    // SPEI counts an evening, a weekend and a bank holiday to the next business day.
    h("p.hint", t("cep.next-day")),
  );
}
