// What a payee is called, and whether it comes first in lists. Its number stays: another number is another payee.

/** @import { Go, Payee, Screen } from "./types.js" */
import { h } from "../shared/dom.js";
import { Problem } from "../shared/problem.js";
import * as api from "./api.js";
import { choose, draftNow, isUnsettled } from "./draft.js";
import { number, numberTerm, pair, payeeName } from "./drawing.js";
import { textField, tickField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
import { known, loadPayees, payeeOf } from "./known.js";
import { drawLoaded } from "./loading.js";
import { drawPayeeNotice } from "./payee-warnings.js";
import { pathNow } from "./router.js";
import { LABEL_CHARS_MAX, nameField } from "./screen-payee.js";
import { t } from "./words.js";

const idNow = () => new URLSearchParams(pathNow().split("?")[1]).get("id") ?? "";

/** @param {Payee} payee @param {Go} go */
function drawEdit(payee, go) {
  const name = nameField();
  const alias = textField({
    name: "alias",
    label: t("payee.alias"),
    hint: t("payee.alias.hint"),
    attributes: { maxlength: LABEL_CHARS_MAX },
    isOptional: true,
  });
  const favorite = tickField({
    name: "isFavorite",
    label: t("payee-edit.favorite"),
    hint: t("payee-edit.favorite.hint"),
    value: payee.isFavorite ?? false,
  });
  name.write(payee.name);
  alias.write(payee.alias ?? "");
  const form = drawForm({
    name: `payee ${payee.id}`,
    fields: [name, alias, favorite],
    submit: t("payee-edit.submit"),
    busy: t("payee.busy"),
    send: async (values) => {
      // Only what differs, so that nothing that was changed elsewhere is undone.
      const before = { name: payee.name, alias: payee.alias ?? "", isFavorite: payee.isFavorite ?? false };
      const changes = Object.entries(values).filter(([field, value]) => value !== Reflect.get(before, field));
      const edited = await api.editPayee(payee.id, Object.fromEntries(changes));
      // A transfer that is being prepared names the payee as it is called now; one whose outcome is open stays as it was.
      if (draftNow().toBeneficiaryId === payee.id && !isUnsettled()) choose({ payee: edited });
      setFlash(t("payee-edit.done", { name: payeeName(edited) }));
      go("/beneficiaries", { replace: true });
    },
  });
  return [
    h(
      "div.sheet",
      h(
        "dl.facts",
        pair(numberTerm(payee.accountNumber), number(payee.accountNumber)),
        pair(t("review.bank"), payee.bankName),
      ),
      h("p.hint", t("payee-edit.fixed")),
    ),
    drawPayeeNotice(payee, known.payees),
    form.element,
    h("p", h("a", { href: "#/beneficiaries" }, t("payee.cancel"))),
  ];
}

/** @type {Screen} */
export const editPayeeScreen = {
  path: "/beneficiaries/edit",
  name: "beneficiary_edit",
  nav: "/beneficiaries",
  title: () => t("payee-edit.title"),
  guard: () => (idNow() ? null : "/beneficiaries"),
  draw(place, { signal, go }) {
    const id = idNow();
    return drawLoaded(place, {
      signal,
      load: async () => {
        const payee = (await loadPayees()).find((it) => it.id === id);
        if (!payee) throw new Problem({ status: 404, code: "not-found" });
        return payee;
      },
      fallback: () => payeeOf(id),
      draw: (payee) => drawEdit(payee, go),
    });
  },
};
