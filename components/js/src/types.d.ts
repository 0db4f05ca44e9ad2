// Requests and answers; generated from the host's declarations.

/** The profile that fits. */
export interface AccessibilityAnswer {
  /** As sent; absent if it was not. */
  user_id?: string;
  /** Version of the model that answered. */
  model_version: string;
  /** `PUT /api/profile/accessibility` accepts it unchanged. */
  recommendation: Profile;
  /** Below 0.70, show the profile as a suggestion. From 0 to 1. */
  confidence: number;
  /** At least one plain sentence for the person, in the requested language. */
  explanation: Array<string>;
}

/** A person's answers, and observations of how they use the app. */
export type AccessibilityRequest =
  | {
      /** Echoed. At most 255 characters. */
      user_id?: string | null;
      /** How confident the person feels with apps. */
      feels_confident_with_apps: "low" | "medium" | "high";
      /** Average seconds per screen. An integer of at least 0, in s. */
      avg_time_per_screen_seconds: number;
      /** Total validation errors. An integer of at least 0. */
      total_validation_errors: number;
      /** Times the person asked for help. An integer of at least 0. */
      requested_help_count: number;
      /** The person says they can read small text. */
      can_read_small_text: boolean;
      /** The person uses a screen reader. */
      uses_screen_reader: boolean;
      /** Age range. */
      age_range: "18_30" | "31_50" | "51_60" | "60_plus";
      /** How confident the person feels with apps. */
      app_confidence?: "low" | "medium" | "high" | null;
    }
  | {
      /** Echoed. At most 255 characters. */
      user_id?: string | null;
      /** How confident the person feels with apps. */
      app_confidence: "low" | "medium" | "high";
      feels_confident_with_apps?: null;
      /** Average seconds per screen. An integer of at least 0, in s. */
      avg_time_per_screen_seconds?: number | null;
      /** Total validation errors. An integer of at least 0. */
      total_validation_errors?: number | null;
      /** Times the person asked for help. An integer of at least 0. */
      requested_help_count?: number | null;
      /** The person says they can read small text. */
      can_read_small_text: boolean;
      /** The person uses a screen reader. */
      uses_screen_reader: boolean;
      /** Age range. */
      age_range: "18_30" | "31_50" | "51_60" | "60_plus";
    };

/** What is wrong with one field. */
export interface FieldError {
  /** A body's field, a query parameter or a header; empty for the whole body. */
  field: string;
  /** Machine-readable. */
  code: string;
  /** Completes the sentence that begins with the field's name. */
  detail: string;
}

/** Whether a person needs help. */
export interface NudgeAnswer {
  /** As sent; absent if it was not. */
  user_id?: string;
  /** As sent; absent if it was not. */
  session_id?: string;
  /** As sent. */
  screen: string;
  /** Version of the model that answered. */
  model_version: string;
  result: NudgeResult;
}

/** A person's behaviour on a screen. */
export interface NudgeRequest {
  /** Echoed. At most 255 characters. */
  user_id?: string | null;
  /** Echoed. At most 255 characters. */
  session_id?: string | null;
  /** Name of the screen. Known screens have their own usual time. At most 64 characters. */
  screen: string;
  /** Validation errors shown. An integer of at least 0. */
  num_validation_errors: number;
  /** Seconds on the screen. An integer of at least 0, in s. */
  time_on_screen_seconds: number;
  /** Times the person went back. An integer of at least 0. */
  num_back_navigations: number;
  /** Steps of the flow. An integer of at least 1. */
  steps_total: number;
  /** The current step. An integer of at least 1. */
  current_step: number;
}

/** The help to offer. */
export interface NudgeResult {
  /** Whether to offer help: a difficulty above 0.40. */
  needs_help: boolean;
  /** From 0 to 1. */
  difficulty_score: number;
  /** `assist` above 0.75: help step by step. `info` above 0.40: a hint. `warning`: at most a quiet note. */
  recommended_nudge_type: "assist" | "info" | "warning";
  /** One reason for each type. */
  reason: "high_error_rate_or_time" | "moderate_difficulty" | "low_difficulty";
}

/** How the client looks and behaves. */
export interface Profile {
  theme: "standard-accessible" | "large-text-high-contrast" | "voice-assisted";
  screen_reader_mode: boolean;
  /** Text size relative to the default. From 0.8 to 2. */
  font_scale: number;
  /** How often the client offers help unprompted. */
  nudging_level: "low" | "medium" | "high";
  voice_feedback: boolean;
}

