// Types of the package, the same for browsers, Node and workerd. Names and meanings are those of the HTTP API.

import type { FieldError, Kinds, RiskAnswer, RiskRequest } from "./types.js";

export type * from "./types.js";

/** What is scored: a transfer, a visit to a screen, a person's needs. */
export type Kind = keyof Kinds;

/** A reason for a risk. */
export type RiskFactor = RiskAnswer["result"]["risk_factors"][number];

export interface AccessibilityOptions {
  /** A language tag: English for `en` and its variants, Mexican Spanish otherwise and by default. */
  language?: string;
}

/** A model, ready to score. No call leaves anything behind for the next. */
export interface Scorer<Request, Answer, Options = never> {
  readonly kind: Kind;
  /** The `model_version` of its answers. */
  readonly modelVersion: string;
  /** SHA-256 of the component file in hex, as in the host. */
  readonly sha256: string;
  /**
   * Scores a request, as `assessText(JSON.stringify(request))` does. Synchronous; takes about 0.02 ms.
   *
   * @throws {InvalidRequest} when the HTTP API would refuse the body, with the same status, code and errors.
   * @throws {ModelFailed} when the model has no usable answer, among them {@link Abstained}.
   */
  assess(request: Request, options?: Options): Answer;
  /** Scores a body of the HTTP API, parsed as the server parses it. Throws as `assess` does. */
  assessText(text: string, options?: Options): Answer;
}

/** A risk, and what weighed how much in it: `base` and the weights add up to the number from which the score follows. */
export interface ExplainedRisk extends RiskAnswer {
  base: number;
  /** By the facts of a request; in models of contract 1, by features with names of their own. */
  contributions: { feature: string; weight: number }[];
}

/** What scorers of risk have in addition. */
export interface Explains {
  /** Scores a request and explains the score. A large model takes some milliseconds. Rejects where `assess` throws. */
  explain(request: RiskRequest): Promise<ExplainedRisk>;
}

/** The scorer of a kind. */
export type ScorerOf<K extends Kind> = Scorer<
  Kinds[K]["request"],
  Kinds[K]["answer"],
  K extends "accessibility" ? AccessibilityOptions : never
> &
  (K extends "risk" ? Explains : unknown);
export type RiskScorer = ScorerOf<"risk">;
export type NudgeScorer = ScorerOf<"nudge">;
export type AccessibilityScorer = ScorerOf<"accessibility">;

export interface LoadOptions<Model extends string> {
  /** A model of the package; by default that of the kind. */
  model?: Model;
  core?: never;
}

/** A `Worker` of a page, or of Node's `worker_threads`. */
export interface Spawned {
  postMessage(message: unknown): void;
  terminate(): unknown;
  onmessage?: ((event: any) => void) | null;
  onerror?: ((event: any) => void) | null;
  once?(event: string, act: (data: any) => void): unknown;
  removeAllListeners?(): unknown;
  ref?(): void;
  unref?(): void;
}

/**
 * Runs the core in a worker of its own, which is ended when a call takes longer than 60 ms: that call rejects with
 * ModelFailed, and the next one starts another worker. `true`, or a function that starts a worker of one's own with the
 * module `@caudal/scorers/isolated`. Not available in workerd, which has no workers.
 */
export type Isolate = true | (() => Spawned);

/** A scorer in a worker: what another one returns or throws, it promises. */
export type Isolated<S extends { assess: any; assessText: any }> = Omit<S, "assess" | "assessText"> & {
  assess(...call: Parameters<S["assess"]>): Promise<ReturnType<S["assess"]>>;
  assessText(...call: Parameters<S["assessText"]>): Promise<ReturnType<S["assessText"]>>;
  /** Ends the worker, after the calls that are under way. */
  close(): void;
};

/** What a core can be loaded from. */
export type CoreSource = WebAssembly.Module | BufferSource | Response | URL;

/** From which scores a risk is medium and high, as a host has them for its model in service. */
export interface CutOffs {
  medium_from: number;
  high_from: number;
}

/** A model that the package does not contain. `caudal models package --component` writes a core and the rest of it. */
export interface OwnCore {
  /** The component, or its core module alone, as `caudal models package` and a host's `/models` have it. */
  core: CoreSource | Promise<CoreSource>;
  /** SHA-256 of the component in hex; by default that of `core`, which has to be given for a `WebAssembly.Module`. */
  sha256?: string;
  /** What the model has to describe itself as, with the first eight digits of `sha256`. */
  modelVersion?: string;
  /** Fingerprint of what its glue depends on: a package that has other glue refuses the model before it runs. */
  abi?: string;
  /** By default those of the contract. */
  cut_offs?: CutOffs;
  model?: never;
}

/**
 * Loads a model of the package. Its parts are fetched and compiled once, however often it is loaded.
 *
 * Rejects with a RangeError for an unknown kind or model, and with an Error when a part cannot be fetched or belongs to
 * another release; the latter can be tried again. A core of one's own is loaded each time, and refused unless it has no
 * imports and describes itself as a model of that kind.
 */
export function load<K extends Kind>(
  kind: K,
  options: (LoadOptions<Kinds[K]["model"]> | OwnCore) & { isolate: Isolate },
): Promise<Isolated<ScorerOf<K>>>;
export function load<K extends Kind>(kind: K, options?: LoadOptions<Kinds[K]["model"]> | OwnCore): Promise<ScorerOf<K>>;

/** Why the host's model does not score. */
export interface LiveProblem {
  /**
   * `unreachable`: no answer, or an error. `not-published`: the host does not publish models of this kind.
   * `other-glue`, `other-facts`: the model in service needs another release of this package. `too-large`, `wrong-sha256`,
   * `other-origin`, `bad-answer`, `unusable`: the offered model is not valid. `unsigned`: none of `keys`
   * signed it. `insecure`: digests need https or localhost.
   */
  code:
    | "unreachable"
    | "not-published"
    | "other-glue"
    | "other-facts"
    | "too-large"
    | "wrong-sha256"
    | "other-origin"
    | "bad-answer"
    | "unusable"
    | "insecure"
    | "unsigned";
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
  isolate?: Isolate;
  /**
   * Public keys on P-256 of those who release models, as JWK. Then a component is accepted only if one of them signed it, as
   * `cosign sign-blob` does. The package's own models need no signature.
   */
  keys?: JsonWebKey[];
}

/** What a live scorer has in addition. Its `modelVersion` and `sha256` change with the model. */
export interface Live {
  /** Null while the host's model scores. */
  readonly problem: LiveProblem | null;
  /** Checks the host now; resolves to whether the model changed, and never rejects. */
  check(): Promise<boolean>;
  /** Stops checking; the current model continues to score. */
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
export function live<K extends Kind>(
  kind: K,
  options: LiveOptions & { isolate: Isolate },
): Promise<Isolated<ScorerOf<K>> & Live>;
export function live<K extends Kind>(kind: K, options?: LiveOptions): Promise<ScorerOf<K> & Live>;

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
  readonly name: "ModelFailed" | "Abstained";
  readonly status: 503;
  readonly code: "model-unavailable";
  readonly title: string;
  readonly detail: string;
  readonly errors: [];
}

/** The model says that it has too little to go by. Nothing was decided; a host would let its previous model answer. */
export class Abstained extends ModelFailed {
  readonly name: "Abstained";
  /** Its code, such as `MISSING_FACT`. */
  readonly reason: string;
}
