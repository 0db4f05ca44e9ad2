// Transfer, step 1: from which account, and to whom.

/** @import { Account, ChoiceField, Go, Payee, Screen } from "./types.js" */
import { h } from "../shared/dom.js";
import { choosePayee, draftNow, isUnsettled, resume, takeFault } from "./draft.js";
import { favoriteMark, listedNumber, money, number, payeeName, typeName } from "./drawing.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { known, loadAccounts, loadPayees } from "./known.js";
import { drawLoaded } from "./loading.js";
import { filterOf } from "./payee-filter.js";
import { drawPayeeWarnings } from "./payee-warnings.js";
import { userNow } from "./session.js";
import { t } from "./words.js";

const ADD = "/beneficiaries/new?for=transfer";

/** An unsettled transfer comes first: its outcome is unknown until it is tried again. */
export function unsettledGuard() {
  return isUnsettled() && resume(userNow()) ? "/transfer/review" : null;
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
    const open = h("a.button.main", { href: "#/accounts/new" }, t("accounts.open"));
    const [title, about] = [h("h2", t("accounts.empty.title")), h("p", t("parties.no-account"))];
    return { element: h("div.sheet.empty", title, about, h("p.acts", open)) };
  }
  const fields = drawFields(accounts, payees);
  const form = drawForm({
    name: "parties",
    fields,
    submit: t("continue"),
    isDrafted: false,
    extra: h("p", h("a", { href: `#${ADD}` }, t("parties.add"))),
    send: async (values) => {
      choosePayee(payees.find((it) => it.id === values.toBeneficiaryId) ?? null, values);
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
    /** @type {ReturnType<typeof drawParties> | undefined} */
    let drawn;
    await drawLoaded(place, {
      signal,
      load: async () => {
        const [accounts, payees] = await Promise.all([loadAccounts(), loadPayees()]);
        // There is nothing to choose.
        if (accounts.length > 0 && payees.length === 0 && !signal.aborted) go(ADD, { replace: true });
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
