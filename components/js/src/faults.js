// Finds answers that no correct model gives.

/** @import { CutOffs } from "./index.js" */
/** @import { AnswerField, Schema } from "./internal.js" */
import { BLANK } from "./fields.js";

/** The declaration of a field of an answer. @param {AnswerField[]} fields @param {string} name @returns {AnswerField} */
export function find(fields, name) {
  const own = fields.find((field) => field.name === name);
  return own ?? find(/** @type {AnswerField[]} */ (fields.find((field) => field.fields)?.fields), name);
}

/** @param {AnswerField} field @param {number} value */
export const isWithin = ({ at_least = -Infinity, at_most = Infinity }, value) => value >= at_least && value <= at_most;

/** The level of a score. @param {AnswerField[]} answer @param {number} score @param {CutOffs | Schema["thresholds"]} cutOffs */
export function levelOf(answer, score, { medium_from, high_from }) {
  const [low, medium, high] = /** @type {string[]} */ (find(answer, "risk_level").texts);
  return score >= high_from ? high : score >= medium_from ? medium : low;
}

/** What is wrong with an answer, or "". @type {Record<string, (assessment: any, schema: Schema) => string>} */
const FAULTS = {
  risk({ level, score, base, contributions, factors }, { answer, thresholds }) {
    const codes = find(answer, "risk_factors").texts;
    if (!isWithin(find(answer, "risk_score"), score)) return "the score is not a number from 0 to 1";
    if (level !== levelOf(answer, score, thresholds)) return "the level does not fit the score";
    const weights = [base, ...contributions.map((/** @type {any} */ it) => it.weight)];
    if (!weights.every(Number.isFinite)) return "a contribution is not a finite number";
    if (!factors.every((/** @type {string} */ code) => codes?.includes(code))) return "a factor code is unknown";
    if (score >= thresholds.medium_from && factors.length === 0) return "a medium or high verdict has no factor";
    return "";
  },

  nudge({ needsHelp, difficultyScore: difficulty, recommendedNudgeType: type, reason }, { answer, thresholds }) {
    const types = /** @type {string[]} */ (find(answer, "recommended_nudge_type").texts);
    if (!isWithin(find(answer, "difficulty_score"), difficulty)) return "the difficulty is not a number from 0 to 1";
    const rank = difficulty > thresholds.assist_above ? 0 : difficulty > thresholds.help_above ? 1 : 2;
    if (type !== types[rank]) return "the nudge type does not fit the difficulty";
    if (needsHelp !== rank < 2) return "needs_help does not fit the difficulty";
    if (reason !== find(answer, "reason").texts?.[rank]) return "the reason does not fit the nudge type";
    return "";
  },

  accessibility({ confidence, fontScale, explanation }, { answer }) {
    if (!isWithin(find(answer, "confidence"), confidence)) return "the confidence is not a number from 0 to 1";
    if (!isWithin(find(answer, "font_scale"), fontScale)) return "the font scale is out of range";
    const isEmpty = explanation.length === 0 || explanation.some((/** @type {string} */ it) => BLANK.test(it));
    return isEmpty ? "the explanation is empty" : "";
  },
};

/** @param {any} assessment @param {Schema} schema */
export const fault = (assessment, schema) => FAULTS[schema.kind](assessment, schema);
