// The entry point for browsers. Importing it fetches these few modules and no model: that happens in `load`.

import * as parts from "../dist/entry/browser.js";
import { compile } from "./instance.js";
import { digest, wasmOf } from "./packaged.js";
import { entry } from "./page.js";

export { InvalidRequest, ModelFailed } from "./errors.js";

const { load, live } = entry(parts, async (name, sha256) => {
  // The second attempt bypasses caches, which may hold the core of an earlier release.
  for (const cache of /** @type {const} */ (["default", "reload"])) {
    const response = await fetch(parts.CORES[name](), { cache });
    const bytes = await wasmOf(response);
    // Digests need a secure context.
    const subtle = globalThis.crypto?.subtle;
    if (!subtle || (await digest(subtle, bytes)) === sha256) return compile(bytes);
  }
  throw new Error(`the core of ${name} is not the one of this release`);
});

export { live, load };
