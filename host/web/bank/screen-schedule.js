// A transfer that is sent later, or again and again: when. Account, payee and amount come from the transfer's own steps.

/** @import { ChoiceField, FullDraft, NewSchedule, Screen, TextField, Tools, Verdict } from "./types.js" */
import { h, show } from "../shared/dom.js";
import * as api from "./api-schedules.js";
import { deviceFacts } from "./device.js";
import { draftNow, fullDraft, isUnsettled, missingStep, scheduleKey, start } from "./draft.js";
import { loadDraft } from "./draft-loading.js";
import { money, notice, number, pair, payeeName, typeName } from "./drawing.js";
import { choiceField, textField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawGate } from "./gate.js";
import { accountOf, known } from "./known.js";
import { drawLoaded } from "./loading.js";
import { writeMoney } from "./money.js";
import { drawPayeeNotice } from "./payee-warnings.js";
import { forgetAnswer } from "./purpose.js";
import { remittancePairs } from "./remittance.js";
import { scoreRisk } from "./risk.js";
import { faultOfFirst, firstDates, firstOf, lastOf, rhythmOf, writeDate, writeShort } from "./schedule-dates.js";
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

/**
 * The dates, behind the same question, warning and pause as a payment that is sent now: nobody is asked again on the day.
 * @param {FullDraft} draft @param {Verdict} verdict @param {Tools} tools
 */
function drawPlan(draft, verdict, { go, signal }) {
  const { min, max } = firstDates();
  const { replaces } = draftNow();
  /** @type {ChoiceField} */
  const recurrence = choiceField({
    name: "recurrence",
    legend: t("schedule.how-often"),
    options: RECURRENCES.map((value) => ({ value, label: t(`schedule.choice.${value}`) })),
    value: replaces?.recurrence ?? "once",
  });
  /** @type {TextField} */
  const first = textField({
    name: "firstDate",
    label: t("schedule.date"),
    hint: t("schedule.date.hint"),
    check: faultOfFirst,
    attributes: { type: "date", min, max, value: replaces?.nextDate },
  });
  /** @type {TextField} */
  const last = textField({
    name: "lastDate",
    label: t("schedule.last"),
    hint: t("schedule.last.hint"),
    isOptional: true,
    check: (text) => (recurs() && text !== "" && text < first.read() ? t("schedule.last.early") : ""),
    attributes: { type: "date", min, value: replaces && lastOf(replaces) },
  });
  const recurs = () => recurrence.read() !== "once";
  const preview = h("p", { role: "status" });
  const showPlan = () => {
    last.element.hidden = !recurs();
    const dates = firstOf(recurrence.read() ?? "", first.read(), last.read()).map(writeShort);
    preview.hidden = dates.length === 0;
    show(preview, !preview.hidden && t("schedule.preview", { dates: dates.join(", ") }));
  };
  for (const { element } of [recurrence, first, last]) element.addEventListener("change", showPlan);
  const act = {
    // By schedule: the dates of one must not be suggested for another.
    name: `schedule ${replaces?.id ?? ""}`,
    key: "schedule.confirm",
    fields: [recurrence, first, last],
    isDrafted: true,
    isPlan: true,
    submit: t(replaces ? "schedule.change" : "schedule.submit"),
    busy: t("schedule.busy"),
    back: "#/transfer/amount",
    extra: notice(
      "info",
      preview,
      h("p", t("schedule.about")),
      known.terms?.riskEnforced === true && h("p", t("schedule.about.enforced")),
    ),
    /** @param {{ recurrence: NewSchedule["recurrence"], firstDate: string, lastDate: string }} values */
    send: async ({ recurrence: chosen, firstDate, lastDate }) => {
      const { isNewDevice, hasMoved } = deviceFacts(userNow());
      const plan = {
        recurrence: chosen,
        firstDate,
        lastDate: chosen === "once" || lastDate === "" ? undefined : lastDate,
        replaces: replaces?.id,
      };
      const facts = { isNewDevice, geolocationChanged: hasMoved };
      const made = await api.create(draft, { ...plan, ...facts }, scheduleKey(plan));
      forgetAnswer();
      start();
      setFlash(
        t(replaces ? "schedule.changed" : `schedule.done.${chosen}`, {
          name: payeeName(draft.payee),
          date: writeDate(made.firstDate),
        }),
      );
      go("/schedules", { replace: true });
    },
  };
  const gate = h("div.flow");
  drawGate(gate, { verdict, draft, act }, { signal });
  showPlan();
  const before = replaces && { amount: writeMoney(replaces.centavos), rhythm: rhythmOf(replaces) };
  return [
    before && notice("info", h("p", t("schedule.replaces", before))),
    drawFacts(draft),
    drawPayeeNotice(draft.payee, known.payees),
    gate,
  ];
}

/** The draft and its risk, or null if it lacks something. */
async function load() {
  const draft = (await loadDraft()) ? fullDraft() : null;
  return draft && { draft, verdict: await scoreRisk(draft, userNow()) };
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
  draw(place, tools) {
    return drawLoaded(place, {
      signal: tools.signal,
      lines: 5,
      load,
      draw: (found) => {
        if (found) return drawPlan(found.draft, found.verdict, tools);
        tools.go("/transfer/parties", { replace: true });
        return null;
      },
    });
  },
};
