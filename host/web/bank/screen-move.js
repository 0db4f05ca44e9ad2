// Money between one's own accounts: no payee, no warning, one screen.

/** @import { Account, Screen } from "./types.js" */
import { h } from "../shared/dom.js";
import { randomText } from "../shared/random.js";
import * as api from "./api.js";
import { lastFour } from "./clabe.js";
import { notice, typeName } from "./drawing.js";
import { listField, textField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
import { accountOf, addTransfer, loadAccounts } from "./known.js";
import { drawLoaded } from "./loading.js";
import { readAmount, writeMoney } from "./money.js";
import { t } from "./words.js";

/** @param {Account} account */
const nameOf = (account) => `${typeName(account.accountType)} ${lastFour(account.accountNumber)}`;

/** @param {Account[]} accounts */
export const canMove = (accounts) => accounts.length > 1 && accounts.some((it) => !it.frozen);

/** @param {Account[]} accounts @param {import("./types.js").Go} go */
function drawMove(accounts, go) {
  if (!canMove(accounts))
    return [notice("info", h("p", t("move.none"))), h("p", h("a", { href: "#/accounts" }, t("accounts.title")))];
  const open = accounts.filter((it) => !it.frozen);
  const options = (/** @type {Account[]} */ some) =>
    some.map((it) => ({ value: it.id, label: `${nameOf(it)}: ${writeMoney(it.available)}` }));
  const from = listField({ name: "fromAccountId", label: t("move.from"), value: open[0].id, options: options(open) });
  const other = accounts.find((it) => it.id !== open[0].id)?.id ?? "";
  const to = listField({ name: "toBeneficiaryId", label: t("move.to"), value: other, options: options(accounts) });
  /** @param {typeof from} one @param {typeof from} other @param {Account[]} choices */
  const keepApart = (one, other, choices) =>
    one.control.addEventListener("change", () => {
      if (one.read() === other.read()) other.write(choices.find(({ id }) => id !== one.read())?.id ?? "");
    });
  keepApart(from, to, accounts);
  keepApart(to, from, open);
  const amount = textField({
    name: "amount",
    label: t("amount.label"),
    hint: t("amount.hint"),
    prefix: "$",
    suffix: "MXN",
    check: (text) => {
      const { fault, centavos } = readAmount(text);
      if (fault) return t(`amount.${fault}`);
      if (from.read() === to.read()) return t("move.same");
      const available = accountOf(from.read())?.available ?? 0;
      return (centavos ?? 0) > available ? t("amount.too-much", { available: writeMoney(available) }) : "";
    },
    attributes: { inputmode: "decimal", class: "amount digits" },
  });
  // The same attempt after a lost answer moves nothing twice.
  let attempt = { text: "", key: "" };
  const form = drawForm({
    name: "move",
    fields: [from, to, amount],
    submit: t("move.submit"),
    send: async ({ amount, ...parties }) => {
      const centavos = readAmount(amount).centavos ?? 0;
      const text = JSON.stringify([parties, centavos]);
      if (attempt.text !== text) attempt = { text, key: randomText() };
      addTransfer(await api.send({ ...parties, centavos, concept: null, numericReference: null }, attempt.key));
      const target = accountOf(parties.toBeneficiaryId);
      setFlash(t("move.done", { amount: writeMoney(centavos), account: target ? nameOf(target).toLowerCase() : "" }));
      go("/accounts", { replace: true });
    },
  });
  return [h("p.lead", t("move.lead")), form.element, h("p", h("a", { href: "#/accounts" }, t("accounts.title")))];
}

/** @type {Screen} */
export const moveScreen = {
  path: "/accounts/move",
  name: "account_move",
  nav: "/accounts",
  title: () => t("move.title"),
  draw: (place, { signal, go }) =>
    drawLoaded(place, { signal, lines: 3, load: loadAccounts, draw: (accounts) => drawMove(accounts, go) }),
};
