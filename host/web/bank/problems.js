// What a failure means to a person and what they can do next, in their language. It goes by the host's codes: the
// host's sentences are in English and for developers.

/** @import { Problem } from "../shared/problem.js" */

import { counted, hasText, t } from "./words.js";

/** In seconds. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The text for a failure: by its code, else by its status. @param {Problem} problem */
function keyOf({ code, status }) {
  if (hasText(`problem.${code}.title`)) return `problem.${code}`;
  if (status === 0) return "problem.unreachable";
  if (status === 401) return "problem.unauthorized";
  if (status === 429 || code === "keys-unknown") return "problem.overloaded";
  if (status >= 500) return "problem.internal-error";
  return "problem.refused";
}

/** What happened, what to do, and what to tell the bank if that does not help, which few people need. @param {Problem} problem */
export function explain(problem) {
  const key = keyOf(problem);
  const seconds = Math.max(1, problem.retryAfterSeconds ?? 1);
  const { requestId, code, status } = problem;
  return {
    title: t(`${key}.title`),
    advice: t(`${key}.advice`, { wait: counted("wait", seconds) }),
    technical: [
      status >= 400 && requestId && t("problem.reference", { what: requestId }),
      status >= 400 && t("problem.code", { what: code || status }),
    ].filter((it) => typeof it === "string"),
  };
}

/** How long to wait, in the largest unit that is not a rough one. @param {number} seconds */
export function writeWait(seconds) {
  if (seconds < 2 * MINUTE) return counted("wait", Math.ceil(seconds));
  if (seconds < 2 * HOUR) return counted("wait.minutes", Math.ceil(seconds / MINUTE));
  return t("wait.hours", { hours: Math.ceil(seconds / HOUR) });
}

/** @param {{ code?: string }} error */
export function fieldFault({ code }) {
  return t(hasText(`fault.${code}`) ? `fault.${code}` : "fault.other");
}

/** Failures of the host of which it states that they changed nothing. */
const UNCHANGED = ["overloaded", "model-unavailable", "no-account-numbers", "keys-unknown"];

/** Whether a failed request may still have been carried out. @param {Problem} problem */
export function isOutcomeOpen({ status, code }) {
  if (status === 0) return true;
  return status >= 500 && !UNCHANGED.includes(code);
}
