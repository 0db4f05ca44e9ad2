// Transfer, step 3: everything once more before it is sent, with its risk in words. Nothing leaves without this step.
// A key made here, once for each reviewed transfer, lets it be tried again without ever being sent twice.

import { record } from "./analytics.js";
import { announce } from "./announce.js";
import * as api from "./api.js";
import { groupsOf } from "./clabe.js";
import { remember } from "./device.js";
import { ask } from "./dialog.js";
import { button, focusOn, h, show } from "./dom.js";
import {
  blame,
  draftNow,
  dropKey,
  finish,
  isSendable,
  isUnsettled,
  judged,
  keyNow,
  resume,
  settle,
  start,
  unsettle,
} from "./draft.js";
import { money, notice, number, pair, payeeName, problemNotice, skeleton, typeName } from "./drawing.js";
import { tickField } from "./fields.js";
import { drawForm, titles } from "./form.js";
import { accountOf, askAccounts, sawTransfer } from "./known.js";
import { writeMoney } from "./money.js";
import { fieldFault, isOutcomeOpen } from "./problems.js";
import { reasons } from "./reasons.js";
import { judge } from "./risk.js";
import { userNow } from "./session.js";
import { t } from "./words.js";

/** Where a refusal can be mended, by its code; the others by the field that the bank names. */
const MENDED_AT = {
  "insufficient-funds": "amount",
  "limit-exceeded": "amount",
  "invalid-amount": "amount",
  "account-not-found": "fromAccountId",
  "beneficiary-not-found": "toBeneficiaryId",
  "beneficiary-cooling": "toBeneficiaryId",
  "same-account": "toBeneficiaryId",
};
const SCREEN_OF = {
  amount: "/transfer/amount",
  fromAccountId: "/transfer/parties",
  toBeneficiaryId: "/transfer/parties",
};

function drawFacts(draft) {
  const account = accountOf(draft.fromAccountId);
  const { payee } = draft;
  return h(
    "div",
    { class: "sheet" },
    h(
      "dl",
      { class: "facts review" },
      h(
        "div",
        { class: "amount" },
        h("dt", null, t("review.amount")),
        h("dd", null, money(draft.centavos, "money large")),
      ),
      pair(t("review.to"), h("strong", null, payeeName(payee))),
      pair(t("review.bank"), payee.bankName),
      pair(t("review.number"), number(payee.accountNumber)),
      account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
    ),
    !isUnsettled() &&
      h(
        "p",
        { class: "acts" },
        h("a", { href: "#/transfer/parties" }, t("review.change.parties")),
        h("a", { href: "#/transfer/amount" }, t("review.change.amount")),
      ),
  );
}

/** What the risk is and why; `verdict.by` tells who judged. */
function drawRisk(verdict, draft) {
  const said = reasons(verdict, draft);
  const mood = { low: "good", medium: "warn", high: "bad" }[verdict.level];
  return h(
    "section",
    { class: "risk", "aria-labelledby": "risk-title" },
    notice(
      mood,
      h("h2", { id: "risk-title" }, t(verdict.by === "nobody" ? "risk.nobody.title" : `risk.${verdict.level}.title`)),
      h(
        "p",
        null,
        t(verdict.by === "nobody" ? "risk.nobody" : `risk.${verdict.level}`, {
          name: draft.payee.name,
          amount: writeMoney(draft.centavos),
          number: groupsOf(draft.payee.accountNumber).join(" "),
        }),
      ),
      said.length > 0 &&
        h(
          "ul",
          null,
          said.map((sentence) => h("li", null, sentence)),
        ),
      verdict.level !== "low" && h("p", null, h("strong", null, t("risk.pressure"))),
    ),
    verdict.modelVersion &&
      h("p", { class: "model" }, t(`risk.by.${verdict.by}`, { modelVersion: verdict.modelVersion })),
  );
}

/** A refusal by the bank: to the step where it can be mended, or said here. Tells whether one goes elsewhere. */
function mend(problem, go) {
  if (problem.status !== 400) return false;
  const own = MENDED_AT[problem.code];
  const [error] = problem.errors;
  const field = own ?? (SCREEN_OF[error?.field] ? error.field : null);
  if (!field) return false;
  const available = accountOf(draftNow().fromAccountId)?.centavos ?? 0;
  const text =
    problem.code === "insufficient-funds"
      ? t("fault.insufficient-funds", { available: writeMoney(available) })
      : fieldFault(own ? problem : error);
  blame(field, text);
  go(SCREEN_OF[field]);
  return true;
}

async function whenSent(transfer, draft, go) {
  sawTransfer(transfer);
  if (transfer.status === "completed") remember(userNow());
  record("transfer_completed", reviewScreen.name);
  const account = accountOf(draft.fromAccountId);
  finish({ transfer, account, payee: draft.payee });
  go("/transfer/receipt", { instead: true });
}

