// Transfer, step 1: from which account, and to whom.

import { announce } from "./announce.js";
import { h } from "./dom.js";
import { choose, draftNow, isUnsettled, resume, takeBlame } from "./draft.js";
import { listedNumber, money, number, payeeName, typeName } from "./drawing.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { askAccounts, askHistory, askPayees, known } from "./known.js";
import { load } from "./loading.js";
import { userNow } from "./session.js";
import { counted, t } from "./words.js";

/** From this many payees on a filter is quicker than looking. */
const FILTER_FROM = 7;

/** What was sent and never answered comes first: its outcome is open until it is tried again. */
export function unsettledGuard() {
  return isUnsettled() && resume(userNow()) ? "/transfer/review" : null;
}

function empty(title, about, link, action) {
  return h(
    "div",
    { class: "sheet empty" },
    h("h2", null, title),
    h("p", null, about),
    h("p", { class: "acts" }, h("a", { class: "button main", href: link }, action)),
  );
}

const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** A field that leaves only the payees whose name, alias or bank has what is typed. */
function filterOf(payees, rows) {
  const input = h("input", { type: "search", id: "payee-filter", autocomplete: "off" });
  input.addEventListener("input", () => {
    const wanted = plain(input.value.trim());
    let count = 0;
    rows().forEach((row, place) => {
      const { name, alias, bankName } = payees[place];
      row.hidden = !plain(`${name} ${alias ?? ""} ${bankName}`).includes(wanted);
      if (!row.hidden) count += 1;
    });
    announce(counted("parties.filtered", count));
  });
  return h("div", { class: "filter" }, h("label", { for: "payee-filter" }, t("parties.filter")), input);
}

function drawFields(accounts, payees) {
  const draft = draftNow();
  const only = accounts.length === 1 ? accounts[0].id : null;
  const from = choiceField({
    name: "fromAccountId",
    legend: t("parties.from"),
    isCards: true,
    value: draft.fromAccountId ?? only,
    options: accounts.map((it) => ({
      value: it.id,
      label: h("strong", null, typeName(it.accountType)),
      about: [number(it.accountNumber), h("br"), t("parties.available"), " ", money(it.centavos)],
    })),
    check: (id) => (id === null ? t("parties.from.empty") : ""),
  });
  const to = choiceField({
    name: "toBeneficiaryId",
    legend: t("parties.to"),
    isCards: true,
    value: payees.some((it) => it.id === draft.toBeneficiaryId) ? draft.toBeneficiaryId : null,
    options: payees.map((it) => ({
      value: it.id,
      label: h("strong", null, payeeName(it)),
      about: [it.bankName, h("br"), listedNumber(it.accountNumber)],
    })),
    before: payees.length >= FILTER_FROM && filterOf(payees, () => to.rows),
    check: (id) => (id === null ? t("parties.to.empty") : ""),
  });
  return [from, to];
}

function drawParties({ accounts, payees }, go) {
  if (accounts.length === 0)
    return empty(t("accounts.empty.title"), t("parties.no-account"), "#/accounts/new", t("accounts.open"));
  const add = "#/beneficiaries/new?for=transfer";
  if (payees.length === 0) return empty(t("payees.empty.title"), t("parties.no-payee"), add, t("payees.add"));
  const fields = drawFields(accounts, payees);
  const form = drawForm({
    name: "parties",
    fields,
    submit: t("continue"),
    drafted: false,
    extra: h("p", null, h("a", { href: add }, t("parties.add"))),
    send: async (values) => {
      choose({ ...values, payee: payees.find((it) => it.id === values.toBeneficiaryId) });
      go("/transfer/amount");
    },
  });
  return { form, fields };
}

export const partiesScreen = {
  path: "/transfer/parties",
  name: "transfer_beneficiary",
  nav: "/transfer/parties",
  step: 1,
  title: () => t("parties.title"),
  guard: unsettledGuard,
  draw(place, { signal, go }) {
    // For the risk of what is to come, should the line break in between.
    askHistory();
    let drawn;
    return load(place, {
      signal,
      asking: async () => {
        const [accounts, payees] = await Promise.all([askAccounts(), askPayees()]);
        return { accounts, payees };
      },
      remembered: () => (known.accounts && known.payees ? known : null),
      drawing: (answer) => {
        drawn = drawParties(answer, go);
        return drawn.form?.element ?? drawn;
      },
    }).then(() => {
      const blamed = drawn?.form && takeBlame(["fromAccountId", "toBeneficiaryId"]);
      if (blamed)
        drawn.form.showFaults([{ field: drawn.fields.find((it) => it.name === blamed.name), text: blamed.text }]);
    });
  },
};