/** How risky a transfer is. */
export interface RiskAnswer {
  /** As sent; absent if it was not. */
  user_id?: string;
  /** Version of the model that answered. */
  model_version: string;
  result: RiskResult;
}

/** A transfer to score. */
export interface RiskRequest {
  /** Echoed. At most 255 characters. */
  user_id?: string | null;
  /** Amount of the transfer. Finite, at least 0, in MXN. */
  amount: number;
  /** The user has never completed a transfer to this beneficiary. */
  is_new_beneficiary: boolean;
  /** The sender's local hour. An integer from 0 to 23. */
  hour_of_day: number;
  /** Transfers that the user completed before. An integer of at least 0. */
  num_past_transactions: number;
  /** Average amount of those; 0 when there are none. Finite, at least 0, in MXN. */
  avg_transaction_amount: number;
  /** Largest amount of those; 0 when there are none. Finite, at least 0, in MXN. */
  max_transaction_amount: number;
  /** Transfers that the user completed to this beneficiary. An integer of at least 0. */
  num_transactions_to_beneficiary: number;
  /** The device is new or not recognised. */
  is_new_device: boolean;
  /** The location differs from the usual one. */
  geolocation_changed: boolean;
  /** Minutes since the beneficiary was saved, when known. Can only lower the score. An integer of at least 0. */
  beneficiary_saved_minutes?: number | null;
  /** Transfers that the user sent to others in the last hour, when known. An integer of at least 0. */
  sent_count_1h?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_1h?: number | null;
  /** Transfers that the user sent to others in the last 24 hours, when known. An integer of at least 0. */
  sent_count_24h?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_24h?: number | null;
  /** Transfers that the user sent to others in the last 7 days, when known. An integer of at least 0. */
  sent_count_7d?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_7d?: number | null;
  /** Transfers that the user sent to others in the last 30 days, when known. An integer of at least 0. */
  sent_count_30d?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_30d?: number | null;
  /** Those to this beneficiary's account in the last hour, when known. An integer of at least 0. */
  to_payee_count_1h?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_1h?: number | null;
  /** Those to this beneficiary's account in the last 24 hours, when known. An integer of at least 0. */
  to_payee_count_24h?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_24h?: number | null;
  /** Those to this beneficiary's account in the last 7 days, when known. An integer of at least 0. */
  to_payee_count_7d?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_7d?: number | null;
  /** Those to this beneficiary's account in the last 30 days, when known. An integer of at least 0. */
  to_payee_count_30d?: number | null;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_30d?: number | null;
  /** Beneficiaries that the user saved today and has still, when known. An integer of at least 0. */
  payees_added_today?: number | null;
  /** Orders of the user that were refused for good in the last hour, when known. An integer of at least 0. */
  refusals_1h?: number | null;
  /** Minutes since the user's limits were changed, when they were. An integer of at least 0. */
  minutes_since_limits_change?: number | null;
  /** Those who paid the beneficiary in the last 24 hours, if the account is at this bank. An integer of at least 0. */
  payee_senders_24h?: number | null;
  /** What they paid. Finite, at least 0, in MXN. */
  payee_received_24h?: number | null;
  /** Minutes from the last time that the beneficiary was paid to when they sent money on, if that was in the last 24 hours. An integer of at least 0. */
  payee_minutes_to_sending?: number | null;
}

/** The verdict on a transfer. */
export interface RiskResult {
  /** `low`: proceed. `medium`: explain and ask for confirmation. `high`: ask for an explicit acknowledgment. */
  risk_level: "low" | "medium" | "high";
  /** By default, `low` below 0.25 and `high` from 0.75; a deployment may have other cut-offs. From 0 to 1. */
  risk_score: number;
  /** Facts that make the transfer unusual. Empty where none is, although a model may see a risk all the same. */
  risk_factors: Array<"AMOUNT_MUCH_HIGHER_THAN_AVERAGE" | "NEW_BENEFICIARY" | "UNUSUAL_TIME" | "NEW_DEVICE" | "LOCATION_CHANGED" | "LOW_HISTORY">;
  /** The model's own reasons; absent if it has none. */
  model_reasons?: Array<string>;
}

/** Requests, answers and the package's models of each kind. */
export interface Kinds {
  risk: { request: RiskRequest; answer: RiskAnswer; model: "risk-2" | "risk-1" };
  nudge: { request: NudgeRequest; answer: NudgeAnswer; model: "nudge-1" };
  accessibility: { request: AccessibilityRequest; answer: AccessibilityAnswer; model: "accessibility-2" };
}
