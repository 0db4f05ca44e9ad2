// The entry point for Node. Importing it reads no model: that happens in `load`.

import { webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";

import { follow } from "./live.js";
import { digest, loader } from "./packaged.js";

export { InvalidRequest, ModelFailed } from "./errors.js";

const { subtle } = webcrypto;

async function core(name, sha256) {
  const bytes = await readFile(new URL(`../dist/core/${name}.core.wasm`, import.meta.url));
  if ((await digest(subtle, bytes)) !== sha256) throw new Error(`the core of ${name} is not the one of this release`);
  return WebAssembly.compile(bytes);
}

const platform = {
  manifest: async () => (await import("../dist/manifest.js")).default,
  part: (kind) => import(`./${kind}.js`),
  glue: (kind) => import(`../dist/glue/${kind}.js`),
  core,
};

export const load = loader(platform);

/** Like `load`, and then follows what a Caudal host has in service. Nothing is kept for the next start. */
export function live(kind, options) {
  return follow({ ...platform, load, subtle }, kind, options);
}
