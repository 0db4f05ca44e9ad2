// The entry point whose cores are modules too, in base64. For bundlers that do not copy the files of
// `new URL("....wasm", import.meta.url)`, such as esbuild.

import { entry } from "./src/page.js";

export { InvalidRequest, ModelFailed } from "./src/errors.js";

// Written out, because bundlers only follow literal paths.
/** @type {Record<string, () => Promise<{ default: string }>>} */
const CORES = {
  "risk-2": () => import("./dist/core/risk-2.core.js"),
  "risk-1": () => import("./dist/core/risk-1.core.js"),
  "nudge-1": () => import("./dist/core/nudge-1.core.js"),
  "accessibility-1": () => import("./dist/core/accessibility-1.core.js"),
};

export const { load, live } = entry(async (name) => {
  const { default: base64 } = await CORES[name]();
  return WebAssembly.compile(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
});
