// Transfer, step 1: from which account, and to whom.

/** @import { Account, ChoiceField, Go, Payee, Screen } from "./types.js" */
import { h } from "../shared/dom.js";
import { choose, draftNow, isUnsettled, resume, takeFault } from "./draft.js";
import { favoriteMark, listedNumber, money, number, payeeName, typeName } from "./drawing.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { known, loadAccounts, loadHistory, loadPayees } from "./known.js";
import { drawLoaded } from "./loading.js";
import { filterOf } from "./payee-filter.js";
import { drawPayeeWarnings } from "./payee-warnings.js";
import { userNow } from "./session.js";
import { t } from "./words.js";

/** An unsettled transfer comes first: its outcome is unknown until it is tried again. */
export function unsettledGuard() {
  return isUnsettled() && resume(userNow()) ? "/transfer/review" : null;
}

/** @param {string} title @param {string} about @param {string} link @param {string} action */
function drawEmpty(title, about, link, action) {
  return h("div.sheet.empty", h("h2", title), h("p", about), h("p.acts", h("a.button.main", { href: link }, action)));
}

/** @param {Account[]} accounts @param {Payee[]} payees @returns {ChoiceField[]} */
function drawFields(accounts, payees) {
  const draft = draftNow();
  const only = accounts.length === 1 ? accounts[0].id : null;
  const onlyPayee = payees.length === 1 ? payees[0].id : null;
  const from = choiceField({
    name: "fromAccountId",
    legend: t("parties.from"),
    isCards: true,
    value: draft.fromAccountId ?? only,
    options: accounts.map((it) => ({
      value: it.id,
      label: h("strong", typeName(it.accountType)),
      about: [number(it.accountNumber), h("br"), t("parties.available"), " ", money(it.available)],
    })),
    check: (id) => (id === null ? t("parties.from.empty") : ""),
  });
  /** @type {ChoiceField} */
  const to = choiceField({
    name: "toBeneficiaryId",
    legend: t("parties.to"),
    isCards: true,
    value: payees.some((it) => it.id === draft.toBeneficiaryId) ? draft.toBeneficiaryId : onlyPayee,
    options: payees.map((it) => ({
      value: it.id,
      label: [h("strong", payeeName(it)), favoriteMark(it)],
      about: [it.bankName, h("br"), listedNumber(it.accountNumber), drawPayeeWarnings(it, payees)],
    })),
    before: filterOf(payees, () => to.rows),
    check: (id) => (id === null ? t("parties.to.empty") : ""),
  });
  return [from, to];
}

/** @param {Account[]} accounts @param {Payee[]} payees @param {Go} go */
function drawParties(accounts, payees, go) {
  if (accounts.length === 0) {
    const element = drawEmpty(t("accounts.empty.title"), t("parties.no-account"), "#/accounts/new", t("accounts.open"));
    return { element };
  }
  const add = "#/beneficiaries/new?for=transfer";
  if (payees.length === 0) {
    return { element: drawEmpty(t("payees.empty.title"), t("parties.no-payee"), add, t("payees.add")) };
  }
  const fields = drawFields(accounts, payees);
  const form = drawForm({
    name: "parties",
    fields,
    submit: t("continue"),
    isDrafted: false,
    extra: h("p", h("a", { href: add }, t("parties.add"))),
    send: async (values) => {
      // What was being typed for another payee must not be suggested.
      const isSame = values.toBeneficiaryId === draftNow().toBeneficiaryId;
      const kept = isSame ? {} : { typed: null, typedRemittance: null, concept: null, numericReference: null };
      choose({ ...values, ...kept, payee: payees.find((it) => it.id === values.toBeneficiaryId) });
      go("/transfer/amount");
    },
  });
  return { element: form.element, form };
}

/** @type {Screen} */
export const partiesScreen = {
  path: "/transfer/parties",
  name: "transfer_beneficiary",
  nav: "/transfer/parties",
  step: 1,
  title: () => t("parties.title"),
  guard: unsettledGuard,
  async draw(place, { signal, go }) {
    // So that the risk can be scored even if the connection breaks.
    loadHistory();
    /** @type {ReturnType<typeof drawParties> | undefined} */
    let drawn;
    await drawLoaded(place, {
      signal,
      load: async () => {
        const [accounts, payees] = await Promise.all([loadAccounts(), loadPayees()]);
        return { accounts, payees };
      },
      fallback: () => {
        const { accounts, payees } = known;
        return accounts && payees && { accounts, payees };
      },
      seenAt: () => Math.min(known.accountsAt, known.payeesAt),
      draw: ({ accounts, payees }) => {
        drawn = drawParties(accounts, payees, go);
        return drawn.element;
      },
    });
    const fault = drawn?.form && takeFault(["fromAccountId", "toBeneficiaryId"]);
    const field = drawn?.form?.fields.find((it) => it.name === fault?.name);
    if (fault && field) drawn?.form?.showFaults([{ field, text: fault.text }]);
  },
};
