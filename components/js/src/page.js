// What the entry points for bundlers and browsers have in common: everything except where a core comes from.

/** @import { LiveOptions } from "./index.js" */
/** @import { LivePlatform, Platform } from "./internal.js" */
import { loader } from "./packaged.js";

// Written out, because bundlers only follow literal paths.
const SCHEMAS = {
  risk: () => import("../dist/schema/risk.js"),
  nudge: () => import("../dist/schema/nudge.js"),
  accessibility: () => import("../dist/schema/accessibility.js"),
};
const GLUE = {
  risk: () => import("../dist/glue/risk.js"),
  nudge: () => import("../dist/glue/nudge.js"),
  accessibility: () => import("../dist/glue/accessibility.js"),
};

/** The entry point with these cores. @param {Platform["core"]} core */
export function entry(core) {
  /** @type {Platform} */
  const platform = {
    manifest: async () => (await import("../dist/manifest.js")).default,
    schema: async (kind) => (await SCHEMAS[kind]()).default,
    glue: (kind) => GLUE[kind](),
    core,
  };
  const load = loader(platform);

  /** Like `load`, but follows what a Caudal host has in service. @type {(kind: any, options?: LiveOptions) => Promise<any>} */
  async function live(kind, options = {}) {
    const { follow } = await import("./live.js");
    const { crypto, caches, location } = globalThis;
    /** @type {LivePlatform} */
    const livePlatform = { ...platform, load, subtle: crypto?.subtle, caches };
    return follow(livePlatform, kind, { base: location?.origin, ...options });
  }

  return { load, live };
}
