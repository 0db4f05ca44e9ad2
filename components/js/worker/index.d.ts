// Types of the edge worker.

import type { CutOffs, Kind } from "../src/index.js";

/** Bindings that choose among the models; a kind without one uses the package's default. */
export interface Env {
  /** For example `risk-1`. */
  RISK_MODEL?: string;
  NUDGE_MODEL?: string;
  ACCESSIBILITY_MODEL?: string;
  /** Address of a Caudal host. The health report fails while a kind's model is not the one in service there. */
  CAUDAL_HOST?: string;
}

/** A model that the package does not contain, as `caudal models package --component` lists it in `models.js`. */
export interface OwnModel {
  kind: Kind;
  core: WebAssembly.Module;
  sha256: string;
  modelVersion?: string;
  abi?: string;
  /** By default those of the contract. */
  cut_offs?: CutOffs;
}

export interface Worker {
  fetch(request: Request, env: Env): Promise<Response>;
}

/** The worker with models of one's own, by their names, beside those of the package. */
export function withModels(own: Record<string, OwnModel>): Promise<Worker>;

/** The assistance API of a Caudal host: the scores and the health report. */
declare const worker: Worker;
export default worker;
