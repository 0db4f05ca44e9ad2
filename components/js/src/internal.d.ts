// Types that the package does not export.

import type { Fields } from "./fields.js";
import type { FieldError, Kind, LiveProblem } from "./index.js";
import type { Scorer } from "./scorer.js";

/** The generated code around a component's core module. */
export interface Glue {
  instantiate(
    core: (path: string) => WebAssembly.Module,
    imports: object,
    instantiateCore: () => { exports: object },
  ): any;
}

/** The module of a kind: its request, what a correct answer looks like, and the answer on the wire. */
export interface Part {
  kind: Kind;
  read(fields: Fields, options?: { language?: string }): { request: object; echo: object };
  /** What is wrong with an answer that no correct model gives, or "". */
  fault(assessment: any): string;
  answer(assessment: any, echo: object, modelVersion: string): any;
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
  core: File;
  glue: File;
}

export interface Manifest {
  wit: string;
  models: Record<string, Model>;
}

/** Where an entry point finds the parts of the package. */
export interface Platform {
  manifest(): Promise<Manifest>;
  part(kind: Kind): Promise<Part>;
  glue(kind: Kind): Promise<Glue>;
  /** Compiles the core of a model, once its digest is proven. */
  core(name: string, sha256: string): Promise<WebAssembly.Module>;
}

export type Load = (kind: Kind, options?: { model?: string }) => Promise<Scorer>;

/** A platform that can follow a host. Without `subtle` there are no digests, without `caches` no earlier visits. */
export interface LivePlatform extends Platform {
  load: Load;
  subtle?: Pick<SubtleCrypto, "digest">;
  caches?: CacheStorage;
}

/** A model that a host has in service, as it says so; nothing of it is believed before it is examined. */
export interface Offer {
  kind: Kind;
  model_version: string;
  sha256: string;
  wit: string;
  core: { url: string; sha256: string; bytes: number };
  glue: { sha256: string };
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
