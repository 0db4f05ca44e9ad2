// The entry point for workerd, which compiles nothing at run time: the worker's bundle contains every model.

import { CORES, GLUE, SCHEMAS } from "../dist/entry/workerd.js";
import manifest from "../dist/manifest.js";
import { copied } from "./instance.js";
import * as own from "./own.js";
import { loader } from "./packaged.js";

export { InvalidRequest, ModelFailed } from "./errors.js";

export const load = loader({
  manifest: async () => manifest,
  schema: async (kind) => SCHEMAS[kind],
  glue: async (kind) => GLUE[kind],
  core: async (name) => copied(CORES[name]),
  own: async () => own,
  subtle: crypto.subtle,
});

/** Not available. @type {(kind: unknown, options?: unknown) => Promise<never>} */
export async function live() {
  throw new Error("workerd compiles nothing at run time: use load(), and choose the model by configuration");
}
