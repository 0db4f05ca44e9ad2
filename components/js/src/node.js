// The entry point for Node. Importing it reads no model: that happens in `load`.

/** @import { LiveOptions } from "./index.js" */
/** @import { Platform } from "./internal.js" */
import { webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";

import { compile } from "./instance.js";
import { follow } from "./live.js";
import * as own from "./own.js";
import { digest, loader } from "./packaged.js";

export { Abstained, InvalidRequest, ModelFailed } from "./errors.js";

/** @type {Platform["core"]} */
async function core(name, sha256) {
  const bytes = await readFile(new URL(`../dist/core/${name}.core.wasm`, import.meta.url));
  if ((await digest(webcrypto.subtle, bytes)) !== sha256)
    throw new Error(`the core of ${name} is not the one of this release`);
  return compile(bytes);
}

/** @type {Platform} */
const platform = {
  manifest: async () => (await import("../dist/manifest.js")).default,
  schema: async (kind) => (await import(`../dist/schema/${kind}.js`)).default,
  glue: (contract) => import(`../dist/glue/${contract}.js`),
  core,
  own: async () => own,
  isolate: () => import("./isolate.js"),
  positional: () => import("./positional.js"),
  spawn: () => new Worker(new URL("./isolated-node.js", import.meta.url)),
  subtle: webcrypto.subtle,
  fetch: async (url) => (url.protocol === "file:" ? new Response(await readFile(url)) : fetch(url)),
};

export const load = loader(platform);

/** Like `load`, but follows what a Caudal host has in service. Nothing is stored. @type {(kind: any, options?: LiveOptions) => Promise<any>} */
export function live(kind, options) {
  return follow({ ...platform, load }, kind, options);
}
