// How risky a transfer is: facts from the ledger, scored in this page. Each part has a substitute, and the last of
// them is to treat a transfer as a high risk: what cannot be judged is not waved through. No drawing.

import * as api from "./api.js";
import { deviceFacts } from "./device.js";
import { riskFacts } from "./facts.js";
import { known, payeeOf } from "./known.js";
import { assess } from "./scorers.js";
import { localHour } from "./times.js";

const LEVELS = ["low", "medium", "high"];

/** A scorer's answer that cannot be shown is as good as none. */
function isUsable(answer) {
  return LEVELS.includes(answer?.result?.risk_level) && Array.isArray(answer.result.risk_factors);
}

/**
 * Judges a draft {fromAccountId, toBeneficiaryId, centavos} of a user:
 * {level, factors, modelVersion, facts, by}. `by` says who judged: 'page' with the ledger's facts, 'page-alone' with
 * what the page remembers, 'ledger' when no model is in the page, 'nobody' when there was none at all.
 */
export async function judge(draft, user) {
  const device = deviceFacts(user);
  const hour = localHour();
  let context = null;
  try {
    context = await api.riskContext({ ...draft, ...device, hour });
  } catch (error) {
    // What the ledger says of the draft itself is an answer: the payee may be gone. Only silence has a substitute.
    if (error.status === 401 || error.status === 400) throw error;
  }
  const facts =
    context?.request ??
    riskFacts({
      draft: { payee: payeeOf(draft.toBeneficiaryId), centavos: draft.centavos },
      history: known.history,
      payees: known.payees ?? [],
      hour,
      ...device,
      savedAt: known.savedAt.get(draft.toBeneficiaryId),
      now: Date.now(),
    });
  const answer = await assess("risk", facts, { isFresh: context !== null });
  if (isUsable(answer)) return verdict(answer, facts, context ? "page" : "page-alone");
  if (isUsable(context?.assessment)) return verdict(context.assessment, facts, "ledger");
  return { level: "high", factors: [], modelVersion: null, facts, by: "nobody" };
}

function verdict(answer, facts, by) {
  const { risk_level: level, risk_factors: factors } = answer.result;
  return { level, factors, modelVersion: answer.model_version, facts, by };
}
