// Answers of the service; generated from the host's declarations.

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

/** One of the user's accounts. */
export interface Account {
  id: string;
  accountNumber: string;
  accountType: string;
  balance: number;
  /** The part of the balance that open holds set aside, if there are any. */
  held?: number;
  /** True if no money may leave the account. */
  frozen?: boolean;
  currency: "MXN";
}

/** The active model of a kind, as files that a page can run. */
export interface ActiveModel {
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  model_version: string;
  /** Digest of the component. */
  sha256: string;
  /** The contract between a host and its components. */
  wit: "caudal:scoring@1.0.0";
  core: ModelFile;
  glue: ModelFile;
}

/** An action that takes two operators. */
export interface Approval {
  id: string;
  /** What is to be done, as it was proposed. */
  action: unknown;
  /** SHA-256 of the action and the reason. Whoever approves repeats it, so they approve what they read. */
  digest: string;
  reason: string;
  state: "pending" | "approved" | "executed" | "withdrawn" | "expired";
  proposedBy: string;
  proposedAt: string;
  expiresAt: string;
  /** Who approved or withdrew it; left out while nobody has. */
  decidedBy?: string;
  decidedAt?: string;
  /** When it was carried out; left out if it was not. */
  executedAt?: string;
}

/** Actions that take two operators, newest first. */
export interface Approvals {
  approvals: Array<Approval>;
  /** Actions that this host cannot read, and left out: those of another release. */
  unreadable: number;
}

/** An account's balance at an instant. */
export interface Balance {
  accountId: string;
  at: string;
  balance: number;
  currency: "MXN";
}

/** A payee. Fields derived from its number are omitted if unknown. */
export interface Beneficiary {
  id: string;
  name: string;
  alias?: string;
  accountNumber: string;
  bankName: string;
  isFavorite: boolean;
  accountNumberType?: string;
  /** The bank that the number belongs to. */
  derivedBank?: string;
  /** Possible mistakes. */
  warnings?: Array<"clabe-check-digit" | "bank-name-differs">;
}

/** What became of a transfer of a bulk. */
export interface BulkResult {
  idempotencyKey: string;
  /** HTTP status of the same transfer sent alone. After 429 or 503, send it again with its key, in another bulk if you like: 429 `too-many-pending` if the user has as many pending payments as is allowed. An integer from 200 to 599. */
  status: number;
  /** Whether this repeats the answer to an earlier request with this key. */
  replayed: boolean;
  /** Present if it was made. */
  transaction?: Transaction;
  /** Present if it was not. */
  problem?: Problem;
}

/** What became of each transfer of a bulk, in the order of the request. */
export interface BulkResults {
  results: Array<BulkResult>;
}

/** A version that answers some users. */
export interface Canary {
  version: string | null;
  /** Percentage of users. An integer from 1 to 99. */
  percent: number;
  /** Percentage of answers in another class than the champion's above which it is withdrawn. An integer from 1 to 100. */
  max_flip_percent: number;
}

/** A challenger compared with the champion. */
export interface Challenger {
  /** `model_version`. */
  version: string;
  /** `canary` or `shadow`. */
  role: string;
  /** Share of users, for a canary. An integer from 0 to 255. */
  percent: number | null;
  /** Requests that both answered: of those observed, a shadow's all, a canary's only its own users'. */
  compared: number;
  /** Requests on which it failed, by kind of failure. */
  failed: Record<string, number>;
  /** The verdicts, in the order of `flips`. */
  classes: Array<string>;
  /** Counts by the champion's verdict (row) and the challenger's (column). */
  flips: Array<Array<number>>;
  /** Share of compared requests with different verdicts, 0 to 1. */
  flip_share: number;
  /** The same with its interval. */
  flip: Share;
  /** Of the requests that it answered or failed on, those on which it failed. */
  failure: Share;
  /** The challenger's score minus the champion's. */
  difference: Difference;
  /** Population stability index of the challenger's scores against the champion's. */
  score_psi: number | null;
  latency_us: Latencies;
  /** Why the canary was withdrawn. */
  withdrawn: string | null;
  /** Distribution of the scores. */
  scores: Scores;
}

/** How the challengers of a deployment compare with its champion. */
export interface ChallengersReport {
  kind: string;
  /** Of the deployment. */
  epoch: number;
  /** The deployment is in service. */
  current: boolean;
  /** `model_version` of the champion. */
  champion: string;
  /** When it was deployed; null if nothing ever was. */
  since: string | null;
  /** Requests that were looked at, whichever version answered them. */
  observed: number;
  /** Requests that were skipped because the queue was full. */
  dropped: number;
  /** Drift of the requests from the training data. */
  features: Array<Feature>;
  /** The canary first. */
  challengers: Array<Challenger>;
}

