// The payees: who they are, and deleting one after a question that names them.

import * as api from "./api.js";
import { ask } from "./dialog.js";
import { button, h, show } from "./dom.js";
import { startWith } from "./draft.js";
import { listedNumber, number, payeeName, problemNotice } from "./drawing.js";
import { askPayees, known } from "./known.js";
import { load } from "./loading.js";
import { leaveWord } from "./word.js";
import { counted, hasText, t } from "./words.js";

function warningsOf(payee) {
  return (payee.warnings ?? [])
    .filter((code) => hasText(`warning.${code}`))
    .map((code) => h("p", { class: "derived warn" }, t(`warning.${code}`, { bank: payee.derivedBank })));
}

async function remove(payee, faults, go) {
  const isSure = await ask({
    title: t("payees.delete.title", { name: payeeName(payee) }),
    about: [h("p", null, payee.bankName, ", ", number(payee.accountNumber)), h("p", null, t("payees.delete.about"))],
    yes: t("payees.delete.yes", { name: payee.name }),
    no: t("payees.delete.no", { name: payee.name }),
    isGrave: true,
  });
  if (!isSure) return;
  try {
    await api.deletePayee(payee.id);
  } catch (problem) {
    if (problem.status === 401) return;
    // Gone already is gone too.
    if (problem.status !== 404) {
      show(
        faults,
        problemNotice(problem, () => remove(payee, faults, go)),
      );
      return;
    }
  }
  leaveWord(t("payees.deleted", { name: payeeName(payee) }));
  go("/beneficiaries");
}

function drawPayee(payee, faults, go) {
  const title = `payee-${payee.id}`;
  const transfer = (event) => {
    event.preventDefault();
    startWith({ toBeneficiaryId: payee.id, payee });
    go("/transfer/parties");
  };
  return h(
    "li",
    { class: "row" },
    h(
      "div",
      { class: "what" },
      h("h2", { id: title }, payee.name, payee.alias && h("span", { class: "alias" }, ` ${payee.alias}`)),
      h("p", null, payee.bankName),
      h("p", { class: "hint" }, listedNumber(payee.accountNumber)),
      warningsOf(payee),
    ),
    h(
      "p",
      { class: "acts" },
      h(
        "a",
        { class: "button", href: "#/transfer/parties", onClick: transfer },
        t("payees.transfer"),
        h("span", { class: "heard" }, ` ${t("payees.transfer.to", { name: payeeName(payee) })}`),
      ),
      button(
        [t("payees.delete"), h("span", { class: "heard" }, ` ${payeeName(payee)}`)],
        () => remove(payee, faults, go),
        { class: "quiet" },
      ),
    ),
  );
}

function drawPayees(payees, go) {
  const add = h(
    "p",
    { class: "acts" },
    h("a", { class: payees.length === 0 ? "button main" : "button", href: "#/beneficiaries/new" }, t("payees.add")),
  );
  if (payees.length === 0) {
    return h(
      "div",
      { class: "sheet empty" },
      h("h2", null, t("payees.empty.title")),
      h("p", null, t("payees.empty")),
      add,
    );
  }
  const faults = h("div", { class: "faults" });
  return [
    add,
    faults,
    h(
      "ul",
      { class: "plain rows" },
      payees.map((it) => drawPayee(it, faults, go)),
    ),
  ];
}

export const payeesScreen = {
  path: "/beneficiaries",
  name: "beneficiary_list",
  title: () => t("payees.title"),
  draw(place, { signal, go }) {
    return load(place, {
      signal,
      asking: askPayees,
      remembered: () => known.payees,
      drawing: (payees) => drawPayees(payees, go),
      said: (payees) => counted("payees.count", payees.length),
    });
  },
};
