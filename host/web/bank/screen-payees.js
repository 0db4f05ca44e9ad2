// The payees; deleting one asks for confirmation.

/** @import { Go, Payee, Screen } from "./types.js" */
import { button, h, heard, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import * as api from "./api.js";
import { confirmed } from "./dialog.js";
import { startWith } from "./draft.js";
import { favoriteMark, listedNumber, number, payeeName, problemNotice } from "./drawing.js";
import { setFlash } from "./flash.js";
import { known, loadPayees } from "./known.js";
import { drawLoaded } from "./loading.js";
import { filterOf } from "./payee-filter.js";
import { drawPayeeWarnings } from "./payee-warnings.js";
import { counted, t } from "./words.js";

/** @param {Payee} payee @param {HTMLElement} faults @param {Go} go */
async function remove(payee, faults, go) {
  const isSure = await confirmed({
    title: t("payees.delete.title", { name: payeeName(payee) }),
    about: [h("p", payee.bankName, ", ", number(payee.accountNumber)), h("p", t("payees.delete.about"))],
    yes: t("payees.delete.yes", { name: payee.name }),
    no: t("payees.delete.no", { name: payee.name }),
    isDangerous: true,
  });
  if (!isSure) return;
  try {
    await api.deletePayee(payee.id);
  } catch (error) {
    const problem = asProblem(error);
    if (problem.status === 401) return;
    // A payee that no longer exists counts as deleted.
    if (problem.status !== 404) {
      show(
        faults,
        problemNotice(problem, () => remove(payee, faults, go)),
      );
      return;
    }
  }
  setFlash(t("payees.deleted", { name: payeeName(payee) }));
  go("/beneficiaries");
}

/** @param {Payee} payee @param {HTMLElement} faults @param {Go} go */
function drawPayee(payee, faults, go) {
  const title = `payee-${payee.id}`;
  const transfer = (/** @type {Event} */ event) => {
    event.preventDefault();
    startWith({ toBeneficiaryId: payee.id, payee });
    go("/transfer/parties");
  };
  return h(
    "li.row",
    h(
      "div.what",
      h("h2", { id: title }, payee.name, favoriteMark(payee), payee.alias && h("span.alias", ` ${payee.alias}`)),
      h("p", payee.bankName),
      h("p.hint", listedNumber(payee.accountNumber)),
      drawPayeeWarnings(payee, known.payees),
    ),
    h(
      "p.acts",
      h(
        "a.button",
        { href: "#/transfer/parties", onClick: transfer },
        t("payees.transfer"),
        heard(` ${t("payees.transfer.to", { name: payeeName(payee) })}`),
      ),
      h(
        "a.button",
        { href: `#/beneficiaries/edit?id=${payee.id}` },
        t("payees.edit"),
        heard(` ${t("payees.edit.of", { name: payeeName(payee) })}`),
      ),
      button(
        [t("payees.delete"), heard(` ${t("payees.edit.of", { name: payeeName(payee) })}`)],
        () => remove(payee, faults, go),
        {
          class: "quiet",
        },
      ),
    ),
  );
}

/** @param {Payee[]} payees @param {Go} go */
function drawPayees(payees, go) {
  const add = h(
    "p.acts",
    h("a", { class: payees.length === 0 ? "button main" : "button", href: "#/beneficiaries/new" }, t("payees.add")),
  );
  if (payees.length === 0) {
    return h("div.sheet.empty", h("h2", t("payees.empty.title")), h("p", t("payees.empty")), add);
  }
  const faults = h("div.faults");
  const rows = payees.map((it) => drawPayee(it, faults, go));
  return [add, faults, filterOf(payees, () => rows), h("ul.plain.rows", rows)];
}

/** @type {Screen} */
export const payeesScreen = {
  path: "/beneficiaries",
  name: "beneficiary_list",
  title: () => t("payees.title"),
  draw(place, { signal, go }) {
    return drawLoaded(place, {
      signal,
      load: loadPayees,
      fallback: () => known.payees,
      seenAt: () => known.payeesAt,
      draw: (payees) => drawPayees(payees, go),
      summary: (payees) => counted("payees.count", payees.length),
    });
  },
};
