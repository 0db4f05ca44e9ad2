// Types of the bank's page. Amounts are whole centavos.

import type {
  AccessibilityAnswer,
  AccessibilityRequest,
  NudgeAnswer,
  NudgeRequest,
  RiskAnswer,
  RiskRequest,
} from "../../../components/js/src/index.js";
import type * as answers from "../shared/answers.js";
import type { Child } from "../shared/dom.js";

export type {
  AnalyticsEvent,
  ConfirmationRequest,
  Occurrence,
  PayeeCheck,
  ReceiptDecision,
  SignIn as Provider,
  TransactionReceipt,
  TransferEvent,
} from "../shared/answers.js";
export type { Attempt, Return, Tokens } from "../shared/provider.js";

export type Language = "es-MX" | "en";

/** An answer whose amount is in centavos. */
type InCentavos<Answer> = Omit<Answer, "amount"> & { centavos: number };

export interface Account extends Pick<answers.Account, "id" | "accountNumber" | "accountType" | "frozen"> {
  /** The balance. */
  centavos: number;
  /** The balance without what holds set aside. */
  available: number;
}

export interface Payee extends Pick<answers.Beneficiary, "id" | "name" | "bankName" | "accountNumber"> {
  alias?: string | null;
  isFavorite?: boolean;
  derivedBank?: string;
  warnings?: string[];
}

/** What a sender tells the payee. */
export type Remittance = Required<Pick<answers.TransferRequest, "concept" | "numericReference">>;

export type Transfer = InCentavos<answers.Transaction>;
export type Schedule = InCentavos<answers.Schedule>;
export type Entry = InCentavos<answers.Entry>;

/** When to send a transfer, and what is known of the device that asks. */
export type NewSchedule = Omit<answers.ScheduleRequest, keyof Parties | keyof Remittance | "amount">;

/** The limits and waiting times of the next transfer, in centavos. */
export type Terms = Omit<answers.Terms, "sentToday">;

export interface TransferPage {
  transfers: Transfer[];
  /** Address of the next page. */
  next: string | null;
}

export interface EntryPage {
  entries: Entry[];
  next: string | null;
}

export type TransferState = "pending" | "completed" | "failed" | "returned";

/** What the events say about a transfer. */
export interface Outcome {
  status: string;
  reason: string | null;
  at: string;
}

export type Parties = Pick<answers.TransferRequest, "fromAccountId" | "toBeneficiaryId">;
export type Consent = Pick<answers.Consent, "granted" | "updatedAt">;
export type Profile = Omit<answers.StoredProfile, "updatedAt">;

/** What the browser knows about device and place. */
export interface Device {
  isNewDevice: boolean;
  hasMoved: boolean;
}

/** What a tab keeps of a session besides the access token. Times are in ms. */
export interface Grant {
  /** Names it among the open tabs. */
  id: string;
  /** Null in a tab that cannot renew. */
  refreshToken: string | null;
  idToken: string | null;
  issued: number;
  expires: number | null;
}

/** `unavailable`: it may work later. */
export type Renewal = "renewed" | "unavailable" | "ended";

/** Unfinished work, and whose it is. */
export interface Work {
  owner: string | null;
  forms: [string, any][];
  transfer: Draft;
}

export type Level = "low" | "medium" | "high";

export interface Verdict {
  /** With which a transfer is sent that was scored like this. */
  circumstances?: Circumstances;
  level: Level;
  factors: string[];
  /** The model's own. */
  reasons?: string[];
  modelVersion: string | null;
  facts: RiskRequest;
  /** The page's model with the ledger's facts or only its own, the ledger's model, or none. */
  scoredBy: "page" | "page-alone" | "ledger" | "none";
}

/** Where a transfer comes from, as far as the page knows, and that the person has seen the bank's own score. */
export type Circumstances = Pick<answers.TransferRequest, "isNewDevice" | "geolocationChanged" | "acknowledgmentToken">;

/** What a person says an unusual payment is for. */
export type Purpose = "call" | "purchase" | "offer" | "number" | "known" | "own" | "other";

/**
 * How the page meets a payment: without remark, as one of those that the person makes, as the first one to somebody, with
 * the payee's warnings, with the reasons why it is unusual, or with a question and a warning that fits the answer.
 */
export type Caution = "none" | "familiar" | "first" | "doubts" | "reasons" | "question";

/** A transfer being prepared. */
export interface Draft extends Remittance {
  fromAccountId: string | null;
  toBeneficiaryId: string | null;
  centavos: number | null;
  /** The amount as it is being typed, before it is chosen. */
  typed: string | null;
  /** The concept and the reference, likewise. */
  typedRemittance: { concept: string; numericReference: string } | null;
  payee: Payee | null;
  /** Whether the person has said that it is for another day. */
  isForLater: boolean;
  /** The schedule that is being changed. */
  replaces: Schedule | null;
  /** Its idempotency key. */
  key: string | null;
  /** Of the schedule that was made from it last. */
  schedule: { plan: string; key: string } | null;
}

/** A complete draft. */
export type FullDraft = Remittance & {
  [Name in keyof Omit<
    Draft,
    "isForLater" | "replaces" | "key" | "schedule" | "typed" | "typedRemittance" | keyof Remittance
  >]: NonNullable<Draft[Name]>;
};

export interface Answers {
  risk: { request: RiskRequest; answer: RiskAnswer };
  nudge: { request: NudgeRequest; answer: NudgeAnswer };
  accessibility: { request: AccessibilityRequest; answer: AccessibilityAnswer };
}

export type Go = (path: string, options?: { replace?: boolean }) => void;

export interface Tools {
  /** Aborted when the person leaves the screen. */
  signal: AbortSignal;
  go: Go;
  redraw: () => void;
  /** Writes the title again; the focus stays where it is. */
  retitle: () => void;
}

export interface Screen {
  path: string;
  /** Its name in analytics and for the nudge scorer. */
  name: string;
  title: () => string;
  draw: (place: HTMLElement, tools: Tools) => unknown;
  /** The navigation entry to mark, if it is not this screen's own path. */
  nav?: string;
  /** Its step in the transfer, from 1. */
  step?: number;
  /** Where to redirect when the screen does not apply. */
  guard?: () => string | null;
}

/** A line of a statement; `state` is that of the transfer which took the money out. */
export interface Movement {
  entry: Entry;
  state: TransferState | null;
}

/** What is looked for in a statement; "" is anything. Days are as in 2026-11-21, and included. */
export interface Filter {
  text: string;
  direction: string;
  state: string;
  from: string;
  to: string;
}

/** A form field. `Value` is a string, a boolean, or null for a choice that was not made. */
export interface Field<Value = any> {
  name: string;
  element: HTMLElement;
  control: HTMLElement;
  read: () => Value;
  write: (value: Value) => void;
  /** What is wrong with a value, or "". */
  check: (value: Value) => string;
  /** Shows what is wrong; "" clears it. */
  setFault: (text: string) => void;
}

export interface TextField extends Field<string> {
  control: HTMLInputElement;
}

export interface ChoiceField extends Field<string | null> {
  rows: HTMLElement[];
}

export interface Option {
  value: string;
  label: Child;
  about?: Child;
}

export interface FieldFault {
  field: Field;
  text: string;
}

export interface Form {
  element: HTMLFormElement;
  fields: Field[];
  showFaults: (faults: FieldFault[]) => void;
}
