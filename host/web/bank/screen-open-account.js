// Opening an account. The bank assigns its number.

/** @import { Screen } from "./types.js" */
import { h, show } from "../shared/dom.js";
import * as api from "./api.js";
import { groupsOf } from "./clabe.js";
import { choiceField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
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
      send: async ({ accountType }) => {
        const { accountNumber } = await api.openAccount(accountType);
        setFlash(t("open.done", { number: groupsOf(accountNumber).join(" ") }));
        go("/accounts", { replace: true });
      },
    });
    show(place, h("p.lead", t("open.lead")), form.element, h("p", h("a", { href: "#/accounts" }, t("open.cancel"))));
  },
};
