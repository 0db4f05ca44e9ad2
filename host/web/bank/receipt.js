// A transfer's receipt: its outcome in words, and its facts.

/** @import { Account, Payee, Transfer, TransferState } from "./types.js" */
import { h } from "../shared/dom.js";
import { moment, money, notice, number, pair, payeeName, typeName } from "./drawing.js";
import { reasonOf } from "./journal.js";
import { remittancePairs } from "./remittance.js";
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

/**
 * The facts. `payee` is null if it was deleted, `status` and `balance` are filled in as they change.
 * @param {Transfer} transfer
 * @param {{ payee: Payee | null, account: Account | null, status: HTMLElement, balance: HTMLElement }} about
 */
export function drawReceipt(transfer, { payee, account, status, balance }) {
  const { centavos, createdAt, beneficiaryName } = transfer;
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
      remittancePairs(transfer),
      pair(t("receipt.time"), moment(createdAt, { withSeconds: true }), " ", t("time.zone")),
      h("div", h("dt", t("receipt.balance")), balance),
    ),
  );
}
