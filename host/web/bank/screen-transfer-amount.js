// Transfer, step 2: how much.

import { h, show } from "./dom.js";
import { choose, draftNow, takeBlame } from "./draft.js";
import { money, payeeName } from "./drawing.js";
import { textField } from "./fields.js";
import { drawForm } from "./form.js";
import { accountOf, askAccounts, known } from "./known.js";
import { load } from "./loading.js";
import { readAmount, toJson, writeMoney } from "./money.js";
import { unsettledGuard } from "./screen-transfer-parties.js";
import { t } from "./words.js";

function faultOf(text) {
  const { fault } = readAmount(text);
  return fault ? t(`amount.${fault}`) : "";
}

function drawAmount({ account }, go) {
  const draft = draftNow();
  const field = textField({
    name: "amount",
    label: t("amount.label"),
    hint: t("amount.hint"),
    inputmode: "decimal",
    prefix: "$",
    suffix: "MXN",
    class: "amount digits",
    check: faultOf,
  });
  if (draft.centavos !== null) field.write(toJson(draft.centavos));
  const available = h("dd", null, money(account.centavos));
  // It may be older than this screen; nobody waits for the newer one.
  fresh(account)
    .then((centavos) => show(available, money(centavos)))
    .catch(() => {});
  const form = drawForm({
    // By payee: what was typed for one is no proposal for another.
    name: `amount ${draft.toBeneficiaryId}`,
    fields: [field],
    submit: t("continue"),
    send: async ({ amount }) => {
      const { centavos } = readAmount(amount);
      // What was known may be old: money may have come in meanwhile.
      const most = centavos > account.centavos ? await fresh(account) : account.centavos;
      if (centavos > most) {
        form.showFaults([{ field, text: t("amount.too-much", { available: writeMoney(most) }) }]);
        return;
      }
      choose({ centavos });
      go("/transfer/review");
    },
  });
  return {
    form,
    field,
    parts: [
      h(
        "dl",
        { class: "facts" },
        h(
          "div",
          null,
          h("dt", null, t("amount.to")),
          h("dd", null, h("strong", null, payeeName(draft.payee)), h("br"), draft.payee.bankName),
        ),
        h("div", null, h("dt", null, t("amount.available")), available),
      ),
      form.element,
      h("p", null, h("a", { href: "#/transfer/parties" }, t("back"))),
    ],
  };
}

async function fresh(account) {
  await askAccounts();
  return accountOf(account.id)?.centavos ?? account.centavos;
}

export const amountScreen = {
  path: "/transfer/amount",
  name: "transfer_amount",
  nav: "/transfer/parties",
  step: 2,
  title: () => t("amount.title"),
  guard() {
    const { fromAccountId, toBeneficiaryId } = draftNow();
    return unsettledGuard() ?? (fromAccountId && toBeneficiaryId ? null : "/transfer/parties");
  },
  draw(place, { signal, go }) {
    let drawn;
    return load(place, {
      signal,
      lines: 2,
      asking: async () => {
        // The step before has just asked; only after a reload nothing is known.
        if (!known.accounts) await askAccounts();
        return { account: accountOf(draftNow().fromAccountId) };
      },
      drawing: (answer) => {
        drawn = answer.account && drawAmount(answer, go);
        return drawn ? drawn.parts : go("/transfer/parties", { instead: true });
      },
    }).then(() => {
      const blamed = drawn && takeBlame(["amount"]);
      if (blamed) drawn.form.showFaults([{ field: drawn.field, text: blamed.text }]);
    });
  },
};
