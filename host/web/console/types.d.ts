// Types of the console. What it shows is what the admin API answers.

import type * as answers from "../shared/answers.js";
import type { Child } from "../shared/dom.js";
import type { FieldError } from "../shared/problem.js";

export type {
  Beneficiary,
  Challenger,
  ChallengersReport as Report,
  Customer,
  DeploymentRequest,
  Feature,
  Hold,
  Host,
  Latency,
  ModelKind as Versions,
  PendingPayment as Payment,
  Review,
  Rollout,
  RolloutRequest,
  Scores,
  Setback,
  Share,
  Signature as Signed,
  SignIn as Provider,
  Transaction,
  Version,
} from "../shared/answers.js";

export interface Canary extends Partial<answers.Canary> {
  version: string;
  percent: number;
}

/** What serves a kind, with the ETag that a change has to name. Only the present one says where a rollback returns to. */
export interface Deployment
  extends Omit<answers.Deployment, "canary">,
    Partial<Pick<answers.PresentDeployment, "rollback_to" | "setbacks">> {
  canary: Canary | null;
  etag: string;
}

/** An action that takes two operators. */
export interface Approval extends answers.Approval {
  action: { type: string; [field: string]: any };
}

/** One way in which decisions differ, with counts by range, age or outcome. */
export interface Difference extends answers.DecisionChange {
  by_amount: Record<string, number>;
  by_payee: Record<string, number>;
  by_outcome: Record<string, number>;
}

export interface Compared extends answers.Compared {
  changes: Difference[];
}

export interface WhatIf extends answers.WhatIf {
  risk: Compared;
  rules: Compared;
}

/** What is known when a change is confirmed: its kind's history, newest first, and its latest report. */
export interface Seen {
  past: Deployment[];
  report?: answers.ChallengersReport;
}

export interface GateReport {
  summary?: string;
  checks: { name?: string; outcome: string; detail?: string }[];
}

export interface VersionDetails extends answers.ExaminedVersion {
  report: GateReport | null;
}

/** What one version did; each list has an item for each step. */
export interface VersionTraffic extends answers.VersionTraffic {
  p50_us: (number | null)[];
  p99_us: (number | null)[];
}

export interface Traffic extends answers.Traffic {
  versions: VersionTraffic[];
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
  value: number | string;
  /** A rollout's steps, separated by commas. */
  isSteps?: boolean;
  /** % by default. */
  unit?: string;
}

/** Numbers, or lists of them, by the names of their fields. */
export type Values = Record<string, any>;

/** A change of what serves. */
export interface Change {
  title: string;
  verb: string;
  fields: NumberField[];
  /** It makes no deployment. */
  keepsDeployment?: boolean;
  /** The versions whose evidence the operator reads first. */
  about?: (string | null | undefined)[];
  /** Why it should not be made. */
  setback?: answers.Setback;
  /** What has to be confirmed separately, in the operator's words. */
  inSpite?: string;
  /** The change that follows once this one is made. */
  next?: string;
  /** What will happen; the operator confirms it, so every sentence has to be true of what `send` sends. */
  effects: (values: Values) => string[];
  send: (values: Values, reason: string) => Promise<{ state?: string; id?: string; expiresAt?: string }>;
  done: (values: Values) => string;
}

export interface Control {
  name: string;
  label: string;
  element: HTMLElement;
  /** What was typed, which `fill` takes again. */
  text: () => string;
  fill: (text: string) => void;
  focus: () => void;
  setFault: (text: string) => void;
  check: () => string;
}

/** Content, or content and its class. */
export type Cell = Child | [Child, string | null];
