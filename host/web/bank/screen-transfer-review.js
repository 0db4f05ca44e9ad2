// Transfer, step 3: everything once more, with the risk in words. Nothing is sent without this step, and the key that is
// made here lets a transfer be tried again without being sent twice.

/** @import { Caution, FullDraft, Screen, Tools, Verdict } from "./types.js" */
import { button, focusOn, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { announce } from "./announce.js";
import { confirmed } from "./dialog.js";
import { fullDraft, isUnsettled, missingStep, resume, settle, start } from "./draft.js";
import { loadDraft } from "./draft-loading.js";
import { drawList, money, notice, number, pair, payeeName, problemNotice, skeleton, typeName } from "./drawing.js";
import { tickField } from "./fields.js";
import { drawForm } from "./form.js";
import { accountOf, known } from "./known.js";
import { drawLoaded } from "./loading.js";
import { clearNudge } from "./nudges.js";
import { pause } from "./pause.js";
import { checkPayee, drawName } from "./payee-check.js";
import { checkOf } from "./payee-names.js";
import { drawPayeeNotice, drawPayeeWarnings, isDoubtful } from "./payee-warnings.js";
import { answerTo, drawNotNow, drawQuestion, forgetAnswer } from "./purpose.js";
import { reasons } from "./reasons.js";
import { remittancePairs } from "./remittance.js";
import { scoreRisk } from "./risk.js";
import { drawRisk, keyOfRisk, summarised, summaryOf } from "./risk-notice.js";
import { userNow } from "./session.js";
import { goCorrect, sendDraft } from "./transfer-sending.js";
import { drawWarning } from "./warning.js";
import { cautionOf, isFraud, isPaused, PAUSE_SECONDS } from "./warning-rules.js";
import { t } from "./words.js";

/** @param {FullDraft} draft */
function drawFacts({ fromAccountId, payee, centavos, concept, numericReference }) {
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
      remittancePairs({ concept, numericReference }),
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

/** What must be in sight where the person says yes. @param {Verdict} verdict @param {Caution} caution @param {FullDraft} draft */
function drawDoubts(verdict, caution, draft) {
  const sentences = caution === "reasons" ? reasons(verdict, draft) : [];
  return [drawPayeeNotice(draft.payee, known.payees), sentences.length > 0 && drawList(sentences)];
}

/** A medium risk, or a doubtful payee, is confirmed in a dialog that repeats why. @param {Verdict} verdict @param {Caution} caution @param {FullDraft} draft */
function confirmDoubts(verdict, caution, draft) {
  const { amount, name } = summaryOf(draft);
  return confirmed({
    title: t("confirm.title", { amount, name }),
    about: [h("p", draft.payee.bankName, ", ", number(draft.payee.accountNumber)), drawDoubts(verdict, caution, draft)],
    no: t("confirm.no"),
    yes: t("confirm.yes", { amount }),
    warns: true,
  });
}

/** @param {Verdict} verdict @param {Caution} caution @param {FullDraft} draft @param {Pick<Tools, "go" | "redraw">} tools */
function drawSending(verdict, caution, draft, tools) {
  const isAsked = caution === "question";
  const isCalm = caution === "none" || caution === "familiar";
  const isHigh = verdict.level === "high";
  const { purpose } = answerTo(draft) ?? {};
  const faults = h("div.faults.send-faults");
  const acknowledgment = tickField({
    name: "acknowledged",
    label: [
      summarised(isCalm ? "review.acknowledge.familiar" : "review.acknowledge", draft),
      drawPayeeWarnings(draft.payee, known.payees),
    ],
    check: (isTicked) => (isTicked ? "" : t("review.acknowledge.empty")),
  });
  /** @type {ReturnType<typeof pause> | null} */
  let paused = null;
  const form = drawForm({
    name: "review",
    fields: isHigh ? [acknowledgment] : [],
    isDrafted: false,
    confirm: async () => {
      if (paused && !paused.mayGo()) return false;
      // A warning that fits has been read already.
      return isAsked || isCalm || isHigh || confirmDoubts(verdict, caution, draft);
    },
    send: () => sendDraft(draft, { ...tools, faults }, verdict.circumstances),
    submit: t("review.submit", summaryOf(draft)),
    // Going back must be as easy as sending.
    submitClass: isCalm ? "main" : null,
    beside: isAsked
      ? drawNotNow({ isMain: purpose !== undefined && isFraud(purpose) })
      : h("a", { class: isCalm ? null : "button", href: "#/transfer/amount" }, t(isCalm ? "back" : "review.not")),
    busy: t("review.busy"),
    extra: h("p.hint", t("review.once")),
  });
  return { parts: [faults, form.element], form, hold: (/** @type {typeof paused} */ it) => (paused = it) };
}

/**
 * An unusual payment: the question, then the warning that fits the answer, with a pause before the riskiest.
 * @param {HTMLElement} below @param {Verdict} verdict @param {FullDraft} draft @param {Pick<Tools, "go" | "redraw" | "signal">} tools
 */
function drawAsked(below, verdict, draft, tools) {
  const ask = () => {
    forgetAnswer();
    show(
      below,
      drawQuestion(draft, () => warn({ isNew: true })),
    );
  };
  const warn = ({ isNew = false } = {}) => {
    const { purpose, at } = answerTo(draft) ?? {};
    if (!purpose || at === undefined) return;
    const sending = drawSending(verdict, "question", draft, tools);
    const change = () => {
      ask();
      focusOn(below.querySelector("input"));
    };
    const warning = drawWarning(verdict, draft, purpose, change);
    show(below, warning, sending.parts);
    if (isNew) focusOn(warning.querySelector("h2"));
    const held = sending.form.element.querySelector("button[type=submit]");
    if (!isPaused(verdict, purpose) || !(held instanceof HTMLElement)) return;
    const paused = pause(held, { endsAt: at + PAUSE_SECONDS * 1_000, signal: tools.signal });
    sending.hold(paused);
    held.closest(".acts")?.before(paused.element);
    if (isNew) announce(paused.begins());
  };
  if (answerTo(draft)) warn();
  else ask();
}

/** @param {HTMLElement} place @param {Tools} tools */
async function drawReview(place, { signal, go, redraw }) {
  const draft = fullDraft();
  if (!draft) return;
  const facts = h("div.flow");
  const below = h("div.flow", { "aria-busy": "true" });
  const drawTop = () =>
    show(facts, drawFacts(draft), drawPayeeNotice(draft.payee, known.payees), !isUnsettled() && drawName(draft.payee));
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
    const before = checkOf(draft.payee);
    const [verdict] = await Promise.all([scoreRisk(draft, userNow()), checkPayee(draft.payee)]);
    if (signal.aborted) return;
    // Not for nothing: the focus may be on one of its links.
    if (checkOf(draft.payee) !== before) drawTop();
    const caution = cautionOf(verdict, isDoubtful(draft.payee, known.payees));
    if (caution === "question") drawAsked(below, verdict, draft, { go, redraw, signal });
    else show(below, drawRisk(verdict, caution, draft), drawSending(verdict, caution, draft, { go, redraw }).parts);
    announce(t(`${keyOfRisk(verdict, caution)}.title`));
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
