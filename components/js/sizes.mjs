// Prints what a browser loads for each scorer, and fails above the limits: node sizes.mjs

import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const LIB = new URL("lib/", import.meta.url);

/**
 * Limits of a scorer's JavaScript, with each file gzipped separately as it is sent, and of its core. Half a second on a slow
 * telephone connection; workers and signatures, which other modules have, took the largest scorer over 22 KiB.
 */
const JS_BYTES_MAX = 23 << 10;
const CORE_BYTES_MAX = 24 << 10;

/** Modules for one thing that few pages do. */
const RARE = new Set(["src/own.js", "src/signed.js", "src/isolate.js"]);

/** The modules that a module imports, as paths in the package, for one kind. */
async function* modules(path, kind, isLive, seen = new Set()) {
  if (seen.has(path)) return;
  seen.add(path);
  yield path;
  const text = await readFile(new URL(path, LIB), "utf8");
  for (const [, quoted] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*["'](\.[^"']+\.js)["']/g)) {
    const target = new URL(quoted, new URL(path, LIB)).href.slice(LIB.href.length);
    const [, other] = /\/(?:schema|glue)\/(.+)\.js$/.exec(target) ?? [];
    if ((other && other !== kind) || (target === "src/live.js" && !isLive) || RARE.has(target)) continue;
    yield* modules(target, kind, isLive, seen);
  }
}

/** Bytes on the wire that `load` or `live` of a kind needs besides the core. */
async function javascript(kind, isLive) {
  let sum = 0;
  for await (const path of modules("src/browser.js", kind, isLive)) {
    sum += gzipSync(await readFile(new URL(path, LIB)), { level: 9 }).length;
  }
  return sum;
}

async function sizes() {
  const { default: manifest } = await import(new URL("dist/manifest.js", LIB));
  const rows = [];
  for (const [name, { kind, core, glue }] of Object.entries(manifest.models)) {
    const glued = gzipSync(await readFile(new URL(`dist/${glue.file}`, LIB)), { level: 9 }).length;
    const [load, live] = [await javascript(kind, false), await javascript(kind, true)];
    rows.push({ name, load, live, glue: glued, core: core.bytes });
  }
  return rows;
}

const rows = await sizes();
const columns = ["model", "load() gz", "live() gz", "glue of it", "core wasm"];
const line = (cells) => console.log(cells.map((cell, index) => String(cell).padEnd(index === 0 ? 18 : 12)).join(""));
line(columns);
for (const { name, load, live, glue, core } of rows) line([name, load, live, glue, core]);
line(["at most", JS_BYTES_MAX, JS_BYTES_MAX, "", CORE_BYTES_MAX]);
const isOver = rows.some((it) => it.live > JS_BYTES_MAX || it.load > JS_BYTES_MAX || it.core > CORE_BYTES_MAX);
if (isOver) {
  console.error("sizes.mjs: a limit is exceeded");
  process.exitCode = 1;
}
