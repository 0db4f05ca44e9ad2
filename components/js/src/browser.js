// The entry point for browsers. Importing it fetches these few modules and no model: that happens in `load`.

import { digest, loader } from "./packaged.js";

export { InvalidRequest, ModelFailed } from "./errors.js";

// Written out, not put together: bundlers follow only what stands there.
const PARTS = {
  risk: () => import("./risk.js"),
  nudge: () => import("./nudge.js"),
  accessibility: () => import("./accessibility.js"),
};
const GLUE = {
  risk: () => import("../dist/glue/risk.js"),
  nudge: () => import("../dist/glue/nudge.js"),
  accessibility: () => import("../dist/glue/accessibility.js"),
};
const CORES = {
  "risk-2": () => new URL("../dist/core/risk-2.core.wasm", import.meta.url),
  "risk-1": () => new URL("../dist/core/risk-1.core.wasm", import.meta.url),
  "nudge-1": () => new URL("../dist/core/nudge-1.core.wasm", import.meta.url),
  "accessibility-1": () => new URL("../dist/core/accessibility-1.core.wasm", import.meta.url),
};

/** Compiles a core of the package once it is proven to be the one that the manifest names. */
async function core(name, sha256) {
  // The second time past every cache, which may hold one of an earlier release.
  for (const cache of ["default", "reload"]) {
    const response = await fetch(CORES[name](), { cache });
    if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
    const bytes = await response.arrayBuffer();
    // Without a secure context there is no way to compute it.
    const subtle = globalThis.crypto?.subtle;
    if (!subtle || (await digest(subtle, bytes)) === sha256) return WebAssembly.compile(bytes);
  }
  throw new Error(`the core of ${name} is not the one of this release`);
}

const platform = {
  manifest: async () => (await import("../dist/manifest.js")).default,
  part: (kind) => PARTS[kind](),
  glue: (kind) => GLUE[kind](),
  core,
};

export const load = loader(platform);

/** Like `load`, and then follows what a Caudal host has in service. */
export async function live(kind, options = {}) {
  const { follow } = await import("./live.js");
  const { crypto, caches, location } = globalThis;
  const base = options.base ?? location?.origin;
  return follow({ ...platform, load, subtle: crypto?.subtle, caches }, kind, { ...options, base });
}
