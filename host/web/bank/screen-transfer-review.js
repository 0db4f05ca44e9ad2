// Transfer, step 3: everything once more, with the risk in words. Nothing is sent without this step, and the key that is
// made here lets a transfer be tried again without being sent twice.

/** @import { FullDraft, Screen, Tools, Verdict } from "./types.js" */
import { button, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { confirmed } from "./dialog.js";
import { fullDraft, isUnsettled, missingStep, resume, settle, start } from "./draft.js";
import { loadDraft } from "./draft-loading.js";
import { money, notice, number, numberTerm, pair, payeeName, problemNotice, skeleton, typeName } from "./drawing.js";
import { drawForm } from "./form.js";
import { drawGate } from "./gate.js";
import { accountOf, known } from "./known.js";
import { drawLoaded } from "./loading.js";
import { clearNudge } from "./nudges.js";
import { checkPayee } from "./payee-check.js";
import { checkOf } from "./payee-names.js";
import { drawPayeeNotice } from "./payee-warnings.js";
import { remittancePairs } from "./remittance.js";
import { scoreRisk } from "./risk.js";
import { summaryOf } from "./risk-notice.js";
import { userNow } from "./session.js";
import { goCorrect, sendDraft } from "./transfer-sending.js";
import { findTwin } from "./twin.js";
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
      pair(numberTerm(payee.accountNumber), number(payee.accountNumber)),
      account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
      remittancePairs({ concept, numericReference }),
    ),
    !isUnsettled() &&
      h(
        "p.acts",
        h("a", { href: "#/transfer/parties" }, t("review.change.parties")),
        h("a", { href: "#/transfer/amount" }, t("review.change.amount")),
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

/** @param {FullDraft} draft @param {Verdict} verdict @param {Pick<Tools, "go" | "redraw">} tools */
function sendingOf(draft, { circumstances }, tools) {
  const faults = h("div.faults.send-faults");
  return {
    name: "review",
    key: "confirm",
    submit: t("review.submit", summaryOf(draft)),
    busy: t("review.busy"),
    back: "#/transfer/amount",
    send: () => sendDraft(draft, { ...tools, faults }, circumstances),
    extra: h("p.hint", t("review.once")),
    faults,
  };
}

/** @param {HTMLElement} place @param {Tools} tools */
async function drawReview(place, { signal, go, redraw }) {
  const draft = fullDraft();
  if (!draft) return;
  const facts = h("div.flow");
  const below = h("div.flow", { "aria-busy": "true" });
  const drawTop = () => show(facts, drawFacts(draft), drawPayeeNotice(draft.payee, known.payees));
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
    const [verdict, twin] = await Promise.all([scoreRisk(draft, userNow()), findTwin(draft), checkPayee(draft.payee)]);
    if (signal.aborted) return;
    // Not for nothing: the focus may be on one of its links.
    if (checkOf(draft.payee) !== before) drawTop();
    drawGate(below, { verdict, draft, act: sendingOf(draft, verdict, { go, redraw }), twin }, { signal });
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