/** Sends the draft under its key. What becomes of it decides what is shown. */
async function sendDraft({ go, redraw, place }) {
  const draft = draftNow();
  const key = keyNow();
  unsettle(userNow());
  try {
    await whenSent(await api.send(draft, key), draft, go);
  } catch (problem) {
    if (problem.status === undefined) throw problem;
    if (!isOutcomeOpen(problem)) settle();
    if (problem.status === 401) return;
    if (problem.status === 400 || problem.status === 422) {
      // The refusal holds for this key for ever.
      dropKey();
      if (problem.code === "insufficient-funds") await askAccounts().catch(() => {});
      if (mend(problem, go)) return;
    }
    if (isUnsettled()) redraw();
    titles.setFaulty(true);
    const shown = h("div", { tabindex: -1 }, problemNotice(problem));
    // After drawing anew the place is another one.
    const faults = place.isConnected ? place : document.querySelector(".send-faults");
    show(faults, shown);
    focusOn(shown);
  }
}

/** The buttons for a transfer whose outcome is open: nothing can be changed, only asked again. */
function drawUnsettled(tools) {
  const faults = h("div", { class: "faults send-faults" });
  const discard = async () => {
    const isSure = await ask({
      title: t("unsettled.discard.title"),
      about: h("p", null, t("unsettled.discard.about")),
      yes: t("unsettled.discard.yes"),
      no: t("unsettled.discard.no"),
      isGrave: true,
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
    drafted: false,
    send: () => sendDraft({ ...tools, place: faults }),
  });
  return [
    notice("warn", h("p", { class: "title" }, t("unsettled.title")), h("p", null, t("unsettled.about"))),
    faults,
    form.element,
    h(
      "p",
      { class: "acts" },
      h("a", { href: "#/history" }, t("unsettled.history")),
      button(t("unsettled.discard"), discard, { class: "quiet" }),
    ),
  ];
}

function acknowledgment(draft) {
  const { payee } = draft;
  return tickField({
    name: "acknowledged",
    label: t("review.acknowledge", {
      amount: writeMoney(draft.centavos),
      name: payee.name,
      bank: payee.bankName,
      number: groupsOf(payee.accountNumber).join(" "),
    }),
    check: (isTicked) => (isTicked ? "" : t("review.acknowledge.empty")),
  });
}

/** A medium risk is confirmed by itself, with its reasons once more. */
function askOnce(verdict, draft) {
  return ask({
    title: t("confirm.title", { amount: writeMoney(draft.centavos), name: draft.payee.name }),
    about: [
      h("p", null, draft.payee.bankName, ", ", number(draft.payee.accountNumber)),
      h(
        "ul",
        null,
        reasons(verdict, draft).map((it) => h("li", null, it)),
      ),
    ],
    no: t("confirm.no"),
    yes: t("confirm.yes", { amount: writeMoney(draft.centavos) }),
  });
}

function drawSending(verdict, tools) {
  const draft = draftNow();
  const faults = h("div", { class: "faults send-faults" });
  const fields = verdict.level === "high" ? [acknowledgment(draft)] : [];
  const isLow = verdict.level === "low";
  const form = drawForm({
    name: "review",
    fields,
    drafted: false,
    confirm: verdict.level === "medium" ? () => askOnce(verdict, draft) : undefined,
    send: () => sendDraft({ ...tools, place: faults }),
    submit: t("review.submit", { amount: writeMoney(draft.centavos), name: draft.payee.name }),
    // Where there is reason for doubt, not sending is as near and as easy to see as sending.
    submitClass: isLow ? "main" : null,
    beside: h("a", { class: isLow ? null : "button", href: "#/transfer/amount" }, t(isLow ? "back" : "review.not")),
    busy: t("review.busy"),
    extra: h("p", { class: "hint" }, t("review.once")),
  });
  return [drawRisk(verdict, draft), faults, form.element];
}

export const reviewScreen = {
  path: "/transfer/review",
  name: "transfer_confirm",
  nav: "/transfer/parties",
  step: 3,
  title: () => t("review.title"),
  guard() {
    if (isUnsettled() && resume(userNow())) return null;
    return isSendable() ? null : "/transfer/parties";
  },
  async draw(place, { signal, go, redraw }) {
    const facts = h("div", { class: "flow" });
    const below = h("div", { class: "flow", "aria-busy": "true" });
    const drawTop = () => show(facts, drawFacts(draftNow()), notice("info", h("p", null, t("review.spei"))));
    drawTop();
    show(place, facts, below);
    const tools = { go, redraw };
    if (!accountOf(draftNow().fromAccountId)) await askAccounts().catch(() => {});
    if (signal.aborted) return;
    drawTop();
    if (isUnsettled()) {
      show(below, drawUnsettled(tools));
      below.removeAttribute("aria-busy");
      return;
    }
    show(below, h("div", { role: "status" }, h("p", null, t("risk.asking"))), skeleton(2));
    try {
      const verdict = await judge(draftNow(), userNow());
      if (signal.aborted) return;
      judged(verdict);
      show(below, drawSending(verdict, tools));
      announce(t(verdict.by === "nobody" ? "risk.nobody.title" : `risk.${verdict.level}.title`));
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      if (signal.aborted || problem.status === 401 || mend(problem, go)) return;
      show(below, problemNotice(problem, redraw));
    } finally {
      below.removeAttribute("aria-busy");
    }
  },
};