/** Whether events may be stored. */
export interface Consent {
  granted: boolean;
  /** Null before the first answer. */
  updatedAt: string | null;
  noticeVersion: string | null;
}

/** What became of a payment. */
export interface DecidedPayment {
  transactionId: string;
  status: "pending" | "completed" | "failed";
  /** False if it was so before. */
  changed: boolean;
}

/** A kind's deployment. */
export interface Deployment {
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  /** Counts the kind's deployments; 0 before the first. */
  epoch: number;
  /** Answers users outside the canary. */
  champion: string | null;
  /** The champion before. */
  previous: string | null;
  /** Whether the previous version answers when the champion fails: not after a rollback. */
  fallback: boolean;
  canary: Canary | null;
  /** Versions that are compared with the champion without answering requests. */
  shadows: Array<string>;
  /** The oldest version that may be deployed. */
  minimum_release: string | null;
  /** Why it was changed. */
  reason: string | null;
  changed_by: string | null;
  changed_at: string | null;
}

/** Percentiles and the largest value are of the absolute difference. */
export interface Difference {
  mean: number;
  p50: number;
  p99: number;
  largest: number;
}

/** An entry of an account's statement. */
export interface Entry {
  /** Position in the account's history, from 1. */
  number: number;
  createdAt: string;
  type: "opening" | "funding" | "deposit" | "reversal" | "return" | "transfer" | "refund";
  /** Negative if money left the account. */
  amount: number;
  /** Balance after the entry. */
  balance: number;
  transactionId?: string;
  beneficiaryName?: string;
  speiReference?: string;
  /** Concepto de pago, as its sender typed it. */
  concept?: string;
  /** Referencia numérica. An integer of at least 0. */
  numericReference?: number;
}

/** An examination in progress. */
export interface Examination {
  state: "under way";
}

/** A version and the gate's report. */
export interface ExaminedVersion {
  model_version: string;
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  sha256: string;
  class: "pure" | "deny-all";
  bytes: number;
  /** Whether it is part of the host. */
  built_in: boolean;
  registered_by: string;
  registered_at: string;
  role: "champion" | "canary" | "shadow" | "previous" | "registered";
  /** The gate's report; null for a built-in version. */
  report: unknown | null;
  /** The model's card, as Markdown. */
  card: string | null;
  signature: Signature | null;
}

/** The drift of one field of the requests. */
export interface Feature {
  /** Its name in the HTTP API. */
  feature: string;
  /** Population stability index against the training data, if known. */
  psi: number | null;
  observed: number;
}

/** What is wrong with one field. */
export interface FieldError {
  /** A body's field, a query parameter or a header; empty for the whole body. */
  field: string;
  /** Machine-readable. */
  code: string;
  /** Completes the sentence that begins with the field's name. */
  detail: string;
}

/** A decision that could not be reproduced. */
export interface Finding {
  /** Its position among the decisions, from 0. An integer of at least 0. */
  index: number;
  id?: string;
  /** Where the answers differ, or why it could not be run. */
  differences: Array<string>;
}

/** The result of a replay. */
export interface Findings {
  /** An integer of at least 0. */
  replayed: number;
  /** Decisions whose answer was the same, bit for bit. An integer of at least 0. */
  equal: number;
  different: Array<Finding>;
}

/** A user, and what was found of theirs. */
export interface Found {
  user: string;
  /** All of them. */
  accounts: Array<Account>;
  /** The one with that tracking key. */
  transaction?: Transaction;
}

/** Whether an account is frozen. */
export interface Frozen {
  accountId: string;
  frozen: boolean;
  /** False if it was so before. */
  changed: boolean;
}

/** A credit from the bank's own funds. */
export interface Funded {
  accountId: string;
  transactionId: string;
  amount: number;
  /** False if it was credited before. */
  changed: boolean;
  /** The new balance; left out if it was credited before. */
  balance?: number;
}

/** Which models are loaded. */
export interface Health {
  status: "ok" | "fail";
  /** Whether a nudge model is loaded. */
  model_loaded: boolean;
  /** Version of the nudge model. */
  model_version: string | null;
  /** By kind. */
  models: Record<string, LoadedModel>;
  uptime_seconds: number;
}

