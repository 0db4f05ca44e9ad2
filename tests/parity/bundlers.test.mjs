// The package in bundles, as its README describes them, run in Chromium under the host's policy.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import * as esbuild from "esbuild";
import { rollup } from "rollup";
import * as vite from "vite";
import webpack from "webpack";

import { load } from "../../components/js/lib/src/node.js";
import { launch, open, servePage } from "./chromium.mjs";
import { SOUND, textOf } from "./hostile.mjs";

const PACKAGE = fileURLToPath(new URL("../../components/js", import.meta.url));
const MEDIA = { ".js": "text/javascript", ".wasm": "application/wasm" };
const KINDS = ["risk", "nudge", "accessibility"];

let folder;
let browser;
let expected;

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "caudal-bundle.")));
  await mkdir(join(folder, "node_modules/@caudal"), { recursive: true });
  // Not a link, which Vite would take for a package that is being worked on.
  const installed = join(folder, "node_modules/@caudal/scorers");
  for (const part of ["package.json", "lib"]) await cp(join(PACKAGE, part), join(installed, part), { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  browser = await launch();
  expected = {};
  for (const kind of KINDS) expected[kind] = (await load(kind)).assessText(textOf(SOUND[kind]));
});

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A module that scores with what `entry` exports. */
async function program(entry) {
  const path = join(folder, `${entry.replaceAll(/\W/g, "-")}.js`);
  const bodies = JSON.stringify(Object.fromEntries(KINDS.map((kind) => [kind, textOf(SOUND[kind])])));
  await writeFile(
    path,
    `import { load } from "${entry}";
    const answers = {};
    for (const [kind, body] of Object.entries(${bodies})) answers[kind] = (await load(kind)).assessText(body);
    globalThis.scorers = answers;`,
  );
  return path;
}

const withEsbuild = (entry, outdir, options) =>
  esbuild.build({
    entryPoints: { page: entry },
    outdir,
    bundle: true,
    format: "esm",
    splitting: true,
    minify: true,
    logLevel: "error",
    ...options,
  });

const withVite = (entry, outDir) =>
  vite.build({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: {
      outDir,
      target: "es2022",
      rollupOptions: { input: entry, output: { entryFileNames: "page.js" } },
    },
  });

async function withRollup(input, dir) {
  // What a plugin for packages in node_modules does.
  const resolveId = (name) => (name === "@caudal/scorers/embedded" ? join(PACKAGE, "lib/embedded.js") : null);
  const bundle = await rollup({ input, plugins: [{ name: "packages", resolveId }] });
  await bundle.write({ dir, entryFileNames: "page.js" });
  await bundle.close();
}

const withWebpack = (entry, path) =>
  new Promise((resolve, reject) => {
    const options = {
      mode: "production",
      context: folder,
      entry,
      // As a module, it loads parts with `import()`: trusted types forbid script elements.
      experiments: { outputModule: true },
      output: { path, filename: "page.js", module: true, publicPath: "/" },
    };
    webpack(options, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString()));
      else resolve();
    });
  });

for (const [name, entry, bundle] of [
  ["esbuild", "@caudal/scorers/embedded", withEsbuild],
  ["esbuild without splitting", "@caudal/scorers/embedded", (...it) => withEsbuild(...it, { splitting: false })],
  ["Vite", "@caudal/scorers", withVite],
  ["Vite", "@caudal/scorers/embedded", withVite],
  ["Rollup", "@caudal/scorers/embedded", withRollup],
  ["webpack", "@caudal/scorers", withWebpack],
]) {
  test(`${entry} scores in a page that is bundled by ${name}`, async () => {
    const output = join(folder, `out-${name}-${entry}`.replaceAll(/\W/g, "-"));
    await bundle(await program(entry), output);
    const more = async (request, response) => {
      const path = join(output, new URL(request.url, "http://localhost").pathname);
      const bytes = await readFile(path).catch(() => null);
      if (bytes) response.setHeader("Content-Type", MEDIA[extname(path)] ?? "").end(bytes);
      return bytes !== null;
    };
    const server = await servePage({ more });
    try {
      const { page, faults } = await open(browser, server.url);
      assert.deepEqual(await page.evaluate(() => globalThis.scorers), expected);
      assert.deepEqual(faults, []);
    } finally {
      await server.close();
    }
  });
}

/** What a page of Vite's development server has in `scorers`, or the error of its module. */
async function inDevelopment(optimizeDeps) {
  const path = await program("@caudal/scorers");
  const server = await vite.createServer({
    root: folder,
    configFile: false,
    logLevel: "error",
    cacheDir: join(folder, ".vite"),
    optimizeDeps,
    server: { port: 0, host: "127.0.0.1" },
  });
  await writeFile(
    join(folder, "index.html"),
    `<script type="module">import("/${path.split("/").at(-1)}").catch((error) => (globalThis.scorers = error.message));</script>`,
  );
  await server.listen();
  const page = await browser.newPage();
  try {
    await page.goto(server.resolvedUrls.local[0]);
    const settled = await page.waitForFunction(() => globalThis.scorers);
    return await settled.jsonValue();
  } finally {
    await page.close();
    await server.close();
  }
}

test("Vite's development server has to be told that there is more than modules, and an error points there", async () => {
  assert.match(await inDevelopment({ include: ["@caudal/scorers"] }), /\.core\.wasm answered with text\/html/);
  assert.deepEqual(await inDevelopment({ exclude: ["@caudal/scorers"] }), expected);
});

test("@caudal/scorers/embedded scores in a program for Node that is bundled by esbuild", async () => {
  const output = join(folder, "out-node");
  await withEsbuild(await program("@caudal/scorers/embedded"), output, { platform: "node" });
  const script = `await import(${JSON.stringify(join(output, "page.js"))}); console.log(JSON.stringify(scorers))`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: output });
  assert.deepEqual(JSON.parse(printed), expected);
});
