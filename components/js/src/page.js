// What the entry points for bundlers and browsers have in common: everything except where a core comes from.

/** @import { LiveOptions } from "./index.js" */
/** @import { LivePlatform, Parts, Platform } from "./internal.js" */
import { loader } from "./packaged.js";

/** The entry point with these parts. @param {Parts} parts @param {Platform["core"]} core @param {Platform["spawn"]} [spawn] */
export function entry({ SCHEMAS, GLUE }, core, spawn) {
  /** @type {Platform} */
  const platform = {
    manifest: async () => (await import("../dist/manifest.js")).default,
    schema: async (kind) => (await SCHEMAS[kind]()).default,
    glue: (contract) => GLUE[contract](),
    own: () => import("./own.js"),
    isolate: () => import("./isolate.js"),
    positional: () => import("./positional.js"),
    spawn,
    subtle: globalThis.crypto?.subtle,
    core,
  };
  const load = loader(platform);

  /** Like `load`, but follows what a Caudal host has in service. @type {(kind: any, options?: LiveOptions) => Promise<any>} */
  async function live(kind, options = {}) {
    const { follow } = await import("./live.js");
    const { caches, location } = globalThis;
    /** @type {LivePlatform} */
    const livePlatform = { ...platform, load, caches };
    return follow(livePlatform, kind, { base: location?.origin, ...options });
  }

  return { load, live };
}
