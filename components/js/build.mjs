// Builds `lib`, which is what is shipped: a copy of the sources and of dist in which the modules for browsers are minified.
// All paths stay the same. Cores are there in two more forms: as modules, for bundlers that do not copy other files, and as
// copies that export their state, for workerd, which does not compile them at run time.
//
// The texts of the licences are copied beside the README, where npm and its users look for them.

import { access, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

import { exporting } from "./src/instance.js";

const PACKAGE = new URL("./", import.meta.url);
const LIB = new URL("lib/", PACKAGE);

/** Where the minifier may be installed: by `npm install` here, or with the tools of the tests. */
const TOOLS = [new URL("package.json", PACKAGE), new URL("../../tests/package.json", PACKAGE)];

const LICENCES = ["LICENSE-MIT", "LICENSE-APACHE"];

/** Modules that no page waits for are left readable. */
const MINIFIED = /^(src|dist|embedded)\b.*\.js$/;

const SHIPPED = /^((src|dist|worker)\/|embedded\.js$)/;

const FOR_WORKERD = "dist/entry/workerd.js";

const OPTIONS = { module: true, compress: { passes: 3 }, mangle: true, format: { ecma: 2020 } };

async function minifier() {
  for (const folder of TOOLS) {
    try {
      return await import(pathToFileURL(createRequire(folder).resolve("terser")));
    } catch {
      // It may be in the other one.
    }
  }
  throw new Error("terser is not installed: run `npm install`");
}

/** The paths of all files in a folder of the package. */
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
  if (!manifest) throw new Error("dist is missing: run `caudal models package components/js/dist`");
  for (const name of LICENCES) {
    const own = new URL(name, PACKAGE);
    // Outside of the repository they are there already.
    await copyFile(new URL(`../../${name}`, PACKAGE), own).catch(() => access(own));
  }
  await rm(LIB, { recursive: true, force: true });
  const write = async (path, content) => {
    const target = new URL(path, LIB);
    await mkdir(dirname(target.pathname), { recursive: true });
    await writeFile(target, content);
  };
  for await (const path of files("")) {
    if (!SHIPPED.test(path)) continue;
    const bytes = await readFile(new URL(path, PACKAGE));
    const text = path === FOR_WORKERD ? bytes.toString().replaceAll(".core.wasm", ".copy.wasm") : bytes.toString();
    await write(path, MINIFIED.test(path) ? (await minify(text, OPTIONS)).code : bytes);
    if (!path.endsWith(".core.wasm")) continue;
    await write(path.replace(/wasm$/, "js"), `export default "${bytes.toString("base64")}";\n`);
    const { copy } = exporting(new Uint8Array(bytes));
    await write(path.replace(/core.wasm$/, "copy.wasm"), new Uint8Array(await copy));
  }
}

try {
  await build();
} catch (error) {
  console.error(`build.mjs: ${error.message}`);
  process.exitCode = 1;
}
