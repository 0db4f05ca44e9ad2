// What stands between a person and a payment, sent now or scheduled: the reasons, the question, the warning that fits its
// answer, the pause and the acknowledgment.

/** @import { Child } from "../shared/dom.js" */
/** @import { Caution, Field, FullDraft, Tools, Verdict } from "./types.js" */
import { focusOn, h, show } from "../shared/dom.js";
import { announce } from "./announce.js";
import { confirmed } from "./dialog.js";
import { drawList, number } from "./drawing.js";
import { tickField } from "./fields.js";
import { drawForm } from "./form.js";
import { known } from "./known.js";
import { pause } from "./pause.js";
import { drawName } from "./payee-check.js";
import { drawPayeeNotice, drawPayeeWarnings, isDoubtful } from "./payee-warnings.js";
import { answerTo, drawNotNow, drawQuestion, forgetAnswer } from "./purpose.js";
import { reasons } from "./reasons.js";
import { drawRisk, keyOfRisk, summarised, summaryOf } from "./risk-notice.js";
import { drawWarning, isMetInRed } from "./warning.js";
import { cautionOf, isCalm, isFraud, isPaused, PAUSE_SECONDS } from "./warning-rules.js";
import { t } from "./words.js";

/**
 * What the person is about to do. `fields` come before the acknowledgment. The texts `key.title` and `key.yes` ask once
 * more; a plan is not said to be ready to send.
 * @typedef {{ name: string, key: string, submit: string, busy: string, send: (values: any) => unknown, fields?: Field[],
 *   isDrafted?: boolean, isPlan?: boolean, back: string, faults?: HTMLElement, extra?: Child }} Act
 * @typedef {{ verdict: Verdict, caution: Caution, draft: FullDraft, act: Act, twin?: HTMLElement | null }} Meeting
 */

/** What must be in sight where the person says yes. @param {Meeting} meeting */
function drawDoubts({ verdict, caution, draft }) {
  const sentences = caution === "reasons" ? reasons(verdict, draft) : [];
  return [drawPayeeNotice(draft.payee, known.payees), sentences.length > 0 && drawList(sentences)];
}

/** A medium risk, or a doubtful payee, is confirmed in a dialog that repeats why. @param {Meeting} meeting */
function confirmDoubts(meeting) {
  const { draft, act } = meeting;
  const { amount, name } = summaryOf(draft);
  return confirmed({
    title: t(`${act.key}.title`, { amount, name }),
    about: [h("p", draft.payee.bankName, ", ", number(draft.payee.accountNumber)), drawDoubts(meeting)],
    no: t("confirm.no"),
    yes: t(`${act.key}.yes`, { amount }),
    warns: true,
  });
}

/** @param {Meeting} meeting */
function drawActing(meeting) {
  const { verdict, caution, draft, act } = meeting;
  const isAsked = caution === "question";
  const isEasy = isCalm(caution);
  // A bank that counts acknowledgments gets one even where the page has nothing to warn of.
  const isAcknowledged =
    verdict.level === "high" && (!isEasy || verdict.circumstances?.acknowledgmentToken !== undefined);
  const { purpose } = answerTo(draft) ?? {};
  const isAnsweredBadly = isAsked && purpose !== undefined && isFraud(purpose);
  const acknowledgment = tickField({
    name: "acknowledged",
    label: [
      summarised(isEasy ? "review.acknowledge.familiar" : "review.acknowledge", draft),
      drawPayeeWarnings(draft.payee, known.payees),
    ],
    check: (isTicked) => (isTicked ? "" : t("review.acknowledge.empty")),
  });
  const { fields = [], isDrafted = false } = act;
  /** @type {ReturnType<typeof pause> | null} */
  let paused = null;
  const form = drawForm({
    name: act.name,
    // Not ticked in advance, whatever was kept.
    fields: isAcknowledged ? [...fields, { ...acknowledgment, write: () => {} }] : fields,
    isDrafted,
    confirm: async () => {
      if (paused && !paused.mayGo()) return false;
      // A warning that fits has been read already.
      return isAsked || isEasy || isAcknowledged || confirmDoubts(meeting);
    },
    send: act.send,
    submit: act.submit,
    // Going back must be as easy as sending.
    submitClass: isEasy ? "main" : null,
    beside: isAsked
      ? drawNotNow({ isMain: isAnsweredBadly })
      : h("a", { class: isEasy ? null : "button", href: act.back }, t(isEasy ? "back" : "review.not")),
    busy: act.busy,
    extra: act.extra,
  });
  return { parts: [act.faults, form.element], form, hold: (/** @type {typeof paused} */ it) => (paused = it) };
}

/**
 * An unusual payment: the question, then the warning that fits the answer, with a pause before the riskiest.
 * @param {HTMLElement} place @param {Meeting} meeting @param {AbortSignal} signal
 */
function drawAsked(place, meeting, signal) {
  const { verdict, draft, twin } = meeting;
  const ask = () => {
    forgetAnswer();
    show(
      place,
      drawName(draft.payee, false),
      twin,
      drawQuestion(draft, () => warn({ isNew: true })),
    );
  };
  const warn = ({ isNew = false } = {}) => {
    const { purpose, at } = answerTo(draft) ?? {};
    if (!purpose || at === undefined) return;
    const acting = drawActing(meeting);
    const change = () => {
      ask();
      focusOn(place.querySelector("input"));
    };
    const warning = drawWarning(verdict, draft, purpose, change);
    show(place, drawName(draft.payee, isMetInRed(verdict, draft, purpose)), twin, warning, acting.parts);
    if (isNew) focusOn(warning.querySelector("h2"));
    const held = acting.form.element.querySelector("button[type=submit]");
    if (!isPaused(verdict, purpose) || !(held instanceof HTMLElement)) return;
    const paused = pause(held, { endsAt: at + PAUSE_SECONDS * 1_000, signal });
    acting.hold(paused);
    held.closest(".acts")?.before(paused.element);
    if (isNew) announce(paused.begins());
  };
  if (answerTo(draft)) warn();
  else ask();
}

/**
 * Draws what a payment has to pass, and the form that carries it out.
 * @param {HTMLElement} place @param {Omit<Meeting, "caution">} about @param {Pick<Tools, "signal">} tools
 */
export function drawGate(place, about, { signal }) {
  const { verdict, draft, act, twin } = about;
  const caution = cautionOf(verdict, isDoubtful(draft.payee, known.payees));
  const meeting = { ...about, caution };
  if (caution === "question") drawAsked(place, meeting, signal);
  else {
    const isSilent = act.isPlan && isCalm(caution);
    const said = isSilent ? null : [drawName(draft.payee, false), drawRisk(verdict, caution, draft, twin)];
    show(place, said, drawActing(meeting).parts);
    if (isSilent) return;
  }
  announce(t(twin ? "twin.title" : `${keyOfRisk(verdict, caution, draft)}.title`));
}
