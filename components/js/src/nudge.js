// Whether a person needs help on a screen: request, checks of the answer, and the answer on the wire.

/** @import { Part } from "./internal.js" */

/** @type {"nudge"} */
export const kind = "nudge";

const SCREEN_CHARS_MAX = 64;

/** Above these difficulties a person needs a hint, and step-by-step help. */
const HELP_ABOVE = 0.4;
const ASSIST_ABOVE = 0.75;

/** @type {Record<string, string>} */
const REASONS = { assist: "high_error_rate_or_time", info: "moderate_difficulty", warning: "low_difficulty" };

/** Fields are read in the order of the server's errors. @type {Part["read"]} */
export function read(fields) {
  const echo = { user_id: fields.id("user_id"), session_id: fields.id("session_id") };
  const screen = fields.text("screen", SCREEN_CHARS_MAX);
  const request = {
    screen,
    numValidationErrors: fields.count("num_validation_errors"),
    timeOnScreenSeconds: fields.count("time_on_screen_seconds"),
    numBackNavigations: fields.count("num_back_navigations"),
    stepsTotal: fields.count("steps_total", 1),
    currentStep: fields.count("current_step", 1),
  };
  return { request, echo: { ...echo, screen } };
}

/** @type {Part["fault"]} */
export function fault({ needsHelp, difficultyScore: difficulty, recommendedNudgeType: type, reason }) {
  if (!(difficulty >= 0 && difficulty <= 1)) return "the difficulty is not a number from 0 to 1";
  if (type !== typeOf(difficulty)) return "the nudge type does not fit the difficulty";
  if (needsHelp !== (type !== "warning")) return "needs_help does not fit the difficulty";
  if (reason !== REASONS[type]) return "the reason does not fit the nudge type";
  return "";
}

/** @param {number} difficulty */
function typeOf(difficulty) {
  if (difficulty > ASSIST_ABOVE) return "assist";
  return difficulty > HELP_ABOVE ? "info" : "warning";
}

/** @type {Part["answer"]} */
export function answer({ needsHelp, difficultyScore, recommendedNudgeType, reason }, echo, model_version) {
  const result = {
    needs_help: needsHelp,
    difficulty_score: difficultyScore,
    recommended_nudge_type: recommendedNudgeType,
    reason,
  };
  return { ...echo, model_version, result };
}
