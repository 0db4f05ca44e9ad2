// The part of the admin API's answers that the console shows.

import type { Child } from "../shared/dom.js";
import type { FieldError } from "../shared/problem.js";

export interface Canary {
  version: string;
  percent: number;
  max_flip_percent?: number | null;
}

/** What serves a kind, with the ETag that a change has to name. */
export interface Deployment {
  kind: string;
  epoch: number;
  champion: string | null;
  previous: string | null;
  canary: Canary | null;
  shadows: string[];
  reason: string | null;
  changed_by: string | null;
  changed_at: string | null;
  etag: string;
  /** Where a rollback returns to; the champion if there is nothing before it. Only of the present deployment. */
  rollback_to?: string | null;
  setbacks?: Setback[];
}

/** Why a version should not simply be promoted. */
export interface Setback {
  version: string | null;
  cause: "withdrawn" | "rolled-back";
  epoch: number;
  reason: string;
  changed_by: string;
  changed_at: string;
}

export interface Host {
  host: string;
  epoch: number;
  state: string;
  champion: string | null;
  detail: string | null;
  since: string;
}

/** An action that takes two operators. */
export interface Approval {
  id: string;
  action: { type: string; [field: string]: any };
  digest: string;
  reason: string;
  state: string;
  proposedBy: string;
  expiresAt: string;
}

/** A payment that its rail has not decided. */
export interface Payment {
  transactionId: string;
  trackingKey: string;
  amount: number;
  rail: string;
  ageSeconds: number;
  nextAttemptAt?: string;
  parkedAt?: string;
  lastError?: string;
}

export interface Version {
  model_version: string;
  bytes: number;
  built_in: boolean;
  registered_by: string | null;
  registered_at: string;
}

export interface GateReport {
  summary?: string;
  checks: { name?: string; outcome: string; detail?: string }[];
}

export interface VersionDetails extends Version {
  class?: string;
  sha256: string;
  report?: GateReport | null;
  card?: string | null;
  signature?: Signed | null;
}

export interface Signed {
  /** Null if no key of the host made it. */
  signed_by: string | null;
  added_by: string;
  added_at: string;
}

export interface Versions {
  kind: string;
  epoch: number;
  versions: Version[];
  hosts: Host[];
}

export interface Scores {
  /** Bounds of the bins, one more than there are bins. */
  edges: number[];
  champion: number[];
  challenger: number[];
}

export interface Latency {
  p50?: number;
  p99?: number;
}

export interface Challenger {
  role: "canary" | "shadow";
  version: string;
  percent: number | null;
  /** Why it was withdrawn. */
  withdrawn?: string | null;
  compared: number;
  failed?: { trapped?: number; timed_out?: number; bad_answer?: number };
  flip_share?: number | null;
  flip?: Share;
  failure?: Share;
  score_psi?: number | null;
  classes: string[];
  /** Champion's classes down, challenger's across. */
  flips: number[][];
  difference?: { mean?: number; p50?: number; p99?: number; largest?: number };
  latency_us?: { champion?: Latency; challenger?: Latency };
  scores?: Scores | null;
}

/** A share with its 95% confidence interval. */
export interface Share {
  count: number;
  of: number;
  share: number;
  low: number;
  high: number;
}

/** A canary whose share of the users grows by itself. */
export interface Rollout {
  rollout_id: string;
  canary: string | null;
  state: string;
  detail: string;
  steps: number[];
  step: number;
  step_at: string;
  epoch: number;
  step_decisions: number;
  step_seconds: number;
  max_failure_percent: number;
  max_flip_percent: number;
  changed_by: string;
  changed_at: string;
  /** While hosts look after it. */
  evidence: { decisions: number; failures: Share; flips: Share; waits_for: string | null } | null;
}

/** What one version did; each list has an item for each step. */
export interface VersionTraffic {
  version: string;
  answered: number[];
  failed: number[];
  compared: number[];
  flipped: number[];
  p50_us: (number | null)[];
  p99_us: (number | null)[];
  classes: number[][];
}

export interface Traffic {
  from: string;
  step_seconds: number;
  steps: number;
  classes: string[];
  versions: VersionTraffic[];
}

export interface Feature {
  feature: string;
  psi?: number | null;
  observed: number;
}

export interface Report {
  epoch: number;
  champion: string;
  since: string;
  observed: number;
  dropped: number;
  challengers: Challenger[];
  features: Feature[];
}

/** A Problem of the service, or a fault of this page with status -1. */
export interface Failure {
  status: number;
  title: string;
  detail: string;
  code?: string;
  errors: FieldError[];
  requestId?: string;
}

/** What a part of the page shows: data, or why there is none. */
export interface Loaded<Data> {
  /** Null never matches an epoch, so the part is loaded again. */
  epoch?: number | null;
  data?: Data;
  failure?: Failure;
}

export interface NumberField {
  name: string;
  label: string;
  hint: string;
  min: number;
  max: number;
  value: number;
  /** % by default. */
  unit?: string;
}

export type Values = Record<string, number>;

/** A change of what serves. */
export interface Change {
  title: string;
  verb: string;
  fields: NumberField[];
  /** It makes no deployment. */
  keepsDeployment?: boolean;
  /** The versions whose evidence the operator reads first. */
  about?: (string | null | undefined)[];
  /** Why it should not be made; a change that is made in spite of it is confirmed separately. */
  setback?: Setback;
  /** The confirmation, in the operator's words. */
  inSpite?: string;
  /** What will happen; the operator confirms it, so every sentence has to be true of what `send` sends. */
  effects: (values: Values) => string[];
  send: (values: Values, reason: string) => Promise<{ state?: string; id?: string; expiresAt?: string }>;
  done: (values: Values) => string;
}

export interface Control {
  name: string;
  label: string;
  control: HTMLInputElement | HTMLTextAreaElement;
  element: HTMLElement;
  setFault: (text: string) => void;
  check: () => string;
}

/** Content, or content and its class. */
export type Cell = Child | [Child, string | null];
