// The entry point for workerd, which compiles nothing at run time: the worker's bundle contains every model.

import accessibility1 from "../dist/core/accessibility-1.core.wasm";
import nudge1 from "../dist/core/nudge-1.core.wasm";
import risk1 from "../dist/core/risk-1.core.wasm";
import risk2 from "../dist/core/risk-2.core.wasm";
import * as accessibilityGlue from "../dist/glue/accessibility.js";
import * as nudgeGlue from "../dist/glue/nudge.js";
import * as riskGlue from "../dist/glue/risk.js";
import manifest from "../dist/manifest.js";
import accessibility from "../dist/schema/accessibility.js";
import nudge from "../dist/schema/nudge.js";
import risk from "../dist/schema/risk.js";
import { loader } from "./packaged.js";

export { InvalidRequest, ModelFailed } from "./errors.js";

const SCHEMAS = { risk, nudge, accessibility };
const GLUE = { risk: riskGlue, nudge: nudgeGlue, accessibility: accessibilityGlue };
/** @type {Record<string, WebAssembly.Module>} */
const CORES = { "risk-2": risk2, "risk-1": risk1, "nudge-1": nudge1, "accessibility-1": accessibility1 };

export const load = loader({
  manifest: async () => manifest,
  schema: async (kind) => SCHEMAS[kind],
  glue: async (kind) => GLUE[kind],
  core: async (name) => CORES[name],
});

/** Not available. @type {(kind: unknown, options?: unknown) => Promise<never>} */
export async function live() {
  throw new Error("workerd compiles nothing at run time: use load(), and choose the model by configuration");
}
