// The accounts with their balances, and where to begin.

import { h } from "./dom.js";
import { isUnsettled, startWith } from "./draft.js";
import { money, notice, number, streams, typeName } from "./drawing.js";
import { askAccounts, known } from "./known.js";
import { load } from "./loading.js";
import { counted, t } from "./words.js";

function drawAccount(account, go) {
  const title = `account-${account.id}`;
  const transfer = (event) => {
    event.preventDefault();
    startWith({ fromAccountId: account.id });
    go("/transfer/parties");
  };
  return h(
    "li",
    { class: "account" },
    h(
      "div",
      { class: "what" },
      h("h2", { id: title }, typeName(account.accountType)),
      h("p", { class: "hint" }, number(account.accountNumber)),
    ),
    h("p", { class: "balance" }, h("span", { class: "heard" }, `${t("accounts.balance")}: `), money(account.centavos)),
    h(
      "p",
      { class: "acts" },
      h(
        "a",
        { class: "button", href: "#/transfer/parties", "aria-describedby": title, onClick: transfer },
        t("accounts.transfer"),
      ),
    ),
  );
}

function drawEmpty() {
  return h(
    "div",
    { class: "sheet empty" },
    h("h2", null, t("accounts.empty.title")),
    h("p", null, t("accounts.empty")),
    h("p", { class: "acts" }, h("a", { class: "button main", href: "#/accounts/new" }, t("accounts.open"))),
    streams(),
  );
}

function drawAccounts(accounts, go) {
  if (accounts.length === 0) return drawEmpty();
  const total = accounts.reduce((sum, it) => sum + it.centavos, 0);
  return [
    isUnsettled() &&
      notice(
        "warn",
        h("p", { class: "title" }, t("unsettled.title")),
        h("p", null, h("a", { href: "#/transfer/review" }, t("unsettled.link"))),
      ),
    h(
      "section",
      { class: "total", "aria-labelledby": "total-title" },
      h("h2", { id: "total-title" }, t("accounts.total")),
      h("p", null, money(total, "money large")),
      h("p", { class: "hint" }, counted("accounts.count", accounts.length)),
      streams(),
    ),
    h(
      "ul",
      { class: "plain accounts" },
      accounts.map((it) => drawAccount(it, go)),
    ),
    h("p", { class: "acts" }, h("a", { href: "#/accounts/new" }, t("accounts.open-another"))),
  ];
}

export const accountsScreen = {
  path: "/accounts",
  name: "accounts",
  title: () => t("accounts.title"),
  draw(place, { signal, go }) {
    return load(place, {
      signal,
      asking: askAccounts,
      remembered: () => known.accounts,
      drawing: (accounts) => drawAccounts(accounts, go),
      said: (accounts) => counted("accounts.count", accounts.length),
    });
  },
};
