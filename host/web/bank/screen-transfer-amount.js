// Transfer, step 2: how much, and what to tell the payee.

/** @import { Account, ChoiceField, Form, Go, Payee, Screen, TextField } from "./types.js" */
import { h, show } from "../shared/dom.js";
import { choose, draftNow, missingStep, takeFault } from "./draft.js";
import { loadDraft } from "./draft-loading.js";
import { money, pair, payeeName } from "./drawing.js";
import { choiceField, textField } from "./fields.js";
import { drawForm } from "./form.js";
import { accountOf, known, loadAccounts, loadTerms } from "./known.js";
import { drawLoaded } from "./loading.js";
import { readAmount, toJson, writeMoney } from "./money.js";
import { drawPayeeNotice } from "./payee-warnings.js";
import { readConcept, readReference, remittanceFields } from "./remittance.js";
import { unsettledGuard } from "./screen-transfer-parties.js";
import { t } from "./words.js";

/** Today's limits do not count for a later payment. @param {string} text @param {boolean} isForLater */
function faultOf(text, isForLater) {
  const { fault, centavos = 0 } = readAmount(text);
  if (fault) return t(`amount.${fault}`);
  const { perTransfer, leftToday } = known.terms ?? {};
  if (perTransfer !== undefined && centavos > perTransfer)
    return t("amount.over-transfer", { limit: writeMoney(perTransfer) });
  return !isForLater && leftToday !== undefined && centavos > leftToday
    ? t("amount.over-day", { left: writeMoney(leftToday) })
    : "";
}

/** What the bank's limits leave, or that there are none; nothing while it is not known. */
function drawLimits() {
  const { perTransfer, perDay, leftToday } = known.terms ?? {};
  return [
    known.terms && perTransfer === undefined && perDay === undefined && t("amount.limit.none"),
    perTransfer !== undefined && t("amount.limit.transfer", { limit: writeMoney(perTransfer) }),
    perDay !== undefined &&
      leftToday !== undefined &&
      t("amount.limit.day", { left: writeMoney(leftToday), limit: writeMoney(perDay) }),
  ].map((it) => it && h("p.hint", it));
}

/** What may leave the account now. @param {Account} account */
async function balanceOf(account) {
  await loadAccounts();
  return accountOf(account.id)?.available ?? account.available;
}

/** @param {Account} account @param {Payee} payee @param {Go} go */
function drawAmount(account, payee, go) {
  const { centavos, typed, typedRemittance, concept, numericReference, toBeneficiaryId, isForLater, replaces } =
    draftNow();
  /** @type {ChoiceField} */
  const when = choiceField({
    name: "when",
    legend: t("amount.when"),
    options: ["now", "later"].map((value) => ({ value, label: t(`amount.when.${value}`) })),
    value: isForLater ? "later" : "now",
  });
  const limits = h("div", drawLimits());
  loadTerms().then(() => show(limits, drawLimits()));
  /** @type {TextField} */
  const field = textField({
    name: "amount",
    label: t("amount.label"),
    hint: t("amount.hint"),
    prefix: "$",
    suffix: "MXN",
    check: (text) => faultOf(text, when.read() === "later"),
    below: limits,
    attributes: {
      inputmode: "decimal",
      class: "amount digits",
      onInput: () => choose({ typed: field.control.value }),
    },
  });
  if (typed !== null) field.write(typed);
  else if (centavos !== null) field.write(toJson(centavos));
  const told = remittanceFields(
    typedRemittance ?? { concept: concept ?? "", numericReference: String(numericReference ?? "") },
    (texts) => choose({ typedRemittance: texts }),
  );
  const available = h("dd", money(account.available));
  // The known balance may be stale: refresh it without waiting.
  balanceOf(account)
    .then((balance) => show(available, money(balance)))
    .catch(() => {});
  /** @type {Form} */
  const form = drawForm({
    // By payee: an amount for one must not be suggested for another.
    name: `amount ${toBeneficiaryId}`,
    // What is being changed stays scheduled.
    fields: replaces ? [field, ...told] : [field, ...told, when],
    submit: t("continue"),
    send: async ({ amount, concept, numericReference }) => {
      const chosen = readAmount(amount).centavos ?? 0;
      const isForLater = when.read() === "later";
      // The known balance may be stale: money may have come in since.
      const balance = chosen > account.available && !isForLater ? await balanceOf(account) : account.available;
      if (chosen > balance && !isForLater) {
        form.showFaults([{ field, text: t("amount.too-much", { available: writeMoney(balance) }) }]);
        return;
      }
      choose({
        centavos: chosen,
        typed: null,
        concept: readConcept(concept),
        numericReference: readReference(numericReference),
        typedRemittance: null,
        isForLater,
      });
      go(isForLater ? "/transfer/schedule" : "/transfer/review");
    },
  });
  return {
    form,
    parts: [
      h(
        "dl.facts",
        pair(t("amount.to"), h("strong", payeeName(payee)), h("br"), payee.bankName),
        h("div", h("dt", t("amount.available")), available),
      ),
      drawPayeeNotice(payee, known.payees),
      form.element,
      h("p", h("a", { href: "#/transfer/parties" }, t("back"))),
    ],
  };
}

/** @type {Screen} */
export const amountScreen = {
  path: "/transfer/amount",
  name: "transfer_amount",
  nav: "/transfer/parties",
  step: 2,
  title: () => t(draftNow().replaces ? "amount.title.change" : "amount.title"),
  guard() {
    return unsettledGuard() ?? missingStep("/transfer/amount");
  },
  async draw(place, { signal, go }) {
    /** @type {ReturnType<typeof drawAmount> | undefined} */
    let drawn;
    await drawLoaded(place, {
      signal,
      lines: 2,
      load: loadDraft,
      draw: (isThere) => {
        const { payee, fromAccountId } = draftNow();
        const account = accountOf(fromAccountId);
        if (!isThere || !account || !payee) {
          go("/transfer/parties", { replace: true });
          return null;
        }
        drawn = drawAmount(account, payee, go);
        return drawn.parts;
      },
    });
    const fault = drawn && takeFault(["amount", "concept", "numericReference"]);
    const field = drawn?.form.fields.find((it) => it.name === fault?.name);
    if (fault && field) drawn?.form.showFaults([{ field, text: fault.text }]);
  },
};
