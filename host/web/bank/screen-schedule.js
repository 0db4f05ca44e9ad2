// A transfer that is sent later, or again and again: when. Account, payee and amount come from the transfer's own steps.

/** @import { ChoiceField, FullDraft, Screen, TextField, Tools } from "./types.js" */
import { h } from "../shared/dom.js";
import * as api from "./api-schedules.js";
import { deviceFacts } from "./device.js";
import { fullDraft, isUnsettled, missingStep, scheduleKey, start } from "./draft.js";
import { loadDraft } from "./draft-loading.js";
import { money, notice, number, pair, payeeName, typeName } from "./drawing.js";
import { choiceField, textField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
import { accountOf, known } from "./known.js";
import { drawLoaded } from "./loading.js";
import { drawPayeeNotice } from "./payee-warnings.js";
import { remittancePairs } from "./remittance.js";
import { faultOfFirst, firstDates, writeDate } from "./schedule-dates.js";
import { userNow } from "./session.js";
import { t } from "./words.js";

const RECURRENCES = ["once", "weekly", "monthly"];

/** @param {FullDraft} draft */
function drawFacts({ fromAccountId, payee, centavos, concept, numericReference }) {
  const account = accountOf(fromAccountId);
  return h(
    "dl.facts",
    pair(t("receipt.amount"), money(centavos)),
    pair(t("review.to"), h("strong", payeeName(payee)), h("br"), payee.bankName, h("br"), number(payee.accountNumber)),
    account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
    remittancePairs({ concept, numericReference }),
  );
}

/** @param {FullDraft} draft @param {Tools["go"]} go */
function drawPlan(draft, go) {
  const { min, max } = firstDates();
  /** @type {ChoiceField} */
  const recurrence = choiceField({
    name: "recurrence",
    legend: t("schedule.how-often"),
    options: RECURRENCES.map((value) => ({ value, label: t(`schedule.choice.${value}`) })),
    value: "once",
  });
  /** @type {TextField} */
  const first = textField({
    name: "firstDate",
    label: t("schedule.date"),
    hint: t("schedule.date.hint"),
    check: faultOfFirst,
    attributes: { type: "date", min, max },
  });
  /** @type {TextField} */
  const last = textField({
    name: "lastDate",
    label: t("schedule.last"),
    hint: t("schedule.last.hint"),
    isOptional: true,
    check: (text) => (recurs() && text !== "" && text < first.read() ? t("schedule.last.early") : ""),
    attributes: { type: "date", min },
  });
  const recurs = () => recurrence.read() !== "once";
  const showLast = () => {
    last.element.hidden = !recurs();
  };
  recurrence.element.addEventListener("change", showLast);
  const form = drawForm({
    name: "schedule",
    fields: [recurrence, first, last],
    submit: t("schedule.submit"),
    busy: t("schedule.busy"),
    beside: h("a", { href: "#/transfer/review" }, t("back")),
    send: async ({ recurrence: chosen, firstDate, lastDate }) => {
      const { isNewDevice, hasMoved } = deviceFacts(userNow());
      const plan = {
        recurrence: chosen,
        firstDate,
        lastDate: chosen === "once" || lastDate === "" ? undefined : lastDate,
      };
      const facts = { isNewDevice, geolocationChanged: hasMoved };
      const made = await api.create(draft, { ...plan, ...facts }, scheduleKey(plan));
      start();
      setFlash(t("schedule.done", { name: payeeName(draft.payee), date: writeDate(made.firstDate) }));
      go("/schedules", { replace: true });
    },
  });
  showLast();
  return [
    drawFacts(draft),
    drawPayeeNotice(draft.payee, known.payees),
    notice("info", h("p", t("schedule.about"))),
    form.element,
  ];
}

/** @type {Screen} */
export const scheduleScreen = {
  path: "/transfer/schedule",
  name: "schedule_new",
  nav: "/transfer/parties",
  title: () => t("schedule.title"),
  guard() {
    return isUnsettled() ? "/transfer/review" : missingStep("/transfer/review");
  },
  draw(place, { signal, go }) {
    return drawLoaded(place, {
      signal,
      load: loadDraft,
      draw: (isThere) => {
        const draft = fullDraft();
        if (isThere && draft) return drawPlan(draft, go);
        go("/transfer/parties", { replace: true });
        return null;
      },
    });
  },
};
