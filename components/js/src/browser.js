// The entry point for browsers. Importing it fetches these few modules and no model: that happens in `load`.

/** @import { Platform } from "./internal.js" */
import * as parts from "../dist/entry/browser.js";
import { compile } from "./instance.js";
import { digest, wasmOf } from "./packaged.js";
import { entry } from "./page.js";

export { Abstained, InvalidRequest, ModelFailed } from "./errors.js";

/** @type {Platform["core"]} */
async function core(name, sha256) {
  // The second attempt bypasses caches, which may hold the core of an earlier release.
  for (const cache of /** @type {const} */ (["default", "reload"])) {
    const bytes = await wasmOf(await fetch(parts.CORES[name](), { cache }));
    // Digests need a secure context.
    const subtle = globalThis.crypto?.subtle;
    if (!subtle || (await digest(subtle, bytes)) === sha256) return compile(bytes);
  }
  throw new Error(`the core of ${name} is not the one of this release`);
}

// In this form bundlers find the worker.
const spawn = () => new Worker(new URL("./isolated.js", import.meta.url), { type: "module" });

const { load, live } = entry(parts, core, spawn);

export { live, load };
