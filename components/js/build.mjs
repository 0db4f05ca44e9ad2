// Makes what is shipped: `lib`, a copy of src, dist and worker in which the modules that browsers load are minified.
//
// Everything else stays as it is, in the same places, so every module finds the others by the same paths. The digest
// of a glue in the manifest remains that of the text that was generated: it says which glue is meant, and hosts know
// no other.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const PACKAGE = new URL("./", import.meta.url);
const LIB = new URL("lib/", PACKAGE);

/** Where the tools of all JavaScript here are installed. */
const TOOLS = new URL("../../tests/package.json", PACKAGE);

/** Modules that nobody waits for are left readable. */
const MINIFIED = /^(src|dist)\/.*\.js$/;

const OPTIONS = { module: true, compress: { passes: 3 }, mangle: true, format: { ecma: 2020 } };

async function minifier() {
  try {
    return await import(pathToFileURL(createRequire(TOOLS).resolve("terser")));
  } catch (error) {
    throw new Error("terser is not installed: run `npm ci` in the folder tests", { cause: error });
  }
}

/** Paths of all files in a folder of the package. */
async function* files(folder) {
  const entries = await readdir(new URL(folder, PACKAGE), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) yield* files(`${folder}${entry.name}/`);
    else yield `${folder}${entry.name}`;
  }
}

export async function build() {
  const { minify } = await minifier();
  const manifest = await readFile(new URL("dist/manifest.js", PACKAGE)).catch(() => null);
  if (!manifest) throw new Error("there is no dist: run `caudal models package components/js/dist`");
  await rm(LIB, { recursive: true, force: true });
  for (const folder of ["src/", "dist/", "worker/"]) {
    for await (const path of files(folder)) {
      const bytes = await readFile(new URL(path, PACKAGE));
      const content = MINIFIED.test(path) ? (await minify(bytes.toString(), OPTIONS)).code : bytes;
      const target = new URL(path, LIB);
      await mkdir(dirname(target.pathname), { recursive: true });
      await writeFile(target, content);
    }
  }
}

try {
  await build();
} catch (error) {
  console.error(`build.mjs: ${error.message}`);
  process.exitCode = 1;
}
