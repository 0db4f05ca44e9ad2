// Prints what a browser loads for each scorer, and fails above the limits: node sizes.mjs

import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const LIB = new URL("lib/", import.meta.url);

/**
 * Limits of a scorer's JavaScript, with each file gzipped separately as it is sent, and of its core. Half a second on a slow
 * telephone connection; contract 2, with a catalogue of 32 facts, took the largest scorer over 24 KiB.
 */
const JS_BYTES_MAX = 25 << 10;
const CORE_BYTES_MAX = 24 << 10;

/** Modules for one thing that few pages do. */
const RARE = new Set(["src/own.js", "src/signed.js", "src/isolate.js"]);

/** Of contract 2 alone. */
const POSITIONAL = "src/positional.js";

/** The modules that a module imports, as paths in the package, for one contract of a kind. */
async function* modules(path, [kind, contract], isLive, seen = new Set()) {
  if (seen.has(path)) return;
  seen.add(path);
  yield path;
  const text = await readFile(new URL(path, LIB), "utf8");
  for (const [, quoted] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*["'](\.[^"']+\.js)["']/g)) {
    const target = new URL(quoted, new URL(path, LIB)).href.slice(LIB.href.length);
    const [, folder, other] = /\/(schema|glue)\/(.+)\.js$/.exec(target) ?? [];
    if (other && other !== "facts" && other !== (folder === "glue" ? contract : kind)) continue;
    if ((target === "src/live.js" && !isLive) || RARE.has(target)) continue;
    if (target === POSITIONAL && kind === contract) continue;
    yield* modules(target, [kind, contract], isLive, seen);
  }
}

/** Bytes on the wire that `load` or `live` of a contract needs besides the core. */
async function javascript(contract, isLive) {
  let sum = 0;
  for await (const path of modules("src/browser.js", contract, isLive)) {
    sum += gzipSync(await readFile(new URL(path, LIB)), { level: 9 }).length;
  }
  return sum;
}

async function sizes() {
  const { default: manifest } = await import(new URL("dist/manifest.js", LIB));
  const rows = [];
  for (const [name, { kind }] of Object.entries(manifest.contracts)) {
    const glued = gzipSync(await readFile(new URL(`dist/glue/${name}.js`, LIB)), { level: 9 }).length;
    const [load, live] = [await javascript([kind, name], false), await javascript([kind, name], true)];
    const cores = Object.values(manifest.models).filter((it) => it.kind === name);
    rows.push({ name, load, live, glue: glued, core: Math.max(0, ...cores.map((it) => it.core.bytes)) });
  }
  return rows;
}

const rows = await sizes();
const columns = ["behind", "load() gz", "live() gz", "glue of it", "core wasm"];
const line = (cells) => console.log(cells.map((cell, index) => String(cell).padEnd(index === 0 ? 18 : 12)).join(""));
line(columns);
for (const { name, load, live, glue, core } of rows) line([name, load, live, glue, core]);
line(["at most", JS_BYTES_MAX, JS_BYTES_MAX, "", CORE_BYTES_MAX]);
const isOver = rows.some((it) => it.live > JS_BYTES_MAX || it.load > JS_BYTES_MAX || it.core > CORE_BYTES_MAX);
if (isOver) {
  console.error("sizes.mjs: a limit is exceeded");
  process.exitCode = 1;
}
