// Requests and answers of the service; generated from the host's declarations.

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

/** An account to open. */
export interface AccountRequest {
  /** Leave it out to be issued a CLABE. Only a sandbox accepts a typed number, unique among the user's accounts. At most 50 characters. */
  accountNumber?: string | null;
  /** At most 40 characters. */
  accountType: string;
  /** At most 3 characters. */
  currency?: string | null;
}

/** The active model of a kind, as files that a page can run. */
export interface ActiveModel {
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  model_version: string;
  /** Digest of the component. */
  sha256: string;
  /** The contract between a host and the component. */
  wit: "caudal:scoring@1.0.0" | "caudal:risk@2.0.0";
  /** What glue depends on: pages with the same fingerprint can run it. */
  abi: string;
  core: ModelFile;
  glue: ModelFile;
  /** By which the host judges scores now. Only of `risk`, like what follows. */
  cut_offs?: CutOffs;
  /** SHA-256 of the catalogue of facts from which the host serves models. */
  facts?: string;
  /** What the codes of factors and reasons say. */
  words?: Record<string, Words>;
}

/** A new sink, with what it shares with this bank. */
export interface AddedSink {
  id: string;
  kind: "webhook" | "nats";
  url: string;
  /** Types of events, or what types begin with; empty for all. */
  types: Array<string>;
  isPaused: boolean;
  createdBy: string;
  createdAt: string;
  /** Everything before it was delivered or is undelivered. */
  cursor: string;
  /** Events that it did not accept, and later ones that wait for them. */
  undelivered: number;
  /** When the oldest of them happened. */
  oldestUndeliveredAt?: string;
  /** Answered only once: what verifies the signatures of a webhook, or the password of the user `id` in NATS. */
  secret: string;
}

/** Something that happened on a screen. */
export interface AnalyticsEvent {
  /** At most 64 characters. */
  screen: string;
  /** At most 64 characters. */
  eventType: string;
  /** At most 1,024 bytes. Numbers that could identify a person or an account are masked before it is stored. At most 1024 characters. */
  details?: string | null;
}

