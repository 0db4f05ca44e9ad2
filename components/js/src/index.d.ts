// Types of the package, the same for browsers, Node and workerd. Names and meanings are those of the HTTP API.

/** What is scored: a transfer, a visit to a screen, a person's needs. */
export type Kind = "risk" | "nudge" | "accessibility";

/** Facts about a transfer and its sender. Money is in MXN. */
export interface RiskRequest {
  /** Amount of the transfer; finite, >= 0. */
  amount: number;
  /** The user has never sent this recipient a transfer. */
  is_new_beneficiary: boolean;
  /** The sender's local hour, an integer from 0 to 23. */
  hour_of_day: number;
  /** Transfers that the user has completed; an integer >= 0. Larger counts saturate at 4,294,967,295. */
  num_past_transactions: number;
  /** Their average amount; finite, >= 0; 0 when there are none. */
  avg_transaction_amount: number;
  /** Their largest amount; finite, >= 0; 0 when there are none. */
  max_transaction_amount: number;
  /** Transfers that the user has completed to this recipient; an integer >= 0. */
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

/** Codes of the risk factors, in the order of their listing. */
export type RiskFactor =
  | "AMOUNT_MUCH_HIGHER_THAN_AVERAGE"
  | "NEW_BENEFICIARY"
  | "UNUSUAL_TIME"
  | "NEW_DEVICE"
  | "LOCATION_CHANGED"
  | "LOW_HISTORY";

export interface RiskAnswer {
  /** Echoed, if it was sent. */
  user_id?: string;
  /** Which model answered, for example `risk-2.0.0+8efe6cf7`. */
  model_version: string;
  result: {
    /** `low`: go on. `medium`: explain and ask for confirmation. `high`: ask for an explicit acknowledgment. */
    risk_level: "low" | "medium" | "high";
    /** 0 to 1: `low` below 0.25, `high` from 0.75. */
    risk_score: number;
    /** The reasons; not empty unless the level is `low`. */
    risk_factors: RiskFactor[];
  };
}

/** What a person has done on a screen so far. */
export interface NudgeRequest {
  /** Name of the screen; 1 to 64 characters, not blank. Known screens have their own usual times. */
  screen: string;
  /** Validation errors shown; an integer >= 0. */
  num_validation_errors: number;
  /** Seconds on the screen; an integer >= 0. */
  time_on_screen_seconds: number;
  /** Times that the person went back; an integer >= 0. */
  num_back_navigations: number;
  /** Steps of the flow; an integer >= 1. */
  steps_total: number;
  /** The current step; an integer >= 1. */
  current_step: number;
  /** Echoed; at most 255 characters. */
  user_id?: string | null;
  /** Echoed; at most 255 characters. */
  session_id?: string | null;
}

export interface NudgeAnswer {
  /** Echoed, if it was sent. */
  user_id?: string;
  /** Echoed, if it was sent. */
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
  /** The person reads small text well. */
  can_read_small_text: boolean;
  /** The person uses a screen reader. */
  uses_screen_reader: boolean;
  age_range: "18_30" | "31_50" | "51_60" | "60_plus";
  /** Echoed; at most 255 characters. */
  user_id?: string | null;
}

type Confidence = "low" | "medium" | "high";

/** A person's answers, and how they use the app. */
export type AccessibilityRequest =
  | (AccessibilityFacts & {
      /** How confident the person feels with apps. */
      feels_confident_with_apps: Confidence;
      app_confidence?: Confidence | null;
      /** Average seconds per screen; an integer >= 0. */
      avg_time_per_screen_seconds: number;
      /** Validation errors in total; an integer >= 0. */
      total_validation_errors: number;
      /** Times that the person asked for help; an integer >= 0. */
      requested_help_count: number;
    })
  | (AccessibilityFacts & {
      /** A short name of the same question. With it behaviour may be left out, which lowers the confidence. */
      app_confidence: Confidence;
      feels_confident_with_apps?: null;
      avg_time_per_screen_seconds?: number | null;
      total_validation_errors?: number | null;
      requested_help_count?: number | null;
    });

export interface AccessibilityAnswer {
  /** Echoed, if it was sent. */
  user_id?: string;
  /** Which model answered. */
  model_version: string;
  /** A profile, as PUT /api/profile/accessibility accepts it. */
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
  /** At least one plain sentence for the person, in the requested language. */
  explanation: string[];
}

export interface AccessibilityOptions {
  /** A language tag: English for `en` and its variants, Mexican Spanish otherwise and by default. */
  language?: string;
}

/** A model, ready to score. Each call runs in its own instance and keeps nothing from earlier calls. */
export interface Scorer<Request, Answer, Options = never> {
  readonly kind: Kind;
  /** The `model_version` of its answers. */
  readonly modelVersion: string;
  /** SHA-256 of the component file in hex, as in the host. */
  readonly sha256: string;
  /**
   * Scores a request, as `assessText(JSON.stringify(request))` does. Synchronous; takes about 0.2 ms.
   *
   * @throws {InvalidRequest} when the HTTP API would refuse the body, with the same status, code and errors.
   * @throws {ModelFailed} when the model has no usable answer.
   */
  assess(request: Request, options?: Options): Answer;
  /** Scores a body of the HTTP API, parsed as the server parses it. Throws as `assess` does. */
  assessText(text: string, options?: Options): Answer;
}

export type RiskScorer = Scorer<RiskRequest, RiskAnswer>;
export type NudgeScorer = Scorer<NudgeRequest, NudgeAnswer>;
export type AccessibilityScorer = Scorer<AccessibilityRequest, AccessibilityAnswer, AccessibilityOptions>;

export interface LoadOptions<Model extends string> {
  /** A model of the package; by default that of the kind. */
  model?: Model;
}

/**
 * Loads a model of the package. Its parts are fetched and compiled once, however often it is loaded.
 *
 * Rejects with a RangeError for an unknown kind or model, and with an Error when a part cannot be fetched or belongs to
 * another release; the latter can be tried again.
 */
export function load(kind: "risk", options?: LoadOptions<"risk-1" | "risk-2">): Promise<RiskScorer>;
export function load(kind: "nudge", options?: LoadOptions<"nudge-1">): Promise<NudgeScorer>;
export function load(kind: "accessibility", options?: LoadOptions<"accessibility-1">): Promise<AccessibilityScorer>;

/** Why the host's model does not score. */
export interface LiveProblem {
  /**
   * `unreachable`: no answer, or an error. `not-published`: the host does not publish models of this kind.
   * `other-glue`: the model in service needs another release of this package. `too-large`, `wrong-sha256`,
   * `other-origin`, `bad-answer`, `unusable`: the offered model is not valid. `insecure`: digests need https or
   * localhost.
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
  /** A sentence for operators of the page. */
  detail: string;
}

export interface LiveOptions {
  /** Address of the host's ledger listener; in browsers by default the page's own origin. */
  base?: string | URL;
  /** Seconds between two checks, from 1 to 86,400; by default 30. */
  everySeconds?: number;
  /** Called after each change of the model, not for the first one. */
  onChange?(modelVersion: string): void;
}

/** What a live scorer has in addition. Its `modelVersion` and `sha256` change with the model. */
export interface Live {
  /** Null while the host's model scores. */
  readonly problem: LiveProblem | null;
  /** Checks the host now; resolves to whether the model changed, and never rejects. */
  check(): Promise<boolean>;
  /** Stops checking; the present model continues to score. */
  close(): void;
}

/**
 * Loads what a Caudal host has in service and follows it: after a deployment there, the next call here uses the new
 * model. One model answers a call from start to end.
 *
 * If the host is slow, resolves within three seconds with the last good model: in browsers the one of an earlier visit,
 * otherwise the one of the package. Rejects with a RangeError or TypeError for invalid options, with an Error when there
 * is no model at all, and always in workerd, which compiles nothing at run time.
 */
export function live(kind: "risk", options?: LiveOptions): Promise<RiskScorer & Live>;
export function live(kind: "nudge", options?: LiveOptions): Promise<NudgeScorer & Live>;
export function live(kind: "accessibility", options?: LiveOptions): Promise<AccessibilityScorer & Live>;

/** What is wrong with one field. */
export interface FieldError {
  /** The field; empty for the body as a whole. */
  field: string;
  /** For programs: `required`, `wrong-type`, `out-of-range`, `unknown-value`, `blank`, `too-long`, ... */
  code: string;
  /** For people, in English. */
  detail: string;
}

/** The request was refused, as the HTTP API refuses it. */
export class InvalidRequest extends Error {
  readonly name: "InvalidRequest";
  /** 400: not JSON. 413: more than 65,536 bytes. 422: faults of fields. */
  readonly status: 400 | 413 | 422;
  readonly code: "malformed-json" | "payload-too-large" | "validation-failed";
  readonly title: string;
  readonly detail: string;
  /** All faults of fields, in the server's order; empty for 400 and 413. */
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
