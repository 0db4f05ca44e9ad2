// How risky a transfer is: facts from the ledger, scored in this page. Each part has a fallback; the last is high
// risk, because an unscored transfer needs the most care.

/** @import { RiskAnswer, RiskRequest } from "../../../components/js/src/index.js" */
/** @import { FullDraft, Verdict } from "./types.js" */
import { asProblem } from "../shared/problem.js";
import * as api from "./api.js";
import { deviceFacts, isWaiting, noteOutcomes } from "./device.js";
import { riskFacts } from "./facts.js";
import { known, payeeOf } from "./known.js";
import { assess } from "./scorers.js";
import { localHour } from "./times.js";

const LEVELS = ["low", "medium", "high"];

/** Rejects answers that the page could not display. @param {RiskAnswer | null | undefined} answer @returns {answer is RiskAnswer} */
function isUsable(answer) {
  return LEVELS.includes(answer?.result?.risk_level ?? "") && Array.isArray(answer?.result.risk_factors);
}

/** Enough to find what was sent from here lately. */
const RECENT = 50;

/** What the browser knows about device and place, once it has heard what became of the transfers sent from here. @param {string} user */
async function deviceNow(user) {
  noteOutcomes(user, known.history);
  if (isWaiting(user)) {
    const recent = api.transfers({ limit: RECENT, timeoutMs: api.CONTEXT_TIMEOUT_MS });
    await recent.then(({ transfers }) => noteOutcomes(user, transfers)).catch(() => {});
  }
  return deviceFacts(user);
}

/** @param {FullDraft} draft @param {string} user @returns {Promise<Verdict>} */
export async function scoreRisk(draft, user) {
  const device = await deviceNow(user);
  const hour = localHour();
  let context = null;
  try {
    context = await api.riskContext({ ...draft, ...device, hour });
  } catch (error) {
    const problem = asProblem(error);
    // A refusal of the draft itself is an answer, since the payee may be gone. Only a missing answer has a fallback.
    if (problem.status === 401 || problem.status === 400) throw problem;
  }
  const facts =
    context?.request ??
    riskFacts({
      draft: { payee: payeeOf(draft.toBeneficiaryId), centavos: draft.centavos },
      // What somebody moves between their own accounts says nothing of how they pay others.
      history: known.history.filter((it) => !known.accounts?.some(({ id }) => id === it.toBeneficiaryId)),
      payees: known.payees ?? [],
      hour,
      ...device,
      savedAt: known.savedAt.get(draft.toBeneficiaryId),
      now: Date.now(),
    });
  const circumstances = {
    isNewDevice: device.isNewDevice,
    geolocationChanged: device.hasMoved,
    acknowledgmentToken: context?.acknowledgmentToken,
  };
  const answer = await assess("risk", facts, { isFresh: context !== null });
  return { ...judge(answer, context, facts), circumstances };
}

/** @param {RiskAnswer | null | undefined} answer @param {{ assessment: RiskAnswer } | null} context @param {RiskRequest} facts */
function judge(answer, context, facts) {
  if (isUsable(answer)) return verdict(answer, facts, context ? "page" : "page-alone");
  if (isUsable(context?.assessment)) return verdict(context.assessment, facts, "ledger");
  return verdict(null, facts, "none");
}

/** @param {RiskAnswer | null} answer @param {RiskRequest} facts @param {Verdict["scoredBy"]} scoredBy @returns {Verdict} */
function verdict(answer, facts, scoredBy) {
  if (!answer) return { level: "high", factors: [], modelVersion: null, facts, scoredBy };
  const { risk_level: level, risk_factors: factors, model_reasons: reasons } = answer.result;
  return { level, factors, reasons, modelVersion: answer.model_version, facts, scoredBy };
}
