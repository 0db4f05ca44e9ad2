// A scheduled payment whose risk is high: its owner reads why, and sends it or does without it.

/** @import { RiskAnswer, RiskRequest } from "../../../components/js/src/index.js" */
/** @import { FullDraft, Schedule, Screen, Tools } from "./types.js" */
import { button, focusOn, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { riskContext } from "./api.js";
import * as api from "./api-schedules.js";
import { groupsOf } from "./clabe.js";
import { deviceFacts, noteSent } from "./device.js";
import { money, notice, number, pair, payeeName, problemNotice, typeName } from "./drawing.js";
import { tickField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
import { accountOf, addTransfer, known, loadAccounts, loadPayees, payeeOf } from "./known.js";
import { drawLoaded } from "./loading.js";
import { writeMoney } from "./money.js";
import { drawPayeeNotice } from "./payee-warnings.js";
import { remittancePairs } from "./remittance.js";
import { drawRisk } from "./risk-notice.js";
import { pathNow } from "./router.js";
import { dateOf } from "./schedule-dates.js";
import { userNow } from "./session.js";
import { localHour } from "./times.js";
import { t } from "./words.js";

const idNow = () => new URLSearchParams(pathNow().split("?")[1]).get("id") ?? "";

/**
 * @typedef {{ request: RiskRequest, assessment: RiskAnswer, acknowledgmentToken?: string }} Context
 * @typedef {{ schedule: Schedule, context: Context | null }} Question
 */

/** The schedule and, while one of its payments waits, the risk of that payment now. @returns {Promise<Question>} */
async function load() {
  const [schedule] = await Promise.all([api.schedule(idNow()), loadPayees(), loadAccounts()]);
  if (!schedule.waitingUntil) return { schedule, context: null };
  /** @type {Context} */
  const context = await riskContext({ ...schedule, ...deviceFacts(userNow()), hour: localHour() });
  return { schedule, context };
}

/** @param {Schedule} schedule @param {Context} context @param {FullDraft} draft @param {Tools} tools */
function drawAnswers(schedule, context, draft, { go, redraw }) {
  const date = schedule.nextDate ?? "";
  const { isNewDevice, hasMoved } = deviceFacts(userNow());
  const faults = h("div.faults");
  /** @param {unknown} error */
  const showProblem = (error) => {
    const problem = asProblem(error);
    if (problem.status === 401) return;
    const element = h("div", { tabindex: -1 }, problemNotice(problem, redraw));
    show(faults, element);
    focusOn(element);
  };
  const acknowledged = tickField({
    name: "acknowledged",
    label: t("review.acknowledge", {
      amount: writeMoney(draft.centavos),
      name: draft.payee.name,
      bank: draft.payee.bankName,
      number: groupsOf(draft.payee.accountNumber).join(" "),
    }),
    check: (isTicked) => (isTicked ? "" : t("review.acknowledge.empty")),
  });
  const skip = async () => {
    try {
      await api.skip(schedule.id, date);
      setFlash(t("schedules.skipped", { name: draft.payee.name }));
      go("/schedules", { replace: true });
    } catch (error) {
      showProblem(error);
    }
  };
  const form = drawForm({
    name: "answer",
    fields: [acknowledged],
    isDrafted: false,
    submit: t("schedules.send", { amount: writeMoney(draft.centavos) }),
    submitClass: null,
    busy: t("review.busy"),
    // Doing without must be as easy as sending.
    beside: button(t("schedules.skip"), skip),
    send: async () => {
      try {
        const { acknowledgmentToken } = context;
        const answer = { date, isNewDevice, geolocationChanged: hasMoved, acknowledgmentToken };
        const transfer = await api.confirm(schedule.id, answer);
        addTransfer(transfer);
        noteSent(userNow(), transfer);
        go(`/history/receipt?id=${transfer.id}`, { replace: true });
      } catch (error) {
        showProblem(error);
      }
    },
  });
  return [faults, form.element];
}

/** @param {Question} question @param {Tools} tools */
function drawQuestion({ schedule, context }, tools) {
  const { fromAccountId, toBeneficiaryId, centavos, concept = null, numericReference = null, nextDate } = schedule;
  const payee = payeeOf(toBeneficiaryId);
  const back = h("p", h("a", { href: "#/schedules" }, t("schedules.back")));
  if (!context || !payee) return [notice("info", h("p", t("schedules.answered"))), back];
  const draft = { fromAccountId, toBeneficiaryId, centavos, payee, concept, numericReference };
  const { risk_level: level, risk_factors: factors, model_reasons: reasons } = context.assessment.result;
  const { model_version: modelVersion } = context.assessment;
  const account = accountOf(fromAccountId);
  return [
    h(
      "dl.facts",
      pair(t("receipt.amount"), money(centavos)),
      pair(
        t("review.to"),
        h("strong", payeeName(payee)),
        h("br"),
        payee.bankName,
        h("br"),
        number(payee.accountNumber),
      ),
      account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
      remittancePairs(draft),
      nextDate && pair(t("schedules.planned"), dateOf(nextDate)),
    ),
    drawPayeeNotice(payee, known.payees),
    drawRisk({ level, factors, reasons, modelVersion, facts: context.request, scoredBy: "ledger" }, "reasons", draft),
    drawAnswers(schedule, context, draft, tools),
    back,
  ];
}

/** @type {Screen} */
export const scheduleAnswerScreen = {
  path: "/schedules/confirm",
  name: "schedule_confirm",
  nav: "/schedules",
  title: () => t("schedules.answer.title"),
  guard: () => (idNow() ? null : "/schedules"),
  draw(place, tools) {
    return drawLoaded(place, {
      signal: tools.signal,
      lines: 5,
      load,
      draw: (question) => drawQuestion(question, tools),
    });
  },
};
