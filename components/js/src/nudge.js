// Whether a person on a screen needs help: the request, what a correct answer looks like, its shape on the wire.

export const kind = "nudge";

/** Longest name of a screen in characters. */
const SCREEN_CHARS_MAX = 64;

/** Above these difficulties a person needs help, and step by step. */
const HELP_ABOVE = 0.4;
const ASSIST_ABOVE = 0.75;

const REASONS = { assist: "high_error_rate_or_time", info: "moderate_difficulty", warning: "low_difficulty" };

/** The order in which fields are read is the order of the server's errors. */
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

/** What is wrong with an answer that no correct model gives; empty when nothing is. */
export function fault({ needsHelp, difficultyScore: difficulty, recommendedNudgeType: type, reason }) {
  if (!(difficulty >= 0 && difficulty <= 1)) return "the difficulty is not a number from 0 to 1";
  if (type !== typeOf(difficulty)) return "the nudge type does not fit the difficulty";
  if (needsHelp !== (type !== "warning")) return "needs_help does not fit the difficulty";
  if (reason !== REASONS[type]) return "the reason does not fit the nudge type";
  return "";
}

function typeOf(difficulty) {
  if (difficulty > ASSIST_ABOVE) return "assist";
  return difficulty > HELP_ABOVE ? "info" : "warning";
}

export function answer({ needsHelp, difficultyScore, recommendedNudgeType, reason }, echo, model_version) {
  const result = {
    needs_help: needsHelp,
    difficulty_score: difficultyScore,
    recommended_nudge_type: recommendedNudgeType,
    reason,
  };
  return { ...echo, model_version, result };
}
