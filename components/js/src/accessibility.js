// Which accessibility profile suits a person: request, checks of the answer, and the answer on the wire.

/** @import { Fields } from "./fields.js" */
/** @import { Part } from "./internal.js" */

/** @type {"accessibility"} */
export const kind = "accessibility";

const CONFIDENCE = ["low", "medium", "high"];

/** The age ranges of the API, and what the component calls them. */
/** @type {Record<string, string>} */
const AGES = { "18_30": "from18-to30", "31_50": "from31-to50", "51_60": "from51-to60", "60_plus": "over60" };

const BEHAVIOUR = ["avg_time_per_screen_seconds", "total_validation_errors", "requested_help_count"];

/** Text sizes, relative to the default. */
const FONT_SCALE_MIN = 0.8;
const FONT_SCALE_MAX = 2;

const BLANK = /^\p{White_Space}*$/u;

/** Fields are read in the order of the server's errors. @type {Part["read"]} */
export function read(fields, options) {
  const echo = { user_id: fields.id("user_id") };
  const confident = readConfidence(fields);
  // A questionnaire that uses the short name may leave behaviour out; the full name may not.
  const behaviourObserved = !confident.isByAlias || BEHAVIOUR.every((field) => fields.has(field));
  const [time, errors, help] = BEHAVIOUR.map((field) =>
    confident.isByAlias ? (fields.optionalCount(field) ?? 0) : fields.count(field),
  );
  const request = {
    canReadSmallText: fields.boolean("can_read_small_text"),
    usesScreenReader: fields.boolean("uses_screen_reader"),
    feelsConfidentWithApps: confident.value,
    ageRange: AGES[fields.oneOf("age_range", Object.keys(AGES)) ?? ""],
    avgTimePerScreenSeconds: time,
    totalValidationErrors: errors,
    requestedHelpCount: help,
    behaviourObserved,
    // `en-US` is English too; everything else gets the bank's first language.
    language: /^en(-|$)/i.test(options?.language ?? "") ? "en" : "es-mx",
  };
  return { request, echo };
}

/** `feels_confident_with_apps`, or the short name that the specification's wizard uses. @param {Fields} fields */
function readConfidence(fields) {
  const name = "feels_confident_with_apps";
  const alias = "app_confidence";
  if (!fields.has(alias)) return { value: fields.oneOf(name, CONFIDENCE), isByAlias: false };
  const byName = fields.optionalOneOf(name, CONFIDENCE);
  const byAlias = fields.optionalOneOf(alias, CONFIDENCE);
  if (byName && byAlias && byName !== byAlias) fields.refuse(alias, "conflict", `differs from ${name}`);
  return { value: byAlias ?? byName, isByAlias: !fields.has(name) };
}

/** @type {Part["fault"]} */
export function fault({ confidence, fontScale, explanation }) {
  if (!(confidence >= 0 && confidence <= 1)) return "the confidence is not a number from 0 to 1";
  if (!(fontScale >= FONT_SCALE_MIN && fontScale <= FONT_SCALE_MAX)) return "the font scale is out of range";
  const isEmpty =
    explanation.length === 0 || explanation.some((/** @type {string} */ sentence) => BLANK.test(sentence));
  return isEmpty ? "the explanation is empty" : "";
}

/** @type {Part["answer"]} */
export function answer(assessment, echo, model_version) {
  const recommendation = {
    theme: assessment.theme,
    screen_reader_mode: assessment.screenReaderMode,
    font_scale: assessment.fontScale,
    nudging_level: assessment.nudgingLevel,
    voice_feedback: assessment.voiceFeedback,
  };
  const { confidence, explanation } = assessment;
  return { ...echo, model_version, recommendation, confidence, explanation };
}
