// A transfer's receipt: its outcome in words, its facts, and the key to track it by.

/** @import { Account, Payee, Transfer, TransferState } from "./types.js" */
import { button, h, show } from "../shared/dom.js";
import { moment, money, notice, number, pair, payeeName, typeName } from "./drawing.js";
import { reasonOf } from "./journal.js";
import { t } from "./words.js";

/** @type {Record<TransferState, "good" | "info" | "bad" | "warn">} */
const MOODS = { completed: "good", pending: "info", failed: "bad", returned: "warn" };

/** What has become of the transfer, and why. @param {Transfer} transfer @param {TransferState} state @param {string} name */
export function drawOutcome({ id }, state, name) {
  const reason = state === "failed" || state === "returned" ? reasonOf(id) : null;
  return notice(
    MOODS[state],
    h("p", t(`receipt.${state}`, { name })),
    reason && h("p", t("receipt.reason", { reason })),
  );
}

/** @param {string} reference */
function drawReference(reference) {
  const status = h("p.status", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(reference);
      show(status, t("receipt.copied"));
    } catch {
      // Some browsers do not let a page copy: select the key, so that the person can.
      getSelection()?.selectAllChildren(code);
      show(status, t("receipt.copy.by-hand"));
    }
  };
  const code = h("code.reference", reference);
  return [code, " ", button(t("receipt.copy"), copy, { class: "small" }), status];
}

/**
 * The facts. `payee` is null if it was deleted, `status` and `balance` are filled in as they change.
 * @param {Transfer} transfer
 * @param {{ payee: Payee | null, account: Account | null, status: HTMLElement, balance: HTMLElement }} about
 */
export function drawReceipt(transfer, { payee, account, status, balance }) {
  const { centavos, speiReference, createdAt, beneficiaryName } = transfer;
  // The name at the time of the transfer: the payee may have another one since.
  const name = beneficiaryName ?? payee?.name ?? t("history.unnamed");
  return h(
    "div.sheet.receipt",
    h(
      "dl.facts.review",
      h("div.amount", h("dt", t("receipt.amount")), h("dd", money(centavos, "money large"))),
      h("div", h("dt", t("receipt.status")), status),
      pair(t("review.to"), h("strong", payee?.name === name ? payeeName(payee) : name)),
      payee && pair(t("review.bank"), payee.bankName),
      payee && pair(t("review.number"), number(payee.accountNumber)),
      account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
      speiReference && h("div.whole", h("dt", t("receipt.reference")), h("dd", drawReference(speiReference))),
      pair(t("receipt.time"), moment(createdAt, { withSeconds: true }), " ", t("time.zone")),
      h("div", h("dt", t("receipt.balance")), balance),
    ),
  );
}
