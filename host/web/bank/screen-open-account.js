// Opening an account.

/** @import { Screen } from "./types.js" */
import { h, show } from "../shared/dom.js";
import * as api from "./api.js";
import { inSandbox } from "./entrance.js";
import { choiceField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
import { numberField } from "./number-field.js";
import { t } from "./words.js";

const TYPES = ["checking", "savings", "payroll"];

/** @type {Screen} */
export const openAccountScreen = {
  path: "/accounts/new",
  name: "account_new",
  nav: "/accounts",
  title: () => t("open.title"),
  draw(place, { go }) {
    const fields = [
      // Elsewhere the bank assigns the number.
      ...(inSandbox() ? [numberField({ label: t("open.number"), hint: t("open.number.hint") })] : []),
      choiceField({
        name: "accountType",
        legend: t("open.type"),
        options: TYPES.map((type) => ({ value: type, label: t(`type.${type}`), about: t(`type.${type}.about`) })),
        check: (type) => (type === null ? t("open.type.empty") : ""),
      }),
    ];
    const form = drawForm({
      name: "open-account",
      fields,
      submit: t("open.submit"),
      busy: t("open.busy"),
      send: async (values) => {
        await api.openAccount(values);
        setFlash(t("open.done"));
        go("/accounts", { replace: true });
      },
    });
    show(place, h("p.lead", t("open.lead")), form.element, h("p", h("a", { href: "#/accounts" }, t("open.cancel"))));
  },
};
