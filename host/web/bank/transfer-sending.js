// Sending the draft, and what follows from each outcome.

/** @import { Circumstances, FullDraft, Go, Transfer } from "./types.js" */
import { focusOn, h, show } from "../shared/dom.js";
import { asProblem, Problem } from "../shared/problem.js";
import { record } from "./analytics.js";
import * as api from "./api.js";
import { noteSent } from "./device.js";
import { draftNow, dropKey, finish, isUnsettled, keyNow, setFault, settle, unsettle } from "./draft.js";
import { problemNotice } from "./drawing.js";
import { hooks } from "./form.js";
import { accountOf, addTransfer, known, loadAccounts } from "./known.js";
import { writeMoney } from "./money.js";
import { fieldFault, isOutcomeOpen, writeWait } from "./problems.js";
import { forgetAnswer } from "./purpose.js";
import { userNow } from "./session.js";
import { t } from "./words.js";

/** @typedef {"amount" | "concept" | "numericReference" | "fromAccountId" | "toBeneficiaryId"} FieldName */

/** The field where a refusal can be corrected; for other codes, the field that the bank names. @type {Record<string, FieldName>} */
const FIELD_OF_CODE = {
  "insufficient-funds": "amount",
  "limit-exceeded": "amount",
  "invalid-amount": "amount",
  "account-not-found": "fromAccountId",
  "beneficiary-not-found": "toBeneficiaryId",
  "beneficiary-cooling": "toBeneficiaryId",
  "unknown-account": "toBeneficiaryId",
  "same-account": "toBeneficiaryId",
};
/** @type {Record<string, string>} */
const SCREEN_OF_FIELD = {
  amount: "/transfer/amount",
  concept: "/transfer/amount",
  numericReference: "/transfer/amount",
  fromAccountId: "/transfer/parties",
  toBeneficiaryId: "/transfer/parties",
};

/** Takes a refusal to the step where it can be corrected; false if there is none. @param {Problem} problem @param {Go} go */
export function goCorrect(problem, go) {
  if (problem.status !== 400) return false;
  const ofCode = FIELD_OF_CODE[problem.code];
  const [error] = problem.errors;
  const field = ofCode ?? error?.field;
  if (!field || !SCREEN_OF_FIELD[field]) return false;
  const available = accountOf(draftNow().fromAccountId)?.available ?? 0;
  const cooling = known.terms?.coolingSeconds ?? 0;
  let text = fieldFault(ofCode ? problem : error);
  if (problem.code === "insufficient-funds") text = t("fault.insufficient-funds", { available: writeMoney(available) });
  if (problem.code === "beneficiary-cooling" && cooling > 0)
    text = t("fault.beneficiary-cooling.wait", { wait: writeWait(cooling) });
  setFault(field, text);
  go(SCREEN_OF_FIELD[field]);
  return true;
}

/** @param {Transfer} transfer @param {Go} go */
function succeed(transfer, go) {
  addTransfer(transfer);
  noteSent(userNow(), transfer);
  record("transfer_completed", "transfer_confirm");
  forgetAnswer();
  finish();
  go(`/transfer/receipt?id=${transfer.id}`, { replace: true });
}

/**
 * Sends the draft under its key. A problem is shown in `faults`, or in its successor after `redraw`.
 * @param {FullDraft} draft @param {{ go: Go, redraw: () => void, faults: HTMLElement }} tools @param {Circumstances} [circumstances]
 */
export async function sendDraft(draft, { go, redraw, faults }, circumstances) {
  const key = keyNow();
  const wasUnsettled = isUnsettled();
  unsettle(userNow());
  try {
    succeed(await api.send(draft, key, circumstances), go);
  } catch (error) {
    const problem = asProblem(error);
    // A refusal of this attempt says nothing about an earlier one, unless the bank keeps it under the key.
    if (!wasUnsettled && !isOutcomeOpen(problem)) settle();
    if (problem.status === 401) return;
    // A refusal without a code is not the bank's: after an earlier attempt it settles nothing.
    const isRefused = (problem.status === 400 || problem.status === 422) && (!wasUnsettled || problem.code !== "");
    if (isRefused) {
      // The bank may keep it under the key, and would answer the corrected transfer with it.
      dropKey();
      if (problem.code === "insufficient-funds") await loadAccounts().catch(() => {});
      if (goCorrect(problem, go)) return;
    }
    if (isUnsettled()) redraw();
    hooks.setFaulty(true);
    const notice = h("div", { tabindex: -1 }, problemNotice(problem, undefined, isUnsettled() ? "info" : "bad"));
    const place = faults.isConnected ? faults : document.querySelector(".send-faults");
    if (place) show(place, notice);
    focusOn(notice);
  }
}
