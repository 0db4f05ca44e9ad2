// The entry point for workerd, which compiles nothing at run time: the worker's bundle contains every model.

import { CORES, GLUE, SCHEMAS } from "../dist/entry/workerd.js";
import manifest from "../dist/manifest.js";
import { copied } from "./instance.js";
import * as own from "./own.js";
import { loader } from "./packaged.js";
import * as positional from "./positional.js";

export { Abstained, InvalidRequest, ModelFailed } from "./errors.js";

export const load = loader({
  manifest: async () => manifest,
  schema: async (kind) => SCHEMAS[kind],
  glue: async (contract) => GLUE[contract],
  core: async (name) => copied(CORES[name]),
  own: async () => own,
  positional: async () => positional,
  subtle: crypto.subtle,
});

/** Not available. @type {(kind: unknown, options?: unknown) => Promise<never>} */
export async function live() {
  throw new Error("workerd compiles nothing at run time: use load(), and choose the model by configuration");
}