/** An action that takes two operators. */
export interface Approval {
  id: string;
  /** What is to be done, as it was proposed. */
  action: unknown;
  /** SHA-256 of the action and the reason. An approval repeats it, so that people approve what they read. */
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

/** The approval of one action. */
export interface ApproveRequest {
  /** That of the action that you read. At most 64 characters. */
  digest: string;
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

/** What to change about a payee; what is left out stays. */
export interface BeneficiaryEdit {
  /** Transfers already made keep the name they were made with. At most 200 characters. */
  name?: string | null;
  /** A blank one removes the alias. At most 100 characters. */
  alias?: string | null;
  isFavorite?: boolean | null;
}

/** A payee to save. */
export interface BeneficiaryRequest {
  /** Name of the person or company. At most 200 characters. */
  name: string;
  /** At most 100 characters. */
  alias?: string | null;
  /** At most 50 characters. */
  accountNumber: string;
  /** At most 100 characters. */
  bankName: string;
}

/** Why a lost payment is booked, and on which account. */
export interface BookingRequest {
  /** Kept for good. At most 500 characters. */
  reason: string;
  /** The account that it left; that of the sender's number by default. */
  accountId?: string | null;
}

/** Transfers to make. */
export interface BulkRequest {
  /** Transfers from one account are made in this order. */
  transfers: Array<BulkTransfer>;
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

/** A transfer of a bulk. */
export interface BulkTransfer {
  /** As the header `Idempotency-Key` of a single transfer. Unique in the bulk. At most 255 characters. */
  idempotencyKey: string;
  fromAccountId: string;
  /** Or of another account of the user's own, if the bank issued its number. */
  toBeneficiaryId: string;
  /** Exact: at most two decimals by value. */
  amount: number;
  /** Whether the device is new or unrecognized. Defaults to true: say the same in a transfer and its risk context. Does not count with a token that is bound to a key: the bank knows whether anything was sent with that key before. */
  isNewDevice?: boolean | null;
  /** Whether the location differs from the user's usual one. Defaults to true, likewise. */
  geolocationChanged?: boolean | null;
  /** Concepto de pago: one line. Surrounding white space is trimmed, and an empty concept counts as none. A rail may drop accents and replace characters other than letters and digits with spaces. At most 40 characters. */
  concept?: string | null;
  /** Referencia numérica: up to seven digits. An integer from 1 to 9999999. */
  numericReference?: number | null;
  /** From the risk context, to record that the user saw the risk. Required if it is high and enforced. Good for one transfer or hold. At most 800 characters. */
  acknowledgmentToken?: string | null;
}

/** A version that answers some users. */
export interface Canary {
  version: string | null;
  /** Percentage of users; with 0 it is compared on all requests and answers nobody. An integer from 0 to 99. */
  percent: number;
  /** Percentage of answers in another class than the champion's above which it is withdrawn. An integer from 1 to 100. */
  max_flip_percent: number;
}

/** A version that answers some users. */
export interface CanaryRequest {
  /** Percentage of answers in another class than the champion's above which the canary is withdrawn; 10 by default. An integer from 1 to 100. */
  max_flip_percent?: number | null;
  /** Percentage of users; with 0 it is compared on all requests and answers nobody. An integer from 0 to 99. */
  percent?: number | null;
  /** Its `model_version`. At most 100 characters. */
  version: string;
}

/** A transfer of the money that is held. */
export interface CaptureRequest {
  /** At most what is held, which is the default. The rest is released. */
  amount?: number | null;
  /** Concepto de pago: one line. Surrounding white space is trimmed, and an empty concept counts as none. A rail may drop accents and replace characters other than letters and digits with spaces. At most 40 characters. */
  concept?: string | null;
  /** Referencia numérica: up to seven digits. An integer from 1 to 9999999. */
  numericReference?: number | null;
  /** Whether the device is new or unrecognized. Defaults to true: say the same in a transfer and its risk context. Does not count with a token that is bound to a key: the bank knows whether anything was sent with that key before. */
  isNewDevice?: boolean | null;
  /** Whether the location differs from the user's usual one. Defaults to true, likewise. */
  geolocationChanged?: boolean | null;
  /** From the risk context, to record that the user saw the risk. Required if it is high and enforced. Good for one transfer or hold. At most 800 characters. */
  acknowledgmentToken?: string | null;
}

/** A figure and its interval. */
export interface CardMetric {
  /** At most 100 characters. */
  name: string;
  value: number;
  low: number;
  high: number;
}

/** The first day and the last. */
export interface CardPeriod {
  from: string;
  to: string;
}

/** A difference that a person decides on. */
export interface Case {
  id: string;
  operatingDate: string;
  openedAt: string;
  difference: unknown;
}

/** Open cases, the oldest first, at most 1,000. */
export interface Cases {
  cases: Array<Case>;
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
  /** Requests that were looked at, whichever version answered them: without challengers one in 16. */
  observed: number;
  /** Requests that were skipped because the queue was full. */
  dropped: number;
  /** Drift of the requests from the training data. */
  features: Array<Feature>;
  /** The canary first. */
  challengers: Array<Challenger>;
}

/** A closed case. */
export interface ClosedCase {
  id: string;
  /** The transaction that the payment was booked as; left out if the case was closed without one. */
  transactionId?: string;
}

/** An event in the envelope of CloudEvents 1.0. */
export interface CloudEvent {
  /** Unique, and the same each time the event is sent: the chain, the number in it, and the place in the batch. */
  id: string;
  source: string;
  specversion: string;
  type: string;
  /** The account, or whatever else the event is about. Events of an account are in the order of their commits. */
  subject: string;
  time: string;
  datacontenttype: string;
  /** The `$id` of the schema that `/admin/events/schemas/{type}` answers. */
  dataschema: string;
  data: unknown;
}

/** The decisions of a kind. */
export interface Compared {
  /** Decided again. An integer of at least 0. */
  decisions: number;
  /** An integer of at least 0. */
  different: number;
  /** Without a usable answer. An integer of at least 0. */
  failed: number;
  /** The most frequent first. */
  changes: Array<DecisionChange>;
}

/** Sends the occurrence that waits. */
export interface ConfirmationRequest {
  /** Of that occurrence. */
  date: string;
  /** Whether the device is new or unrecognized. Defaults to true: say the same in a transfer and its risk context. Does not count with a token that is bound to a key: the bank knows whether anything was sent with that key before. */
  isNewDevice?: boolean | null;
  /** Whether the location differs from the user's usual one. Defaults to true, likewise. */
  geolocationChanged?: boolean | null;
  /** From the risk context, to record that the user saw the risk. Required if it is high and enforced. Good for one transfer or hold. At most 800 characters. */
  acknowledgmentToken?: string | null;
}

/** Whether events may be stored. */
export interface Consent {
  granted: boolean;
  /** Null before the first answer. */
  updatedAt: string | null;
  noticeVersion: string | null;
}

/** An answer to the privacy notice. */
export interface ConsentRequest {
  granted: boolean;
  /** Version of the privacy notice that was shown. At most 64 characters. */
  noticeVersion?: string | null;
}

/** A customer whom an operator looked up. */
export interface Customer {
  user: string;
  /** The verified name, if the bank has one. */
  holder?: string;
  /** All of them, oldest first. */
  accounts: Array<Account>;
  limits: Limits;
  /** When accounts were frozen and unfrozen, newest first, at most 100. */
  freezes: Array<FreezeEvent>;
  /** Those with the tracking key that was looked up. */
  payments: Array<QuotedPayment>;
}

/** Where the levels of risk begin. */
export interface CutOffs {
  /** Lowest score of a `medium` risk: above 0 and below `high_from`. From 0 to 1. */
  medium_from: number;
  /** Lowest score of a `high` risk. From 0 to 1. */
  high_from: number;
}

/** What became of a payment. */
export interface DecidedPayment {
  transactionId: string;
  status: "pending" | "completed" | "failed";
  /** False if it was so before. */
  changed: boolean;
}

/** What became of a review. */
export interface DecidedReview {
  transactionId: string;
  decision: "release" | "refuse";
  /** As which it is recorded. */
  outcome: "reported" | "confirmed_fraud" | "authorised_scam" | "false_alarm" | "help_accepted" | "withdrawn";
}

/** One way in which decisions differ. */
export interface DecisionChange {
  was: string;
  is: string;
  /** An integer of at least 0. */
  count: number;
  /** Of all of them, in centavos. */
  amount: number;
  by_amount: unknown;
  /** By how long the payee had been saved. */
  by_payee: unknown;
  /** What became of them, as far as that is known. */
  by_outcome: unknown;
  /** Some transfers or holds. */
  examples: Array<string>;
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
  /** Where the levels of `risk` begin; left out for the other kinds. */
  cut_offs?: CutOffs;
  /** Why it was changed. */
  reason: string | null;
  changed_by: string | null;
  changed_at: string | null;
}

/** The versions to deploy. */
export interface DeploymentRequest {
  /** Its `model_version`. At most 100 characters. */
  champion: string;
  canary?: CanaryRequest | null;
  /** Where the levels of `risk` begin from now on, whichever version answers; they stay as they are if left out, and in a rollback. */
  cut_offs?: CutOffs | null;
  /** The new champion again, if it was withdrawn or rolled back: see the deployment's `setbacks`. At most 100 characters. */
  despite_setback?: string | null;
  /** The running canary, if this ends it: it neither stays nor becomes the champion. At most 100 characters. */
  ends_canary?: string | null;
  /** SHA-256 of the report of a fork with these versions, for the second operator to compare. At most 64 characters. */
  fork_report?: string | null;
  /** The oldest version that may be deployed from now on, by its own number; it stays as it is if left out. At most 100 characters. */
  minimum_release?: string | null;
  /** Versions to compare with the champion. */
  shadows?: Array<string> | null;
  /** At most 500 characters. */
  reason: string;
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
  type: "opening" | "funding" | "received" | "deposit" | "reversal" | "return" | "transfer" | "refund";
  /** Negative if money left the account. */
  amount: number;
  /** Balance after the entry. */
  balance: number;
  transactionId?: string;
  beneficiaryName?: string;
  /** Who sent money from another bank, as that bank says. */
  payerName?: string;
  payerAccountNumber?: string;
  /** Name of the institution, or SPEI's code for it. */
  payerBank?: string;
  speiReference?: string;
  /** Concepto de pago, as its sender typed it. */
  concept?: string;
  /** Referencia numérica. An integer of at least 0. */
  numericReference?: number;
}

/** Some events. Those of an account are in the order of their commits. */
export interface EventPage {
  events: Array<CloudEvent>;
  /** Where the next page begins. */
  cursor: string;
  /** Whether there was nothing more. */
  isEnd: boolean;
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
  /** The card as it was pushed; null for a built-in version. */
  pushed_card: ModelCard | null;
  signature: Signature | null;
}

/** The distribution of a fact where it is known. There is a bin below each end, one for each end itself and one above the last, so that a rarely set flag does not share a bin with the rest. */
export interface FactDistribution {
  /** Its name in the HTTP API, whose unit the ends have. At most 100 characters. */
  fact: string;
  /** Ascending. */
  ends: Array<number>;
  /** Of the bins, two for each end and one more; they add up to 1. */
  shares: Array<number>;
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
  /** The transfer or hold that was decided on. */
  id: string;
  /** What the answer was and is, or why there is none. */
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

/** That an account was frozen or unfrozen. */
export interface FreezeEvent {
  accountId: string;
  event: "frozen" | "unfrozen";
  by: string;
  reason: string;
  createdAt: string;
}

/** Why an account is frozen or unfrozen. */
export interface FreezeRequest {
  /** Kept for good. At most 500 characters. */
  reason: string;
}

/** Whether an account is frozen. */
export interface Frozen {
  accountId: string;
  frozen: boolean;
  /** False if it was so before. */
  changed: boolean;
}

/** A credit from the bank's own funds. */
export interface FundRequest {
  amount: number;
  /** Kept if a second operator has to approve it. At most 500 characters. */
  reason: string;
  /** Id of the new transaction, a UUID of the caller's choice. Repeating the request with it credits nothing more. */
  transactionId: string;
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
  /** Or of another account of the user's own, if the bank issued its number. */
  toBeneficiaryId: string;
  /** Exact: at most two decimals by value. */
  amount: number;
  beneficiaryName: string;
  status: "placed" | "captured" | "voided" | "expired";
  expiresAt: string;
  createdAt: string;
  /** The transfer that captured it. */
  transferId?: string;
}

/** Money to set aside for a transfer. */
export interface HoldRequest {
  fromAccountId: string;
  /** Or of another account of the user's own, if the bank issued its number. */
  toBeneficiaryId: string;
  /** Exact: at most two decimals by value. */
  amount: number;
  /** Whether the device is new or unrecognized. Defaults to true: say the same in a transfer and its risk context. Does not count with a token that is bound to a key: the bank knows whether anything was sent with that key before. */
  isNewDevice?: boolean | null;
  /** Whether the location differs from the user's usual one. Defaults to true, likewise. */
  geolocationChanged?: boolean | null;
  /** From the risk context, to record that the user saw the risk. Required if it is high and enforced. Good for one transfer or hold. At most 800 characters. */
  acknowledgmentToken?: string | null;
  /** Defaults to seven days. An integer from 1 to 2592000. */
  expiresInSeconds?: number | null;
}

/** The name under which a user's payments go out. */
export interface Holder {
  /** Left out if the bank has verified none. */
  name?: string;
}

/** A name that the bank has verified. */
export interface HolderRequest {
  /** At most 120 characters. */
  name: string;
}

/** What a running host serves for a kind. */
export interface Host {
  /** Its machine's name, and the start of its id. */
  host: string;
  epoch: number;
  state: string;
  champion: string | null;
  /** Why it does not serve the deployed version. */
  detail: string | null;
  since: string;
}

/** An order that is on its way. */
export interface IncomingOrder {
  trackingKey: string;
  /** Whether the bank issued the payee's number. Otherwise the order is sent back. */
  isIssued: boolean;
}

/** An order of another bank. */
export interface IncomingOrderRequest {
  /** The payee's. Anything may come in; what the bank did not issue is sent back. At most 20 characters. */
  accountNumber: string;
  amount: number;
  /** At most 120 characters. */
  payerName?: string | null;
  /** At most 20 characters. */
  payerAccountNumber?: string | null;
  /** SPEI's code of the sending institution. An integer from 1 to 99999. */
  payerInstitution?: number | null;
  /** Concepto de pago: one line. Surrounding white space is trimmed, and an empty concept counts as none. A rail may drop accents and replace characters other than letters and digits with spaces. At most 40 characters. */
  concept?: string | null;
  /** Referencia numérica: up to seven digits. An integer from 1 to 9999999. */
  numericReference?: number | null;
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

/** A user's own limits, all of them. Where one is left out, the host's applies. */
export interface LimitsRequest {
  perDay?: number | null;
  perTransfer?: number | null;
  /** Kept if a second operator has to approve it. At most 500 characters. */
  reason: string;
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

/** What the owner of a version says of it. */
export interface ModelCard {
  /** Who answers for it. At most 100 characters. */
  owner: string;
  /** What it is for. At most 2000 characters. */
  purpose: string;
  /** What it was trained on. At most 2000 characters. */
  training_data: string;
  /** The days from which these data are; left out for data without dates. */
  period?: CardPeriod;
  metrics: Array<CardMetric>;
  /** What it cannot do, and must not be used for. */
  limits: Array<string>;
  /** When the owner looks at it again. */
  next_review: string;
  /** How its facts were distributed in the training data, to see how far requests drift from them. */
  reference: Array<FactDistribution>;
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

/** What is known of some decisions of a version, at one horizon. */
export interface OutcomeFigures {
  horizon_days: number;
  /** Old enough for the horizon. */
  decisions: number;
  alarms: number;
  frauds: number;
  /** Frauds with an alarm. */
  caught: number;
  /** Reported and not confirmed, at the horizon. */
  unconfirmed: number;
  /** Too young for the horizon: not known yet. */
  young: number;
  young_alarms: number;
  /** Frauds among alarms. */
  precision?: OutcomeShare;
  /** Alarms among frauds. */
  recall?: OutcomeShare;
  /** Alarms among decisions. */
  alarm_rate?: OutcomeShare;
}

/** How decisions on risks compare with what became of their orders. */
export interface OutcomeReport {
  slices: Array<OutcomeSlice>;
  /** What the shares cannot say. */
  notes: Array<string>;
}

/** A share with its interval, which covers 95 %; left out where there is nothing that it could be a share of. */
export interface OutcomeShare {
  /** From 0 to 1. */
  rate: number;
  /** From 0 to 1. */
  low: number;
  /** From 0 to 1. */
  high: number;
  /** Among all decisions, whatever their age, with all that is known so far. */
  naive?: number;
  /** `naive` less `rate`. */
  naive_error?: number;
}

/** Decisions of a version: all, or those of a slice. */
export interface OutcomeSlice {
  /** Its name, or its digest if it is not registered. */
  version: string;
  by: "all" | "level" | "payee" | "amount" | "role";
  /** Amounts are in pesos. */
  slice: string;
  figures: Array<OutcomeFigures>;
}

/** Whether the name is the account holder's. */
export interface PayeeCheck {
  result: "match" | "close-match" | "no-match" | "unavailable";
  /** The holder's, for a close match of two names or more. */
  initials?: string;
}

/** A name and the number that it is said to have. */
export interface PayeeCheckRequest {
  /** At most 200 characters. */
  name: string;
  /** At most 50 characters. */
  accountNumber: string;
}

/** Why a payment is decided on by hand. */
export interface PaymentDecisionRequest {
  /** Kept for good. At most 500 characters. */
  reason: string;
}

/** A deployment being loaded. */
export interface PendingDeployment {
  epoch: number;
  since: string;
}

/** A payment that its rail has not decided, or an order of another bank that no account could be credited with. */
export interface PendingPayment {
  transactionId: string;
  /** Whether it goes out, or came in and is sent back. */
  kind: "payment" | "return";
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
  /** Where the levels of `risk` begin; left out for the other kinds. */
  cut_offs?: CutOffs;
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

/** A profile to store. A recommendation can be sent unchanged: other fields are ignored, and names may be in snake_case. */
export interface ProfileRequest {
  theme: "standard-accessible" | "large-text-high-contrast" | "voice-assisted";
  screenReaderMode: boolean;
  /** Text size relative to the default. From 0.8 to 2. */
  fontScale: number;
  /** How often the client offers help unprompted. */
  nudgingLevel: "low" | "medium" | "high";
  voiceFeedback: boolean;
}

/** A version that passed the gate. */
export interface PushedVersion {
  model_version: string;
  /** The gate's report. */
  report: unknown;
}

/** A payment of a customer. */
export interface QuotedPayment {
  id: string;
  type: "transfer" | "received";
  /** The customer's. */
  accountId: string;
  amount: number;
  status: "pending" | "completed" | "failed";
  /** Of the payee, or of the payer if it was received. */
  name?: string;
  speiReference: string;
  createdAt: string;
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

/** The decisions about a transfer. Digests, salts and signatures are in hexadecimal. */
export interface Receipt {
  /** The transfer, or the hold that it captured. */
  id: string;
  decisions: Array<ReceiptDecision>;
  /** Number of decisions that the batch rests on. An integer of at least 0. */
  leaves: number;
  /** Root of the Merkle tree over them. */
  root: string;
  /** The batch. */
  chain: string;
  seq: number;
  hash: string;
  /** The ledger's public key. */
  signer: string;
  /** By this key, with Ed25519, of a line that names the batch, its hash, the root and the number of leaves. */
  signature: string;
}

/** A decision of a model. */
export interface ReceiptDecision {
  kind: string;
  /** SHA-256 of the component that decided. */
  component: string;
  /** Of the deployment. */
  epoch: number;
  role: string;
  /** From where on a score is a medium and a high risk. */
  medium: number;
  high: number;
  facts: Array<ReceiptFact>;
  /** Digests of facts about somebody else, which follow the others. */
  withheld: Array<string>;
  /** The component's own, in bytes. */
  answer: string;
  /** Among the leaves. An integer of at least 0. */
  place: number;
  /** From the leaf to the root. */
  path: Array<string>;
}

/** A fact that a decision rests on. */
export interface ReceiptFact {
  name: string;
  value: number;
  /** Whether only the client says so. */
  claimed: boolean;
  salt: string;
}

/** The last comparison of a day with the rail. */
export interface Reconciliation {
  operatingDate: string;
  /** Whether a later one is due or being made. */
  due: boolean;
  /** Left out if none was made. */
  id?: string;
  madeAt?: string;
  /** Orders that are alike on both sides. */
  matched: number;
  /** Those that only the rail has. */
  missingHere: number;
  /** Those that only the ledger has. */
  missingThere: number;
  different: number;
  /** Those that the rail lists again. */
  duplicated: number;
  /** At most 20,000, with what follows from each. */
  differences: Array<unknown>;
}

/** The day of a comparison with the rail. */
export interface ReconciliationRequest {
  /** SPEI's business day; the last one that is over by default. */
  operatingDate?: string | null;
}

/** How many outcomes were new. */
export interface RecordedOutcomes {
  /** An integer of at least 0. */
  recorded: number;
  /** Recorded before, or twice in the file. An integer of at least 0. */
  repeated: number;
}

/** Decisions of the last days. */
export interface ReplayRequest {
  kind: "risk" | "transfer-rules";
  /** An integer from 1 to 400. */
  days: number;
  /** An integer from 1 to 10000. */
  limit: number;
}

/** A transfer that its user says is not theirs. */
export interface ReportedTransaction {
  id: string;
  /** False if that was known before. */
  changed: boolean;
  /** Whether this request froze the account, or found it frozen; false if it did not ask for that. */
  frozen: boolean;
}

/** Why a transaction is reversed. */
export interface ReversalRequest {
  /** Kept for good. At most 500 characters. */
  reason: string;
}

/** A reversed transaction. */
export interface Reversed {
  transactionId: string;
  /** The credit that gave the money back. */
  reversalId: string;
  /** False if it was reversed or returned before. */
  changed: boolean;
}

/** A transfer whose money is held until a person decides. */
export interface Review {
  transactionId: string;
  /** The user who sent it. */
  payer: string;
  amount: number;
  payee: string;
  payeeBank: string;
  payeeNumber: string;
  createdAt: string;
  ageSeconds: number;
  /** Who looks at it; left out if nobody does. Others may claim it an hour later. */
  claimedBy?: string;
  claimedAt?: string;
  /** Left out before it is decided. If it is there, the decision was not recorded as an outcome: repeat it. */
  decision?: "release" | "refuse";
}

/** What a person decides on a transfer, and why. */
export interface ReviewDecisionRequest {
  decision: "release" | "refuse";
  /** Kept for good. At most 500 characters. */
  reason: string;
  /** Of a refusal: whether the customer ordered it, deceived. Otherwise somebody else did. */
  isScam?: boolean | null;
}

/** Transfers that wait for a person, the oldest first, at most 1,000. */
export interface Reviews {
  reviews: Array<Review>;
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

/** How risky a transfer is, and what weighed most. */
export interface RiskExplanation {
  /** As sent; absent if it was not. */
  user_id?: string;
  /** Version of the model that answered. */
  model_version: string;
  result: RiskResult;
  /** The number from which the score follows, before anything is added to it. */
  base: number;
  /** What facts add to it, the largest first. */
  weighed: Array<WeighedFact>;
  /** What everything else adds. */
  rest: number;
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
  /** Transfers that the user sent to others in the last hour, when known. An integer of at least 0. */
  sent_count_1h?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_1h?: number;
  /** Transfers that the user sent to others in the last 24 hours, when known. An integer of at least 0. */
  sent_count_24h?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_24h?: number;
  /** Transfers that the user sent to others in the last 7 days, when known. An integer of at least 0. */
  sent_count_7d?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_7d?: number;
  /** Transfers that the user sent to others in the last 30 days, when known. An integer of at least 0. */
  sent_count_30d?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  sent_amount_30d?: number;
  /** Those to this beneficiary's account in the last hour, when known. An integer of at least 0. */
  to_payee_count_1h?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_1h?: number;
  /** Those to this beneficiary's account in the last 24 hours, when known. An integer of at least 0. */
  to_payee_count_24h?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_24h?: number;
  /** Those to this beneficiary's account in the last 7 days, when known. An integer of at least 0. */
  to_payee_count_7d?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_7d?: number;
  /** Those to this beneficiary's account in the last 30 days, when known. An integer of at least 0. */
  to_payee_count_30d?: number;
  /** Their sum. Finite, at least 0, in MXN. */
  to_payee_amount_30d?: number;
  /** Beneficiaries that the user saved today and has still, when known. An integer of at least 0. */
  payees_added_today?: number;
  /** Orders of the user that were refused for good in the last hour, when known. An integer of at least 0. */
  refusals_1h?: number;
  /** Minutes since the user's limits were changed, when they were. An integer of at least 0. */
  minutes_since_limits_change?: number;
  /** Those who paid the beneficiary in the last 24 hours, if the account is at this bank. An integer of at least 0. */
  payee_senders_24h?: number;
  /** What they paid. Finite, at least 0, in MXN. */
  payee_received_24h?: number;
  /** Minutes from the last time that the beneficiary was paid to when they sent money on, if that was in the last 24 hours. An integer of at least 0. */
  payee_minutes_to_sending?: number;
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

/** A rollback. It names both versions, so that a repeated one cannot undo the first. */
export interface RollbackRequest {
  /** The version to return to again, if it was withdrawn or itself rolled back: see the deployment's `setbacks`. At most 100 characters. */
  despite_setback?: string | null;
  /** The `model_version` to leave: the champion. At most 100 characters. */
  from: string;
  /** At most 500 characters. */
  reason: string;
  /** The `model_version` to return to: the deployment's `rollback_to`. At most 100 characters. */
  to: string;
}

/** A canary whose share of the users grows by itself. */
export interface Rollout {
  rollout_id: string;
  kind: "risk" | "nudge" | "accessibility" | "transfer-rules";
  canary: string | null;
  state: "running" | "paused" | "waiting" | "completed" | "stopped" | "aborted" | "replaced";
  /** Why it is in this state. */
  detail: string;
  /** Percentages of users; with 0 it is compared on all requests and answers nobody. */
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
  /** What a violated bound does. */
  on_violation: "withdraw" | "pause";
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
  /** On the first request of each user, on each host. */
  decisions: number;
  /** Of its decisions. */
  failures: Share;
  /** Answers in another class, of those compared with the champion's. */
  flips: Share;
  /** Of these, risks in a lower class, and those that went from high to low. */
  lowered: Share;
  high_to_low: Share;
  /** What keeps it from the next step; null if nothing does. */
  waits_for: string | null;
}

/** Why a rollout is paused, resumed or aborted. */
export interface RolloutOrderRequest {
  /** At most 500 characters. */
  reason: string;
}

/** A canary whose share of the users grows by itself. */
export interface RolloutRequest {
  /** Its `model_version`. At most 100 characters. */
  canary: string;
  /** The version again, if it was withdrawn or rolled back: see the deployment's `setbacks`. At most 100 characters. */
  despite_setback?: string | null;
  /** The running canary, if this ends it. At most 100 characters. */
  ends_canary?: string | null;
  /** SHA-256 of a fork's report, for the approver of the promotion. At most 64 characters. */
  fork_report?: string | null;
  /** Percentage of its decisions that may fail; 1 by default. An integer from 1 to 100. */
  max_failure_percent?: number | null;
  /** Percentage of answers in another class than the champion's; 10 by default. Of a risk, half as many may be in a lower class, and a quarter go from high to low. An integer from 1 to 100. */
  max_flip_percent?: number | null;
  /** What a call of it may cost, in instructions, as a percentage of what it costs the champion; 1000 by default. An integer from 1 to 100000000. */
  max_fuel_percent?: number | null;
  /** Whether a violated bound takes it from all users, as it does by default, or pauses the rollout. */
  on_violation?: "withdraw" | "pause" | null;
  /** At most 500 characters. */
  reason: string;
  /** Decisions of the canary that each step takes at least; 500 by default. An integer from 1 to 10000000. */
  step_decisions?: number | null;
  /** Seconds that each step takes at least; 600 by default. An integer from 0 to 2592000. */
  step_seconds?: number | null;
  /** Percentages of users, ascending to 100, which makes it the champion; with 0 it is compared on all requests and answers nobody. 0, 5, 25 and 100 by default. */
  steps?: Array<number> | null;
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
  /** Or of another account of the user's own, if the bank issued its number. */
  toBeneficiaryId: string;
  /** Exact: at most two decimals by value. */
  amount: number;
  /** When the schedule was made. */
  beneficiaryName: string;
  /** Concepto de pago: one line. Surrounding white space is trimmed, and an empty concept counts as none. A rail may drop accents and replace characters other than letters and digits with spaces. At most 40 characters. */
  concept?: string;
  /** Referencia numérica: up to seven digits. An integer from 1 to 9999999. */
  numericReference?: number;
  /** `monthly` is on the day of the first date, or on the last day of a month that is too short. */
  recurrence: "once" | "weekly" | "monthly";
  /** After the day of the request, within a year. */
  firstDate: string;
  /** No occurrence is later. Only one of `lastDate` and `times`, and neither with `once`. */
  lastDate?: string;
  /** How many occurrences there are. An integer from 1 to 1000. */
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

/** A transfer to send on a date, or again and again. It is sent from 9:00 in Mexico City, whose dates these are. `isNewDevice` and `geolocationChanged` count for the risk of the occurrences until one was sent. */
export interface ScheduleRequest {
  fromAccountId: string;
  /** Or of another account of the user's own, if the bank issued its number. */
  toBeneficiaryId: string;
  /** Exact: at most two decimals by value. */
  amount: number;
  /** Whether the device is new or unrecognized. Defaults to true: say the same in a transfer and its risk context. Does not count with a token that is bound to a key: the bank knows whether anything was sent with that key before. */
  isNewDevice?: boolean | null;
  /** Whether the location differs from the user's usual one. Defaults to true, likewise. */
  geolocationChanged?: boolean | null;
  /** Concepto de pago: one line. Surrounding white space is trimmed, and an empty concept counts as none. A rail may drop accents and replace characters other than letters and digits with spaces. At most 40 characters. */
  concept?: string | null;
  /** Referencia numérica: up to seven digits. An integer from 1 to 9999999. */
  numericReference?: number | null;
  /** `monthly` is on the day of the first date, or on the last day of a month that is too short. */
  recurrence: "once" | "weekly" | "monthly";
  /** After the day of the request, within a year. */
  firstDate: string;
  /** No occurrence is later. Only one of `lastDate` and `times`, and neither with `once`. */
  lastDate?: string | null;
  /** How many occurrences there are. An integer from 1 to 1000. */
  times?: number | null;
  /** A schedule of the same user, which this one takes the place of: it is cancelled in the same commit. */
  replaces?: string | null;
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

/** The page as a client of the OpenID provider. */
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

/** A system that gets events, and how far it is. */
export interface Sink {
  id: string;
  kind: "webhook" | "nats";
  url: string;
  /** Types of events, or what types begin with; empty for all. */
  types: Array<string>;
  isPaused: boolean;
  createdBy: string;
  createdAt: string;
  /** Everything before it was delivered or is undelivered. */
  cursor: string;
  /** Events that it did not accept, and later ones that wait for them. */
  undelivered: number;
  /** When the oldest of them happened. */
  oldestUndeliveredAt?: string;
}

/** What to do to a sink. */
export interface SinkOrderRequest {
  order: "pause" | "resume" | "resend" | "remove";
  /** For `resend`: a cursor of `/admin/events`, everything after which is sent again; empty for everything. Left out: what was not accepted. At most 4096 characters. */
  from?: string | null;
}

/** A system that gets events. */
export interface SinkRequest {
  kind: "webhook" | "nats";
  /** At most 2000 characters. */
  url: string;
  /** Types, or what types begin with; all if left out. */
  types?: Array<string> | null;
  /** A cursor of `/admin/events`. Empty: from the beginning. Left out: from now on. At most 4096 characters. */
  from?: string | null;
}

/** All sinks, oldest first. */
export interface Sinks {
  sinks: Array<Sink>;
}

/** Does without the occurrence that waits. */
export interface SkipRequest {
  /** Of that occurrence. */
  date: string;
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

/** The response that STP expects: the bank takes the order. It is sent back later if no account can be credited. */
export interface StpConfirmation {
  mensaje: "confirmar";
}

/** STP's notice of a state change (`cambioEstado`). It only makes the host ask STP; nothing but the tracking key is read. */
export interface StpNotice {
  /** The tracking key. */
  claveRastreo?: string | null;
  /** The tracking key again, since orders have it here too. */
  folioOrigen?: string | null;
  estado?: string | null;
  /** Why the payment was returned. */
  causaDevolucion?: unknown | null;
}

/** STP's notice of an order to this bank (`sendAbono`). It only makes the host ask STP; nothing but what identifies the order is read. */
export interface StpOrderNotice {
  /** The tracking key. */
  claveRastreo: string;
  /** The operating date, as a number or a text. */
  fechaOperacion: unknown;
  /** SPEI's code of the sending institution, as a number or a text. */
  institucionOrdenante: unknown;
}

/** The response that STP expects. */
export interface StpReceipt {
  mensaje: "recibido";
}

/** What the user's next transfer is bound by. A limit that is left out does not apply. */
export interface Terms {
  perTransfer?: number;
  perDay?: number;
  /** Sent today, by Mexico City time, from all accounts. */
  sentToday: number;
  /** What the limit of a day leaves for the rest of it. */
  leftToday?: number;
  /** How long a new beneficiary has to wait. */
  coolingSeconds: number;
  /** Whether a high risk has to be acknowledged. */
  riskEnforced: boolean;
  /** First digits of the CLABEs that this bank issues, if it does. */
  clabeInstitution?: string;
}

/** A bearer token. */
export interface Token {
  token: string;
  user: string;
  expiresAt: string;
}

/** The user of a token. */
export interface TokenRequest {
  /** At most 255 characters. */
  user: string;
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
  /** As sent, even if the beneficiary was deleted since. */
  toBeneficiaryId: string | null;
  beneficiaryName: string | null;
  /** As it was at the time of the transfer, like the name. */
  beneficiaryAccountNumber?: string;
  beneficiaryBank?: string;
  amount: number;
  status: "pending" | "completed" | "failed";
  speiReference?: string;
  /** Concepto de pago, as the user typed it. */
  concept?: string;
  /** Referencia numérica. An integer of at least 0. */
  numericReference?: number;
  createdAt: string;
}

/** The decisions about a transfer, as they were sealed with its money, and what a page runs them again with. */
export interface TransactionReceipt {
  receipt: Receipt;
  /** By the digest of its component, the address of the script through which a page calls it. The component itself is at `/models/component/{digest}.wasm`. Rules are always among them; a model is if it is published. */
  glue: Record<string, string>;
}

/** What to do besides noting that a transfer is not the user's. */
export interface TransactionReportRequest {
  /** Whether to freeze the account that it left. Only the bank can unfreeze it. */
  freeze: boolean;
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
  /** Who sent money from another bank, as that bank says. */
  payerName?: string;
  payerAccountNumber?: string;
  /** Name of the institution, or SPEI's code for it. */
  payerBank?: string;
  concept?: string;
  /** An integer of at least 0. */
  numericReference?: number;
  createdAt: string;
}

/** A transfer to make. */
export interface TransferRequest {
  fromAccountId: string;
  /** Or of another account of the user's own, if the bank issued its number. */
  toBeneficiaryId: string;
  /** Exact: at most two decimals by value. */
  amount: number;
  /** Whether the device is new or unrecognized. Defaults to true: say the same in a transfer and its risk context. Does not count with a token that is bound to a key: the bank knows whether anything was sent with that key before. */
  isNewDevice?: boolean | null;
  /** Whether the location differs from the user's usual one. Defaults to true, likewise. */
  geolocationChanged?: boolean | null;
  /** Concepto de pago: one line. Surrounding white space is trimmed, and an empty concept counts as none. A rail may drop accents and replace characters other than letters and digits with spaces. At most 40 characters. */
  concept?: string | null;
  /** Referencia numérica: up to seven digits. An integer from 1 to 9999999. */
  numericReference?: number | null;
  /** From the risk context, to record that the user saw the risk. Required if it is high and enforced. Good for one transfer or hold. At most 800 characters. */
  acknowledgmentToken?: string | null;
}

/** An event that a sink did not accept, or that waits for an earlier one. */
export interface UndeliveredEvent {
  id: string;
  type: string;
  /** What keeps its order, accounts as a rule. */
  keys: Array<string>;
  time: string;
  /** 0 if it only waits for an earlier one. */
  attempts: number;
  lastError?: string;
}

/** What a sink did not accept, in the order in which it is to arrive. */
export interface UndeliveredEvents {
  events: Array<UndeliveredEvent>;
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

/** What a fact adds to the number from which a score follows. */
export interface WeighedFact {
  /** A field of the request. */
  fact: string;
  /** Positive if it raises the score. */
  contribution: number;
  words: Words;
}

/** What would differ. */
export interface WhatIf {
  /** An integer of at least 0. */
  orders: number;
  risk: Compared;
  rules: Compared;
}

/** What to try on the orders of the last days: a risk model, transfer rules or both. */
export interface WhatIfRequest {
  /** A registered version. Without one, the version decides that did. At most 100 characters. */
  risk?: string | null;
  /** At most 100 characters. */
  rules?: string | null;
  /** An integer from 1 to 400. */
  days: number;
  /** An integer from 1 to 100000. */
  limit: number;
}

/** What the bank says: of a code a sentence, of a fact a part of one. */
export interface Words {
  /** In Mexican Spanish. */
  es: string;
  /** In English. */
  en: string;
}
