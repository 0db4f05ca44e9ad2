// Transfer, step 4: its outcome, and the key to track it by.

/** @import { Screen } from "./types.js" */
import { button, h, show } from "../shared/dom.js";
import { receiptNow, start } from "./draft.js";
import { moment, money, notice, number, pair, payeeName, typeName } from "./drawing.js";
import { accountOf, loadAccounts } from "./known.js";
import { t } from "./words.js";

/** @type {Record<string, "good" | "info" | "bad">} */
const MOODS = { completed: "good", pending: "info", failed: "bad" };

/** @param {string} [status] */
const knownStatus = (status = "pending") => (status in MOODS ? status : "pending");

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

/** @type {Screen} */
export const receiptScreen = {
  path: "/transfer/receipt",
  name: "transfer_receipt",
  nav: "/transfer/parties",
  step: 4,
  title: () => t(`receipt.${knownStatus(receiptNow()?.transfer.status)}.title`),
  guard: () => (receiptNow() ? null : "/transfer/parties"),
  async draw(place, { signal, go }) {
    const receipt = receiptNow();
    if (!receipt) return;
    const { transfer, account, payee } = receipt;
    const balance = h("dd", { "aria-busy": "true" }, t("loading"));
    const again = (/** @type {Event} */ event) => {
      event.preventDefault();
      start();
      go("/transfer/parties");
    };
    show(
      place,
      notice(
        MOODS[knownStatus(transfer.status)],
        h("p", t(`receipt.${knownStatus(transfer.status)}`, { name: transfer.beneficiaryName ?? payee.name })),
      ),
      h(
        "div.sheet.receipt",
        h(
          "dl.facts.review",
          h("div.amount", h("dt", t("receipt.amount")), h("dd", money(transfer.centavos, "money large"))),
          pair(t("receipt.status"), t(`status.${knownStatus(transfer.status)}`)),
          pair(t("review.to"), h("strong", payeeName(payee))),
          pair(t("review.bank"), payee.bankName),
          pair(t("review.number"), number(payee.accountNumber)),
          account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
          transfer.speiReference &&
            h("div.whole", h("dt", t("receipt.reference")), h("dd", drawReference(transfer.speiReference))),
          pair(t("receipt.time"), moment(transfer.createdAt, { withSeconds: true }), " ", t("time.zone")),
          h("div", h("dt", t("receipt.balance")), balance),
        ),
      ),
      transfer.speiReference && h("p.hint", t("receipt.reference.about")),
      h(
        "p.acts",
        h("a.button.main", { href: "#/transfer/parties", onClick: again }, t("receipt.again")),
        h("a.button", { href: "#/history" }, t("receipt.history")),
      ),
    );
    try {
      await loadAccounts();
      if (signal.aborted) return;
      show(balance, money(accountOf(transfer.fromAccountId)?.centavos ?? 0));
    } catch {
      // The transfer is made; only the balance is missing.
      show(balance, t("receipt.balance.unknown"));
    } finally {
      balance.removeAttribute("aria-busy");
    }
  },
};
