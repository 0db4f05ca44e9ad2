// Transfer, step 4: what became of it, and the number to follow it by.

import { button, h, show } from "./dom.js";
import { receiptNow, start } from "./draft.js";
import { moment, money, notice, number, pair, payeeName, status, typeName } from "./drawing.js";
import { accountOf, askAccounts } from "./known.js";
import { t } from "./words.js";

const MOODS = { completed: "good", pending: "info", failed: "bad" };
const known = (status_) => (status_ in MOODS ? status_ : "pending");

function drawReference(reference) {
  const said = status();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(reference);
      show(said, t("receipt.copied"));
    } catch {
      // Not every browser lets a page do that; the number is selected, so that the person can.
      getSelection().selectAllChildren(code);
      show(said, t("receipt.copy.by-hand"));
    }
  };
  const code = h("code", { class: "reference" }, reference);
  return [code, " ", button(t("receipt.copy"), copy, { class: "small" }), said];
}

export const receiptScreen = {
  path: "/transfer/receipt",
  name: "transfer_receipt",
  nav: "/transfer/parties",
  step: 4,
  title: () => t(`receipt.${known(receiptNow()?.transfer.status)}.title`),
  guard: () => (receiptNow() ? null : "/transfer/parties"),
  async draw(place, { signal, go }) {
    const { transfer, account, payee } = receiptNow();
    const balance = h("dd", { "aria-busy": "true" }, t("loading"));
    const again = (event) => {
      event.preventDefault();
      start();
      go("/transfer/parties");
    };
    show(
      place,
      notice(
        MOODS[known(transfer.status)],
        h("p", null, t(`receipt.${known(transfer.status)}`, { name: transfer.beneficiaryName ?? payee.name })),
      ),
      h(
        "div",
        { class: "sheet receipt" },
        h(
          "dl",
          { class: "facts review" },
          h(
            "div",
            { class: "amount" },
            h("dt", null, t("receipt.amount")),
            h("dd", null, money(transfer.centavos, "money large")),
          ),
          pair(t("receipt.status"), t(`status.${known(transfer.status)}`)),
          pair(t("review.to"), h("strong", null, payeeName(payee))),
          pair(t("review.bank"), payee.bankName),
          pair(t("review.number"), number(payee.accountNumber)),
          account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
          transfer.speiReference && pair(t("receipt.reference"), drawReference(transfer.speiReference)),
          pair(t("receipt.time"), moment(transfer.createdAt, { withSeconds: true }), " ", t("time.zone")),
          h("div", null, h("dt", null, t("receipt.balance")), balance),
        ),
      ),
      transfer.speiReference && h("p", { class: "hint" }, t("receipt.reference.about")),
      h(
        "p",
        { class: "acts" },
        h("a", { class: "button main", href: "#/transfer/parties", onClick: again }, t("receipt.again")),
        h("a", { class: "button", href: "#/history" }, t("receipt.history")),
      ),
    );
    try {
      await askAccounts();
      if (signal.aborted) return;
      show(balance, money(accountOf(transfer.fromAccountId)?.centavos ?? 0));
    } catch {
      // The transfer was made; only the balance has to be looked up later.
      show(balance, t("receipt.balance.unknown"));
    } finally {
      balance.removeAttribute("aria-busy");
    }
  },
};
