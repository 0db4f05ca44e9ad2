// Opening an account: its number and its type.

import * as api from "./api.js";
import { h, show } from "./dom.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { numberField } from "./number-field.js";
import { leaveWord } from "./word.js";
import { t } from "./words.js";

const TYPES = ["checking", "savings", "payroll"];

export const openAccountScreen = {
  path: "/accounts/new",
  name: "account_new",
  nav: "/accounts",
  title: () => t("open.title"),
  draw(place, { go }) {
    const fields = [
      numberField({ label: t("open.number"), hint: t("open.number.hint") }),
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
        leaveWord(t("open.done"));
        go("/accounts", { instead: true });
      },
    });
    show(
      place,
      h("p", { class: "lead" }, t("open.lead")),
      form.element,
      h("p", null, h("a", { href: "#/accounts" }, t("open.cancel"))),
    );
  },
};