/** A kind's deployments, newest first. */
export interface History {
  history: Array<Deployment>;
}

/** Money that is set aside for a payee. */
export interface Hold {
  id: string;
  fromAccountId: string;
  toBeneficiaryId: string;
  beneficiaryName: string;
  amount: number;
  status: "placed" | "captured" | "voided" | "expired";
  expiresAt: string;
  createdAt: string;
  /** The transfer that captured it. */
  transferId?: string;
}

/** The name under which a user's payments go out. */
export interface Holder {
  /** Left out if the bank has verified none. */
  name?: string;
}

/** What a running host serves for a kind. */
export interface Host {
  /** Start of the host's id. */
  host: string;
  epoch: number;
  state: string;
  champion: string | null;
  /** Why it does not serve the deployed version. */
  detail: string | null;
  since: string;
}

/** Latencies of champion and challenger. */
export interface Latencies {
  champion: Latency;
  challenger: Latency;
}

/** In microseconds. */
export interface Latency {
  p50: number;
  p99: number;
}

/** A user's own limits. Where one is left out, the host's applies. */
export interface Limits {
  perTransfer?: number;
  perDay?: number;
}

/** The process is alive. */
export interface Liveness {
  status: "ok";
}

/** The model of a kind. */
export interface LoadedModel {
  loaded: boolean;
  version?: string;
  sha256?: string;
  /** Why another version than the deployed one is active on this host. */
  deployment_error?: string;
  /** The deployment being loaded; another version answers in the meantime. */
  pending?: PendingDeployment;
}

/** A file to fetch. */
export interface ModelFile {
  sha256: string;
  /** An integer of at least 0. */
  bytes: number;
  url: string;
}

/** A kind and its versions. */
export interface ModelKind {
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  epoch: number;
  versions: Array<Version>;
  hosts: Array<Host>;
}

