// The package as users get it: sizes, files, entry points, and the worker's configuration.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PACKAGE = fileURLToPath(new URL("../../components/js/", import.meta.url));

/** Entry points by condition. */
const ENTRIES = { node: "node.js", browser: "browser.js", workerd: "workerd.js" };

const run = promisify(execFile);

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "caudal-package."));
});

after(() => rm(folder, { recursive: true, force: true }));

test("every scorer is small enough", async () => {
  const { stdout } = await run(process.execPath, [join(PACKAGE, "sizes.mjs")]);
  console.log(`Bytes that a browser loads, every file gzipped by itself:\n${stdout}`);
});

test("it installs from its tarball, and scores", async () => {
  // Without scripts, which would rebuild what is being tested.
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder, PACKAGE];
  const pack = await run("npm", args, { cwd: folder });
  const [{ filename, files }] = JSON.parse(pack.stdout);
  const paths = files.map((it) => it.path);
  const outside = paths.filter((path) => !path.startsWith("lib/"));
  assert.deepEqual(outside.sort(), ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json"]);
  assert.ok(paths.includes("lib/src/index.d.ts") && paths.includes("lib/worker/worker.js"));
  const target = join(folder, "node_modules/@caudal/scorers");
  await mkdir(target, { recursive: true });
  await run("tar", ["-xf", join(folder, filename), "--strip-components=1", "-C", target]);

  const program = join(folder, "main.mjs");
  await writeFile(
    program,
    `import { load, live, InvalidRequest, ModelFailed } from "@caudal/scorers";
    const nudge = await load("nudge");
    const seen = { screen: "login", num_validation_errors: 5, time_on_screen_seconds: 90, num_back_navigations: 1 };
    console.log(nudge.assess({ ...seen, steps_total: 1, current_step: 1 }).result.recommended_nudge_type);
    console.log(typeof live, typeof InvalidRequest, typeof ModelFailed);`,
  );
  const { stdout } = await run(process.execPath, [program]);
  assert.equal(stdout, "assist\nfunction function function\n");

  const asks = `import { createRequire } from "node:module";
    console.log(createRequire(process.cwd() + "/").resolve("@caudal/scorers").split("/").at(-1));`;
  for (const [condition, entry] of Object.entries(ENTRIES)) {
    const program = ["--conditions", condition, "--input-type=module", "--eval", asks];
    const { stdout: resolved } = await run(process.execPath, program, { cwd: folder });
    // Node always meets its own condition as well; the order in the package decides.
    assert.equal(resolved.trim(), entry, condition);
  }

  const config = await run(process.execPath, [join(target, "lib/worker/config.mjs"), "--bind", "RISK_MODEL=risk-1"]);
  assert.match(config.stdout, /\(name = "RISK_MODEL", text = "risk-1"\)/);
  assert.match(config.stdout, /\(name = "dist\/core\/risk-1\.copy\.wasm", wasm = 0x"0061736d/);
});

test("every entry has types, and what is published says whose it is", async () => {
  const program = join(folder, "main.ts");
  await writeFile(
    program,
    `import { load } from "@caudal/scorers";
    import { live } from "@caudal/scorers/embedded";
    import worker, { type Env } from "@caudal/scorers/worker";
    const env: Env = { RISK_MODEL: "risk-1" };
    const health: Promise<Response> = worker.fetch(new Request("https://bank.example/ai/health"), env);
    const level: Promise<"low" | "medium" | "high"> = load("risk").then((it) => it.assess(null!).result.risk_level);
    // @ts-expect-error: there is no such kind.
    live("rules");
    // @ts-expect-error: a core alone has no name in the package.
    load("risk", { core: new Uint8Array(), model: "risk-1" });
    export { health, level };`,
  );
  const tsc = fileURLToPath(new URL("../node_modules/.bin/tsc", import.meta.url));
  for (const module of [["nodenext"], ["esnext", "--moduleResolution", "bundler"]]) {
    await run(tsc, ["--noEmit", "--strict", "--types", "", "--target", "es2023", "--module", ...module, program], {
      cwd: folder,
    });
  }
  const own = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8"));
  const tools = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(own.devDependencies.terser, tools.devDependencies.terser, "both minify the same");
  for (const path of [own.main, own.browser, own.types, ...Object.values(own.typesVersions["*"]).flat()]) {
    assert.ok((await stat(join(PACKAGE, path))).isFile(), path);
  }
});

test("it contains no paths of the build machine, and uses nothing that only some engines have", async () => {
  for (const path of await readdir(join(PACKAGE, "lib"), { recursive: true })) {
    if (!/\.(js|mjs|ts)$/.test(path)) continue;
    const text = await readFile(join(PACKAGE, "lib", path), "utf8");
    assert.doesNotMatch(text, /\/(home|root|work|Users)\//, path);
    if (path.startsWith("src")) assert.doesNotMatch(text, /\beval\(|new Function\b|\.innerHTML\b/, path);
  }
});
