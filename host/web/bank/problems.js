// What a failure means to a person and what they can do next, in their language. The host's own sentences are
// English and written for developers, so they are not shown; its codes are what this goes by. No drawing.

import { hasText, t } from "./words.js";

/** Which text tells of a failure: by its code, else by the kind of its status. */
function keyOf({ code, status }) {
  if (hasText(`problem.${code}.title`)) return `problem.${code}`;
  if (status === 0) return "problem.unreachable";
  if (status === 401) return "problem.unauthorized";
  if (status === 429) return "problem.overloaded";
  if (status >= 500) return "problem.internal-error";
  return "problem.refused";
}

/** {title, advice, reference}: what happened, what to do, and what to tell the bank if it does not help. */
export function explain(problem) {
  const key = keyOf(problem);
  const seconds = Math.max(1, problem.retryAfterSeconds ?? 1);
  const what = problem.requestId || problem.code;
  return {
    title: t(`${key}.title`),
    advice: t(`${key}.advice`, { seconds }),
    reference: what && problem.status >= 400 ? t("problem.reference", { what }) : null,
  };
}

/** What is wrong with one field, by the host's code. */
export function fieldFault({ code }) {
  return t(hasText(`fault.${code}`) ? `fault.${code}` : "fault.other");
}

/** Whether a request may have been carried out although there is no answer to it. */
export function isOutcomeOpen({ status, code }) {
  if (status === 0) return true;
  // The host says of these itself that nothing was changed.
  const isUnchanged = ["overloaded", "model-unavailable", "decision-not-kept"].includes(code);
  return status >= 500 && !isUnchanged;
}
