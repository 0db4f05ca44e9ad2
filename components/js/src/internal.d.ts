// Types that the package does not export.

import type { CutOffs, ExplainedRisk, FieldError, Isolate, Kind, LiveProblem, OwnCore, Spawned } from "./index.js";
import type { Scorer } from "./scorer.js";

/** The generated code around a component's core module. */
export interface Glue {
  instantiate(
    core: (path: string) => WebAssembly.Module,
    imports: object,
    instantiateCore: () => { exports: object },
  ): any;
}

/** A compiled core, and the names of the exports that are all its state, if it can be restored. */
export interface Core {
  module: WebAssembly.Module;
  states: string[] | null;
}

/** What runs a core: here, or in a worker, which answers later. */
export interface Runner {
  describe(): any;
  assess(request: unknown): any;
  explain(request: unknown): any;
  close?(): void;
}

/** What a contract leaves to the host: what a component is asked, and what its outcome means. */
export interface Half {
  question(sent: Record<string, unknown>): unknown;
  assessment(outcome: any, sent: Record<string, unknown>): any;
  explanation(told: any): Pick<ExplainedRisk, "base" | "contributions">;
}

/** What risk models may ask for and answer, and what the factors of a risk follow from. */
export interface Catalogue {
  facts: Record<string, { kind: string; unit?: string; scale?: number; always_known?: boolean }>;
  factors: { much_higher_times: number; normal_hours: [number, number]; history_min: number };
  reasons: string[];
  names_max: number;
  value_max: number;
}

/** What identifies a model, and from where its scores are medium and high, if the bank says so. */
export interface Identity {
  modelVersion: string;
  sha256: string;
  abi?: string;
  cut_offs?: CutOffs;
}

interface Bounds {
  name: string;
  at_least?: number;
  at_most?: number;
  /** The values of a closed set of strings. */
  texts?: string[];
}

/** A field of a request, as the host declares it. */
export interface RequestField extends Bounds {
  type: string;
  optional?: boolean;
  /** Only repeated in the answer. */
  echoed?: boolean;
  chars_max?: number;
  /** Blank strings are allowed. */
  blank?: boolean;
  /** What the component calls `texts`, where that differs. */
  cases?: string[];
  /** An alternative name. */
  synonym?: string;
  /** Optional, with 0 as its default, in requests that use the first name, a synonym, and not the second. */
  optional_with?: [string, string];
}

/** A field of an answer. */
export interface AnswerField extends Bounds {
  /** What the component calls it, unless that is the name in camelCase. */
  component?: string;
  fields?: AnswerField[];
}

/** The requests and answers of a kind. */
export interface Schema {
  kind: Kind;
  request: RequestField[];
  answer: AnswerField[];
  thresholds: Record<string, number>;
}

interface File {
  file: string;
  sha256: string;
  bytes: number;
}

/** A model of the package. */
export interface Model {
  kind: Kind;
  default: boolean;
  model_version: string;
  sha256: string;
  cut_offs?: CutOffs;
  core: File;
}

/** What components of a kind are built for. */
export interface Contract {
  kind: Kind;
  /** The interface that scores, with its version. */
  interface: string;
  /** Fingerprint of what its glue depends on. */
  abi: string;
}

export interface Manifest {
  /** By the name of their glue, and in the order of these: the later ones of a kind come last. */
  contracts: Record<string, Contract>;
  models: Record<string, Model>;
}

/** Where an entry point finds the parts of the package. */
export interface Platform {
  manifest(): Promise<Manifest>;
  schema(kind: Kind): Promise<Schema>;
  glue(contract: string): Promise<Glue>;
  /** Compiles the core of a model after verifying its digest. */
  core(name: string, sha256: string): Promise<Core>;
  own(): Promise<typeof import("./own.js")>;
  positional(): Promise<typeof import("./positional.js")>;
  isolate?(): Promise<typeof import("./isolate.js")>;
  /** Starts the worker of the package. */
  spawn?(): Spawned;
  /** Without it there are no digests. */
  subtle?: Pick<SubtleCrypto, "digest" | "importKey" | "verify">;
  /** For addresses that `fetch` does not know. */
  fetch?(url: URL): Promise<Response>;
}

/** What an entry point imports of the generated files. */
export interface Parts {
  SCHEMAS: Record<Kind, () => Promise<{ default: Schema }>>;
  GLUE: Record<string, () => Promise<Glue>>;
}

export type Load = (
  kind: Kind,
  options?: { model?: string; isolate?: Isolate } & Partial<Omit<OwnCore, "model">>,
) => Promise<Scorer>;

/** A platform that can follow a host. Without `caches` there are no earlier visits. */
export interface LivePlatform extends Platform {
  load: Load;
  caches?: CacheStorage;
}

/** The host's description of a model in service; not trusted until it is checked. */
export interface Offer {
  kind: Kind;
  model_version: string;
  sha256: string;
  abi: string;
  core: { url: string; sha256: string; bytes: number };
  cut_offs?: CutOffs;
  /** Of the component, once it was fetched. */
  signature?: string;
}

export type RefusalCode = LiveProblem["code"];

/** What a client gets instead of an answer. */
export interface Failure {
  status: number;
  code: string;
  title: string;
  detail: string;
  errors: FieldError[];
  headers?: Record<string, string>;
}
