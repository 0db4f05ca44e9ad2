// Saving a payee. The bank is filled in from the CLABE; the person can change it.

/** @import { Screen, TextField } from "./types.js" */
import { h, show } from "../shared/dom.js";
import { announce } from "./announce.js";
import * as api from "./api.js";
import { bankNames } from "./banks.js";
import { isSameBank, readNumber } from "./clabe.js";
import { choosePayee } from "./draft.js";
import { payeeName } from "./drawing.js";
import { textField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
import { addPayee, known } from "./known.js";
import { numberField } from "./number-field.js";
import { checkPayee, maySave } from "./payee-check.js";
import { writeWait } from "./problems.js";
import { whenReleased } from "./released.js";
import { pathNow } from "./router.js";
import { t } from "./words.js";

/** The service's limits. */
const NAME_CHARS_MAX = 200;
export const LABEL_CHARS_MAX = 100;

/** The field for the bank, which follows the number until the person edits it. @param {() => TextField} number */
function bankField(number) {
  const below = h("p.derived.warn", { role: "status" });
  const compareNow = () => {
    const { bank, checks } = readNumber(number().read());
    const typed = field.control.value.trim();
    const differs = bank !== null && checks && typed !== "" && !isSameBank(bank, typed);
    show(below, differs && t("payee.bank.differs", { bank }));
  };
  const compare = () => whenReleased(compareNow);
  let isEdited = false;
  let isProposing = false;
  /** What was filled in here last. */
  let proposed = "";
  const field = textField({
    name: "bankName",
    label: t("payee.bank"),
    hint: t("payee.bank.hint"),
    below,
    // As a rule the number brings it, once it is right.
    check: (text) => (text === "" && number().check(number().read()) === "" ? t("payee.bank.empty") : ""),
    attributes: {
      maxlength: LABEL_CHARS_MAX,
      list: "banks",
      onInput: () => {
        isEdited = field.control.value !== "" && !isProposing;
      },
      onChange: compare,
    },
  });
  field.element.append(
    h(
      "datalist",
      { id: "banks" },
      bankNames().map((name) => h("option", { value: name })),
    ),
  );
  return {
    ...field,
    /** Fills in the bank that the number names, or empties what an earlier number has brought. @param {string} bank */
    propose(bank) {
      const isOurs = bank !== "" || field.control.value === proposed;
      if (!isEdited && isOurs && field.control.value !== bank) {
        field.control.value = bank;
        proposed = bank;
        // As if it had been typed, so that the form's draft includes it.
        isProposing = true;
        field.control.dispatchEvent(new Event("input", { bubbles: true }));
        isProposing = false;
        if (bank !== "") announce(t("payee.bank.filled", { bank }));
      }
      compare();
    },
  };
}

export const nameField = () =>
  textField({
    name: "name",
    label: t("payee.name"),
    hint: t("payee.name.hint"),
    attributes: { maxlength: NAME_CHARS_MAX },
    check: (text) => (text === "" ? t("payee.name.empty") : ""),
  });

/** @type {Screen} */
export const addPayeeScreen = {
  path: "/beneficiaries/new",
  name: "beneficiary_new",
  nav: "/beneficiaries",
  title: () => t("payee.title"),
  draw(place, { go }) {
    const isForTransfer = pathNow().endsWith("?for=transfer");
    // The first step of a transfer without payees leads here.
    const isFirst = known.payees?.length === 0;
    const back = isForTransfer && isFirst ? "#/accounts" : isForTransfer ? "#/transfer/parties" : "#/beneficiaries";
    const bank = bankField(() => number);
    const number = numberField({
      label: t("payee.number"),
      hint: t("payee.number.hint"),
      onBank: (name) => bank.propose(name),
    });
    const name = nameField();
    const fields = [
      name,
      textField({
        name: "alias",
        label: t("payee.alias"),
        hint: t("payee.alias.hint"),
        attributes: { maxlength: LABEL_CHARS_MAX },
        isOptional: true,
      }),
      number,
      bank,
    ];
    const form = drawForm({
      name: "payee",
      fields,
      submit: t("payee.submit"),
      busy: t("payee.busy"),
      confirm: () => maySave({ name: name.read(), accountNumber: number.read() }),
      send: async ({ alias, ...values }) => {
        const payee = await api.savePayee(alias === "" ? values : { ...values, alias });
        addPayee(payee);
        const only = known.accounts?.length === 1 ? known.accounts[0].id : null;
        if (isForTransfer) choosePayee(payee, only ? { fromAccountId: only } : {});
        const { result } = await checkPayee(payee);
        const done = t(result === "match" ? "payee.done.match" : "payee.done", { name: payeeName(payee) });
        const cooling = known.terms?.coolingSeconds ?? 0;
        setFlash(cooling > 0 ? `${done} ${t("payee.cooling", { wait: writeWait(cooling) })}` : done);
        // With one account there is nothing left to choose.
        const next = only ? "/transfer/amount" : "/transfer/parties";
        go(isForTransfer ? next : "/beneficiaries", { replace: true });
      },
    });
    show(place, form.element, h("p", h("a", { href: back }, t("payee.cancel"))));
  },
};