/** All kinds and their versions. */
export interface Models {
  models: Array<ModelKind>;
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

/** An occurrence that is over. */
export interface Occurrence {
  date: string;
  outcome: "sent" | "refused" | "skipped" | "lapsed" | "missed";
  /** The transfer, if it was sent. */
  transactionId?: string;
  /** The code of the problem for which it was refused. */
  problem?: string;
  recordedAt: string;
}

/** Whether the name is the account holder's. */
export interface PayeeCheck {
  result: "match" | "close-match" | "no-match" | "unavailable";
  /** The holder's, for a close match of two names or more. */
  initials?: string;
}

/** A deployment being loaded. */
export interface PendingDeployment {
  epoch: number;
  since: string;
}

/** A payment that its rail has not decided. */
export interface PendingPayment {
  transactionId: string;
  trackingKey: string;
  amount: number;
  rail: string;
  createdAt: string;
  ageSeconds: number;
  /** SPEI's business day that it was sent for; left out before it is sent. */
  operatingDate?: string;
  attempts: number;
  /** When the rail is asked next; left out if a person has to decide. */
  nextAttemptAt?: string;
  /** Since when a person has to decide; left out while the host goes on asking. */
  parkedAt?: string;
  lastError?: string;
}

/** Payments that their rail has not decided: those that a person has to decide on, then the oldest, at most 1,000. */
export interface PendingPayments {
  payments: Array<PendingPayment>;
}

/** A kind's present deployment, and where it can go from there. */
export interface PresentDeployment {
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  /** Counts the kind's deployments; 0 before the first. */
  epoch: number;
  /** Answers users outside the canary. */
  champion: string | null;
  /** The champion before. */
  previous: string | null;
  /** Whether the previous version answers when the champion fails: not after a rollback. */
  fallback: boolean;
  canary: Canary | null;
  /** Versions that are compared with the champion without answering requests. */
  shadows: Array<string>;
  /** The oldest version that may be deployed. */
  minimum_release: string | null;
  /** Why it was changed. */
  reason: string | null;
  changed_by: string | null;
  changed_at: string | null;
  /** The version that a rollback restores: the previous one, or the champion before it if that is on trial as a challenger. Without any it is the champion itself, and a rollback only ends the trial. */
  rollback_to: string | null;
  /** Versions that were withdrawn or rolled back and have not served well since, the latest first. Promoting one takes `despite_setback`. */
  setbacks: Array<Setback>;
}

/** Why a request failed, as in RFC 9457. */
export interface Problem {
  type: string;
  title: string;
  /** An integer from 400 to 599. */
  status: number;
  detail: string;
  /** Path of the request. */
  instance: string;
  /** Machine-readable. */
  code: string;
  /** Every invalid field. */
  errors?: Array<FieldError>;
  /** Identifies the request in logs. */
  requestId: string;
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

/** A version that passed the gate. */
export interface PushedVersion {
  model_version: string;
  /** The gate's report. */
  report: unknown;
}

/** Whether the host can serve. */
export interface Readiness {
  status: "ok" | "fail";
  /** Whether the database responds, and confirms what is written. */
  database: boolean;
  /** What an operator has to do about the database, or this host's clock. */
  detail?: string;
  /** Whether the ledger accepts commands: not while this host's clock differs from the database's. */
  ledger: boolean;
  /** Whether every kind has a model. */
  models: boolean;
  /** Whether tokens can be verified. */
  tokens: boolean;
}

/** A reversed transaction. */
export interface Reversed {
  transactionId: string;
  /** The credit that gave the money back. */
  reversalId: string;
  /** False if it was reversed or returned before. */
  changed: boolean;
}

/** How risky a transfer is. */
export interface RiskAnswer {
  /** As sent; absent if it was not. */
  user_id?: string;
  /** Version of the model that answered. */
  model_version: string;
  result: RiskResult;
}

/** The scored request and its assessment. */
export interface RiskContext {
  request: RiskRequest;
  assessment: RiskAnswer;
  /** Sent with one transfer to record that the user saw this risk. Absent if risk enforcement is off. */
  acknowledgmentToken?: string;
  acknowledgmentExpiresAt?: string;
}

/** A transfer to score. */
export interface RiskRequest {
  /** Echoed. At most 255 characters. */
  user_id?: string;
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
  beneficiary_saved_minutes?: number;
}

/** The verdict on a transfer. */
export interface RiskResult {
  /** `low`: proceed. `medium`: explain and ask for confirmation. `high`: ask for an explicit acknowledgment. */
  risk_level: "low" | "medium" | "high";
  /** `low` below 0.25, `high` from 0.75. From 0 to 1. */
  risk_score: number;
  /** Reasons for the risk; empty only if the level is `low`. */
  risk_factors: Array<"AMOUNT_MUCH_HIGHER_THAN_AVERAGE" | "NEW_BENEFICIARY" | "UNUSUAL_TIME" | "NEW_DEVICE" | "LOCATION_CHANGED" | "LOW_HISTORY">;
}

/** A canary whose share of the users grows by itself. */
export interface Rollout {
  rollout_id: string;
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  canary: string | null;
  state: "running" | "paused" | "waiting" | "completed" | "stopped" | "aborted" | "replaced";
  /** Why it is in this state. */
  detail: string;
  /** Percentages of users. */
  steps: Array<number>;
  /** Index of the present or last step. An integer of at least 0. */
  step: number;
  /** Since when. */
  step_at: string;
  /** The deployment that this step made. */
  epoch: number;
  /** An integer of at least 0. */
  step_decisions: number;
  /** An integer of at least 0. */
  step_seconds: number;
  /** An integer from 0 to 255. */
  max_failure_percent: number;
  /** An integer from 0 to 255. */
  max_flip_percent: number;
  /** An integer of at least 0. */
  max_latency_percent: number;
  reason: string;
  started_by: string;
  started_at: string;
  changed_by: string;
  changed_at: string;
  /** The promotion that waits for a second operator. */
  approval: string | null;
  /** What was seen at this step; null if the rollout has ended. */
  evidence: RolloutEvidence | null;
}

/** What all hosts saw of a canary at one step. */
export interface RolloutEvidence {
  decisions: number;
  /** Of its decisions. */
  failures: Share;
  /** Answers in another class, of those compared with the champion's. */
  flips: Share;
  /** What keeps it from the next step; null if nothing does. */
  waits_for: string | null;
}

/** A kind's rollouts, newest first. */
export interface Rollouts {
  rollouts: Array<Rollout>;
}

/** The host is a sandbox. */
export interface Sandbox {
  sandbox: boolean;
}

/** A transfer that the bank sends on its dates. */
export interface Schedule {
  id: string;
  fromAccountId: string;
  toBeneficiaryId: string;
  /** When the schedule was made. */
  beneficiaryName: string;
  amount: number;
  concept?: string;
  /** An integer of at least 0. */
  numericReference?: number;
  recurrence: "once" | "weekly" | "monthly";
  firstDate: string;
  lastDate?: string;
  /** An integer of at least 0. */
  times?: number;
  status: "active" | "finished" | "cancelled" | "ended";
  /** Of the next occurrence, while the schedule is active. */
  nextDate?: string;
  /** If the next occurrence waits for its owner because its risk is high: until when. */
  waitingUntil?: string;
  createdAt: string;
  /** Those that are over, newest first: the last one in a list, the last 52 of a single schedule. */
  occurrences: Array<Occurrence>;
}

/** Histograms of champion and challenger. */
export interface Scores {
  /** Bounds of the bins, one more than there are bins. */
  edges: Array<number>;
  champion: Array<number>;
  challenger: Array<number>;
}

/** Why a version should not simply be promoted. */
export interface Setback {
  version: string | null;
  /** It was withdrawn as a canary, or rolled back as the champion. */
  cause: "withdrawn" | "rolled-back";
  /** The change that did it. */
  epoch: number;
  /** Why. */
  reason: string;
  changed_by: string;
  changed_at: string;
}

/** A share with its 95% confidence interval, by Wilson's method. */
export interface Share {
  count: number;
  of: number;
  /** 0 if nothing was observed. */
  share: number;
  low: number;
  high: number;
}

/** The bank page as a client of the OpenID provider. */
export interface SignIn {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  endSessionEndpoint: string | null;
  clientId: string;
  scope: string;
  /** The audience to ask access tokens for (RFC 8707). */
  resource: string;
  /** Whether tokens that are bound to a key count here (DPoP). */
  bindsTokens: boolean;
}

/** A signature of a version's bytes. */
export interface Signature {
  /** The one of --model-keys that made it; null if that is none of them, or no longer. */
  signed_by: string | null;
  added_by: string;
  added_at: string;
}

/** The user's profile. */
export interface StoredProfile {
  theme: "standard-accessible" | "large-text-high-contrast" | "voice-assisted";
  screenReaderMode: boolean;
  /** Text size relative to the default. From 0.8 to 2. */
  fontScale: number;
  /** How often the client offers help unprompted. */
  nudgingLevel: "low" | "medium" | "high";
  voiceFeedback: boolean;
  /** Null for the default profile. */
  updatedAt: string | null;
}

/** The response that STP expects. */
export interface StpReceipt {
  mensaje: "recibido";
}

/** A bearer token. */
export interface Token {
  token: string;
  user: string;
  expiresAt: string;
}

/** What the versions of a kind did over time, on all hosts. Every list has an item for each step. */
export interface Traffic {
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  /** When the first step begins. */
  from: string;
  /** An integer of at least 0. */
  step_seconds: number;
  /** An integer of at least 0. */
  steps: number;
  /** The verdicts, in the order of `classes` of each version; empty if they are not counted. */
  classes: Array<string>;
  versions: Array<VersionTraffic>;
}

/** A transfer. */
export interface Transaction {
  id: string;
  fromAccountId: string;
  /** Null if the beneficiary was deleted, and for incoming money. */
  toBeneficiaryId: string | null;
  beneficiaryName: string | null;
  amount: number;
  status: "pending" | "completed" | "failed";
  speiReference?: string;
  /** Concepto de pago, as the user typed it. */
  concept?: string;
  /** Referencia numérica. An integer of at least 0. */
  numericReference?: number;
  createdAt: string;
}

/** A change of a transfer's status. */
export interface TransferEvent {
  transactionId: string;
  type: string;
  /** Number of earlier statuses. */
  ordinal: number;
  status: string;
  reason?: string;
  accountId: string;
  amount: number;
  beneficiaryName?: string;
  speiReference?: string;
  /** The transaction whose money came back. */
  returns?: string;
  createdAt: string;
}

/** A registered version. */
export interface Version {
  model_version: string;
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  sha256: string;
  class: "pure" | "deny-all";
  bytes: number;
  /** Whether it is part of the host. */
  built_in: boolean;
  registered_by: string;
  registered_at: string;
  role: "champion" | "canary" | "shadow" | "previous" | "registered";
}

/** What one version did over time. */
export interface VersionTraffic {
  version: string;
  /** Requests that it answered. */
  answered: Array<number>;
  /** Requests on which it failed. */
  failed: Array<number>;
  /** Answers that were compared with the champion's. */
  compared: Array<number>;
  /** Of these, those of another class. */
  flipped: Array<number>;
  /** Median and 99th percentile of its times in microseconds, to within 20 percent; null without answers. */
  p50_us: Array<unknown>;
  p99_us: Array<unknown>;
  /** For each verdict how often it was given. */
  classes: Array<Array<number>>;
}
