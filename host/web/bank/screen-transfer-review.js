// Transfer, step 3: everything once more, with the risk in words. Nothing is sent without this step, and the key that is
// made here lets a transfer be tried again without being sent twice.

/** @import { FullDraft, Screen, Tools, Verdict } from "./types.js" */
import { button, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { announce } from "./announce.js";
import { groupsOf } from "./clabe.js";
import { confirmed } from "./dialog.js";
import { fullDraft, isUnsettled, missingStep, resume, settle, start } from "./draft.js";
import { loadDraft } from "./draft-loading.js";
import {
  details,
  drawList,
  money,
  notice,
  number,
  pair,
  payeeName,
  problemNotice,
  skeleton,
  typeName,
} from "./drawing.js";
import { tickField } from "./fields.js";
import { drawForm } from "./form.js";
import { accountOf, known } from "./known.js";
import { drawLoaded } from "./loading.js";
import { writeMoney } from "./money.js";
import { clearNudge } from "./nudges.js";
import { drawPayeeNotice, drawPayeeWarnings, payeeWarnings } from "./payee-warnings.js";
import { reasons } from "./reasons.js";
import { scoreRisk } from "./risk.js";
import { userNow } from "./session.js";
import { goCorrect, sendDraft } from "./transfer-sending.js";
import { t } from "./words.js";

/** @param {FullDraft} draft */
const summaryOf = ({ centavos, payee }) => ({
  amount: writeMoney(centavos),
  name: payee.name,
  bank: payee.bankName,
  number: groupsOf(payee.accountNumber).join(" "),
});

/** @param {FullDraft} draft */
const warningsOf = ({ payee }) => payeeWarnings(payee, known.payees);

/** @param {FullDraft} draft */
function drawFacts({ fromAccountId, payee, centavos }) {
  const account = accountOf(fromAccountId);
  return h(
    "div.sheet",
    h(
      "dl.facts.review",
      h("div.amount", h("dt", t("review.amount")), h("dd", money(centavos, "money large"))),
      pair(t("review.to"), h("strong", payeeName(payee))),
      pair(t("review.bank"), payee.bankName),
      pair(t("review.number"), number(payee.accountNumber)),
      account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
    ),
    !isUnsettled() &&
      h(
        "p.acts",
        h("a", { href: "#/transfer/parties" }, t("review.change.parties")),
        h("a", { href: "#/transfer/amount" }, t("review.change.amount")),
        h("a", { href: "#/transfer/schedule" }, t("review.schedule")),
      ),
  );
}

/** Doubts about the payee keep even a low risk from looking good. @param {Verdict} verdict @param {FullDraft} draft */
function keyOfRisk({ scoredBy, level }, draft) {
  if (scoredBy === "none") return "risk.unscored";
  return level === "low" && warningsOf(draft).length > 0 ? "risk.doubtful" : `risk.${level}`;
}

/** @type {Record<Verdict["level"], "good" | "warn" | "bad">} */
const MOODS = { low: "good", medium: "warn", high: "bad" };

/** The risk and its reasons. @param {Verdict} verdict @param {FullDraft} draft */
function drawRisk(verdict, draft) {
  const sentences = reasons(verdict, draft);
  const key = keyOfRisk(verdict, draft);
  const mood = key === "risk.doubtful" ? "warn" : MOODS[verdict.level];
  const { modelVersion, scoredBy } = verdict;
  return h(
    "section.risk",
    { "aria-labelledby": "risk-title" },
    notice(
      mood,
      h("h2", { id: "risk-title" }, t(`${key}.title`)),
      h("p", t(key, summaryOf(draft))),
      sentences.length > 0 && drawList(sentences),
      verdict.level !== "low" && h("p", h("strong", t("risk.pressure"))),
    ),
    details(
      modelVersion ? t(`risk.by.${scoredBy}`, { modelVersion }) : t("risk.by.none"),
      ...(verdict.factors.length > 0 ? [t("risk.codes", { codes: verdict.factors.join(", ") })] : []),
    ),
  );
}

/** The actions for an unsettled transfer: it cannot be changed, only tried again or left. @param {FullDraft} draft @param {Pick<Tools, "go" | "redraw">} tools */
function drawUnsettled(draft, tools) {
  const faults = h("div.faults.send-faults");
  const discard = async () => {
    const isSure = await confirmed({
      title: t("unsettled.discard.title"),
      about: h("p", t("unsettled.discard.about")),
      yes: t("unsettled.discard.yes"),
      no: t("unsettled.discard.no"),
      isDangerous: true,
    });
    if (!isSure) return;
    settle();
    start();
    tools.go("/transfer/parties");
  };
  const form = drawForm({
    name: "again",
    fields: [],
    submit: t("unsettled.again"),
    busy: t("review.busy"),
    isDrafted: false,
    send: () => sendDraft(draft, { ...tools, faults }),
  });
  return [
    notice("warn", h("p.title", t("unsettled.title")), h("p", t("unsettled.about"))),
    faults,
    form.element,
    h(
      "p.acts",
      h("a", { href: "#/history" }, t("unsettled.history")),
      button(t("unsettled.discard"), discard, { class: "quiet" }),
    ),
  ];
}

/** What must be in sight where the person says yes. @param {Verdict} verdict @param {FullDraft} draft */
function drawDoubts(verdict, draft) {
  const sentences = verdict.level === "low" ? [] : reasons(verdict, draft);
  return [drawPayeeNotice(draft.payee, known.payees), sentences.length > 0 && drawList(sentences)];
}

/** A medium risk, or a doubtful payee, is confirmed in a dialog that repeats why. @param {Verdict} verdict @param {FullDraft} draft */
function confirmDoubts(verdict, draft) {
  const { amount, name } = summaryOf(draft);
  return confirmed({
    title: t("confirm.title", { amount, name }),
    about: [h("p", draft.payee.bankName, ", ", number(draft.payee.accountNumber)), drawDoubts(verdict, draft)],
    no: t("confirm.no"),
    yes: t("confirm.yes", { amount }),
  });
}

/** @param {Verdict} verdict @param {FullDraft} draft @param {Pick<Tools, "go" | "redraw">} tools */
function drawSending(verdict, draft, tools) {
  const faults = h("div.faults.send-faults");
  const acknowledgment = tickField({
    name: "acknowledged",
    label: [t("review.acknowledge", summaryOf(draft)), drawPayeeWarnings(draft.payee, known.payees)],
    check: (isTicked) => (isTicked ? "" : t("review.acknowledge.empty")),
  });
  const isLow = verdict.level === "low" && warningsOf(draft).length === 0;
  const form = drawForm({
    name: "review",
    fields: verdict.level === "high" ? [acknowledgment] : [],
    isDrafted: false,
    confirm: isLow || verdict.level === "high" ? undefined : () => confirmDoubts(verdict, draft),
    send: () => sendDraft(draft, { ...tools, faults }),
    submit: t("review.submit", summaryOf(draft)),
    // Going back must be as easy as sending.
    submitClass: isLow ? "main" : null,
    beside: h("a", { class: isLow ? null : "button", href: "#/transfer/amount" }, t(isLow ? "back" : "review.not")),
    busy: t("review.busy"),
    extra: h("p.hint", t("review.once")),
  });
  return [drawRisk(verdict, draft), faults, form.element];
}

/** @param {HTMLElement} place @param {Tools} tools */
async function drawReview(place, { signal, go, redraw }) {
  const draft = fullDraft();
  if (!draft) return;
  const facts = h("div.flow");
  const below = h("div.flow", { "aria-busy": "true" });
  const drawTop = () =>
    show(facts, drawFacts(draft), drawPayeeNotice(draft.payee, known.payees), notice("info", h("p", t("review.spei"))));
  drawTop();
  show(place, facts, below);
  if (!accountOf(draft.fromAccountId) || !known.payees) await loadDraft().catch(() => {});
  if (signal.aborted) return;
  drawTop();
  if (isUnsettled()) {
    clearNudge();
    show(below, drawUnsettled(draft, { go, redraw }));
    below.removeAttribute("aria-busy");
    return;
  }
  show(below, h("div", { role: "status" }, h("p", t("risk.asking"))), skeleton(2));
  try {
    const verdict = await scoreRisk(draft, userNow());
    if (signal.aborted) return;
    show(below, drawSending(verdict, draft, { go, redraw }));
    announce(t(`${keyOfRisk(verdict, draft)}.title`));
  } catch (error) {
    const problem = asProblem(error);
    if (signal.aborted || problem.status === 401 || goCorrect(problem, go)) return;
    show(below, problemNotice(problem, redraw));
  } finally {
    below.removeAttribute("aria-busy");
  }
}

/** @type {Screen} */
export const reviewScreen = {
  path: "/transfer/review",
  name: "transfer_confirm",
  nav: "/transfer/parties",
  step: 3,
  title: () => t("review.title"),
  guard() {
    if (isUnsettled() && resume(userNow())) return null;
    return missingStep("/transfer/review");
  },
  draw(place, tools) {
    if (fullDraft()) return drawReview(place, tools);
    // After a reload.
    return drawLoaded(place, {
      signal: tools.signal,
      load: loadDraft,
      draw: (isThere) => {
        if (!isThere) {
          tools.go("/transfer/parties", { replace: true });
          return null;
        }
        const inner = h("div.flow");
        drawReview(inner, tools);
        return inner;
      },
    });
  },
};
