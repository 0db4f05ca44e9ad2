// Types of the package, the same for browsers, Node and workerd. Names and meanings are those of the HTTP API.

/** What is scored: a transfer, a visit to a screen, a person's needs. */
export type Kind = "risk" | "nudge" | "accessibility";

/** Facts about a transfer and its sender. Money is in MXN. */
export interface RiskRequest {
  /** Amount of the transfer; finite, >= 0. */
  amount: number;
  /** The recipient never received a transfer from this user. */
  is_new_beneficiary: boolean;
  /** The sender's local hour, an integer from 0 to 23. */
  hour_of_day: number;
  /** Transfers that the user completed before; an integer >= 0. Counts beyond 4,294,967,295 count as that. */
  num_past_transactions: number;
  /** Average amount of those; finite, >= 0; 0 when there are none. */
  avg_transaction_amount: number;
  /** Largest amount of those; finite, >= 0; 0 when there are none. */
  max_transaction_amount: number;
  /** Transfers that the user completed to this recipient; an integer >= 0. */
  num_transactions_to_beneficiary: number;
  /** The device is new or not recognised. */
  is_new_device: boolean;
  /** The location differs from the usual one. */
  geolocation_changed: boolean;
  /** Minutes since the recipient was saved; an integer >= 0. Can only lower the score; null counts as absent. */
  beneficiary_saved_minutes?: number | null;
  /** Echoed; at most 255 characters. */
  user_id?: string | null;
}

/** Codes of the reasons for a risk, in the order in which they are listed. */
export type RiskFactor =
  | "AMOUNT_MUCH_HIGHER_THAN_AVERAGE"
  | "NEW_BENEFICIARY"
  | "UNUSUAL_TIME"
  | "NEW_DEVICE"
  | "LOCATION_CHANGED"
  | "LOW_HISTORY";

export interface RiskAnswer {
  /** As it was sent; absent when it was not. */
  user_id?: string;
  /** Which model answered, for example `risk-2.0.0+8efe6cf7`. */
  model_version: string;
  result: {
    /** `low`: go on. `medium`: explain and ask for confirmation. `high`: ask for an explicit acknowledgment. */
    risk_level: "low" | "medium" | "high";
    /** 0 to 1: `low` below 0.25, `high` from 0.75. */
    risk_score: number;
    /** What speaks against the transfer; not empty unless the level is `low`. */
    risk_factors: RiskFactor[];
  };
}

/** What was seen of a person on a screen so far. */
export interface NudgeRequest {
  /** Name of the screen; 1 to 64 characters, not blank. Known names have a usual time of their own. */
  screen: string;
  /** Validation errors shown; an integer >= 0. */
  num_validation_errors: number;
  /** Seconds on the screen; an integer >= 0. */
  time_on_screen_seconds: number;
  /** Times the person went back; an integer >= 0. */
  num_back_navigations: number;
  /** Steps of the flow; an integer >= 1. */
  steps_total: number;
  /** The present step; an integer >= 1. */
  current_step: number;
  /** Echoed; at most 255 characters. */
  user_id?: string | null;
  /** Echoed; at most 255 characters. */
  session_id?: string | null;
}

export interface NudgeAnswer {
  /** As it was sent; absent when it was not. */
  user_id?: string;
  /** As it was sent; absent when it was not. */
  session_id?: string;
  screen: string;
  /** Which model answered. */
  model_version: string;
  result: {
    /** Whether to offer help: a difficulty above 0.40. */
    needs_help: boolean;
    /** 0 to 1. */
    difficulty_score: number;
    /** `assist` above 0.75: help step by step. `info` above 0.40: a hint. `warning`: at most a quiet note. */
    recommended_nudge_type: "assist" | "info" | "warning";
    /** One for each type, in the same order. */
    reason: "high_error_rate_or_time" | "moderate_difficulty" | "low_difficulty";
  };
}

interface AccessibilityFacts {
  /** The person says that small text is fine. */
  can_read_small_text: boolean;
  /** The person uses a screen reader. */
  uses_screen_reader: boolean;
  age_range: "18_30" | "31_50" | "51_60" | "60_plus";
  /** Echoed; at most 255 characters. */
  user_id?: string | null;
}

type Confidence = "low" | "medium" | "high";

/** A person's answers, and what was seen of how they use the app. */
export type AccessibilityRequest =
  | (AccessibilityFacts & {
      /** How sure the person feels with apps. */
      feels_confident_with_apps: Confidence;
      app_confidence?: Confidence | null;
      /** Average seconds per screen; an integer >= 0. */
      avg_time_per_screen_seconds: number;
      /** Validation errors in all; an integer >= 0. */
      total_validation_errors: number;
      /** Times the person asked for help; an integer >= 0. */
      requested_help_count: number;
    })
  | (AccessibilityFacts & {
      /** The short name of the same question: with it behaviour may be left out, and confidence is lower then. */
      app_confidence: Confidence;
      feels_confident_with_apps?: null;
      avg_time_per_screen_seconds?: number | null;
      total_validation_errors?: number | null;
      requested_help_count?: number | null;
    });

export interface AccessibilityAnswer {
  /** As it was sent; absent when it was not. */
  user_id?: string;
  /** Which model answered. */
  model_version: string;
  /** A profile; PUT /api/profile/accessibility takes it as it is. */
  recommendation: {
    theme: "standard-accessible" | "large-text-high-contrast" | "voice-assisted";
    screen_reader_mode: boolean;
    /** Text size relative to the default, 0.8 to 2.0. */
    font_scale: number;
    nudging_level: "low" | "medium" | "high";
    voice_feedback: boolean;
  };
  /** 0 to 1; below 0.70 show the profile as a suggestion. */
  confidence: number;
  /** At least one plain sentence for the person, in the language that was asked for. */
  explanation: string[];
}

