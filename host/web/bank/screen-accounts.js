// The accounts with their balances.

/** @import { Account, Go, Screen } from "./types.js" */
import { h, heard } from "../shared/dom.js";
import { isUnsettled, startWith } from "./draft.js";
import { money, notice, number, streams, typeName } from "./drawing.js";
import { known, loadAccounts } from "./known.js";
import { drawLoaded } from "./loading.js";
import { counted, t } from "./words.js";

/** @param {Account} account @param {Go} go */
function drawAccount(account, go) {
  const title = `account-${account.id}`;
  const transfer = (/** @type {Event} */ event) => {
    event.preventDefault();
    startWith({ fromAccountId: account.id });
    go("/transfer/parties");
  };
  return h(
    "li.account",
    h("div.what", h("h2", { id: title }, typeName(account.accountType)), h("p.hint", number(account.accountNumber))),
    h("p.balance", heard(`${t("accounts.balance")}: `), money(account.centavos)),
    account.available < account.centavos && h("p.hint", t("accounts.available"), " ", money(account.available)),
    account.frozen && h("p.hint", t("accounts.frozen")),
    h(
      "p.acts",
      h(
        "a.button",
        { href: "#/transfer/parties", "aria-describedby": title, onClick: transfer },
        t("accounts.transfer"),
      ),
    ),
  );
}

function drawEmpty() {
  return h(
    "div.sheet.empty",
    h("h2", t("accounts.empty.title")),
    h("p", t("accounts.empty")),
    h("p.acts", h("a.button.main", { href: "#/accounts/new" }, t("accounts.open"))),
    streams(),
  );
}

/** @param {Account[]} accounts @param {Go} go */
function drawAccounts(accounts, go) {
  if (accounts.length === 0) return drawEmpty();
  const total = accounts.reduce((sum, it) => sum + it.centavos, 0);
  return [
    isUnsettled() &&
      notice(
        "warn",
        h("p.title", t("unsettled.title")),
        h("p", h("a", { href: "#/transfer/review" }, t("unsettled.link"))),
      ),
    h(
      "section.total",
      { "aria-labelledby": "total-title" },
      h("h2", { id: "total-title" }, t("accounts.total")),
      h("p", money(total, "money large")),
      h("p.hint", counted("accounts.count", accounts.length)),
      streams(),
    ),
    h(
      "ul.plain.accounts",
      accounts.map((it) => drawAccount(it, go)),
    ),
    h("p.acts", h("a", { href: "#/accounts/new" }, t("accounts.open-another"))),
  ];
}

/** @type {Screen} */
export const accountsScreen = {
  path: "/accounts",
  name: "accounts",
  title: () => t("accounts.title"),
  draw(place, { signal, go }) {
    return drawLoaded(place, {
      signal,
      load: loadAccounts,
      fallback: () => known.accounts,
      draw: (accounts) => drawAccounts(accounts, go),
      summary: (accounts) => counted("accounts.count", accounts.length),
    });
  },
};