export interface AccessibilityOptions {
  /** A language tag. `en` and its variants get English, everything else Mexican Spanish, as does nothing. */
  language?: string;
}

/** A model, ready to score. Each call runs in an instance of its own and remembers nothing of the one before. */
export interface Scorer<Request, Answer, Options = never> {
  readonly kind: Kind;
  /** The `model_version` of its answers. */
  readonly modelVersion: string;
  /** SHA-256 of the component, in hex: the same file as in the host. */
  readonly sha256: string;
  /**
   * Scores a request: the same as `assessText(JSON.stringify(request))`. Takes about 0.2 ms and is synchronous.
   *
   * @throws {InvalidRequest} when the HTTP API would refuse the body, with the same status, code and errors.
   * @throws {ModelFailed} when the model gives no usable answer.
   */
  assess(request: Request, options?: Options): Answer;
  /** Scores a body of the HTTP API, read as the server reads it. Throws as `assess` does. */
  assessText(text: string, options?: Options): Answer;
}

export type RiskScorer = Scorer<RiskRequest, RiskAnswer>;
export type NudgeScorer = Scorer<NudgeRequest, NudgeAnswer>;
export type AccessibilityScorer = Scorer<AccessibilityRequest, AccessibilityAnswer, AccessibilityOptions>;

export interface LoadOptions<Model extends string> {
  /** A model of the package; the default of its kind when left out. */
  model?: Model;
}

/**
 * Loads a model of the package. Its parts are fetched and compiled once, however often it is loaded.
 *
 * Rejects with a RangeError for a kind or model that is not there, and with an Error when a part cannot be fetched or
 * is not the one of this release; then it can be tried again.
 */
export function load(kind: "risk", options?: LoadOptions<"risk-1" | "risk-2">): Promise<RiskScorer>;
export function load(kind: "nudge", options?: LoadOptions<"nudge-1">): Promise<NudgeScorer>;
export function load(kind: "accessibility", options?: LoadOptions<"accessibility-1">): Promise<AccessibilityScorer>;

/** Why the host's model is not the one that scores. */
export interface LiveProblem {
  /**
   * `unreachable`: no answer, or an error. `not-published`: the host keeps models of this kind to itself.
   * `other-glue`: what is in service needs another release of this package. `too-large`, `wrong-sha256`,
   * `other-origin`, `bad-answer`, `unusable`: what was offered is not in order. `insecure`: digests can only be
   * computed on https and localhost.
   */
  code:
    | "unreachable"
    | "not-published"
    | "other-glue"
    | "too-large"
    | "wrong-sha256"
    | "other-origin"
    | "bad-answer"
    | "unusable"
    | "insecure";
  /** One sentence for people who look after the page. */
  detail: string;
}

export interface LiveOptions {
  /** Address of the host's ledger listener. In browsers the page's own origin when left out. */
  base?: string | URL;
  /** Seconds between two looks at the host, from 1 to 86,400; 30 when left out. */
  everySeconds?: number;
  /** Called after each switch to another model, not for the one that it begins with. */
  onChange?(modelVersion: string): void;
}

/** What a live scorer has besides a scorer. `modelVersion` and `sha256` change as models do. */
export interface Live {
  /** Null while the host's model is the one that scores. */
  readonly problem: LiveProblem | null;
  /** Looks at the host now; resolves to whether the model changed, and never rejects. */
  check(): Promise<boolean>;
  /** Ends looking at the host. What is there goes on scoring. */
  close(): void;
}

/**
 * Loads what a Caudal host has in service and follows it: when another model is deployed there, the next call here is
 * answered by it. A call is answered by one model from beginning to end.
 *
 * Resolves after at most three seconds if the host is slow, with the last good model: in browsers the one of an earlier
 * visit, else the one of the package. Rejects with a RangeError or TypeError for options without a sense, with an Error
 * when there is nothing at all to score with, and always in workerd, which compiles nothing at run time.
 */
export function live(kind: "risk", options?: LiveOptions): Promise<RiskScorer & Live>;
export function live(kind: "nudge", options?: LiveOptions): Promise<NudgeScorer & Live>;
export function live(kind: "accessibility", options?: LiveOptions): Promise<AccessibilityScorer & Live>;

/** What is wrong with one field. */
export interface FieldError {
  /** The field; empty when the body as a whole is meant. */
  field: string;
  /** For programs: `required`, `wrong-type`, `out-of-range`, `unknown-value`, `blank`, `too-long`, ... */
  code: string;
  /** For people, in English. */
  detail: string;
}

/** The request was refused, as the HTTP API refuses it. */
export class InvalidRequest extends Error {
  readonly name: "InvalidRequest";
  /** 400: no JSON. 413: more than 65,536 bytes. 422: fields are at fault. */
  readonly status: 400 | 413 | 422;
  readonly code: "malformed-json" | "payload-too-large" | "validation-failed";
  readonly title: string;
  readonly detail: string;
  /** Everything that is wrong with fields, in the server's order; empty for 400 and 413. */
  readonly errors: FieldError[];
}

/** The model trapped, or its answer cannot be right. Nothing was decided. `cause` says why. */
export class ModelFailed extends Error {
  readonly name: "ModelFailed";
  readonly status: 503;
  readonly code: "model-unavailable";
  readonly title: string;
  readonly detail: string;
  readonly errors: [];
}
