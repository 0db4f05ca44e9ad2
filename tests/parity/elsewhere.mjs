// The package under Deno, Bun and wrangler, which are too large to install for every test. Ends with status 3 when they cannot
// be had: node elsewhere.mjs, after prepare.mjs.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import manifest from "../../components/js/lib/dist/manifest.js";
import { load } from "../../components/js/lib/src/node.js";
import { SOUND, textOf } from "./hostile.mjs";

/** The last wrangler that runs in Node 20. */
const TOOLS = ["deno@2.9.6", "bun@1.4.5", "wrangler@4.60.0"];
/** What that wrangler's workerd knows. */
const COMPATIBILITY_DATE = "2025-12-01";

const INSTALL_MS_MAX = 300_000;
const RUN_MS_MAX = 60_000;
const UNAVAILABLE = 3;
const PORT = 8788;

const PACKAGE = fileURLToPath(new URL("../../components/js/", import.meta.url));
const RISK = textOf(SOUND.risk);
const expected = (await load("risk")).assessText(RISK);

const folder = mkdtempSync(join(tmpdir(), "caudal-elsewhere."));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const bin = (name) => join(folder, "node_modules/.bin", name);
const run = (name, ...args) =>
  execFileSync(bin(name), args, { cwd: folder, encoding: "utf8", timeout: RUN_MS_MAX, env });
const env = { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false" };

writeFileSync(join(folder, "package.json"), "{}");
try {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", ...quiet, ...TOOLS], { cwd: folder, timeout: INSTALL_MS_MAX, stdio: "inherit" });
} catch {
  process.exit(UNAVAILABLE);
}
for (const part of ["package.json", "lib"]) {
  cpSync(join(PACKAGE, part), join(folder, "node_modules/@caudal/scorers", part), { recursive: true });
}

writeFileSync(
  join(folder, "main.mjs"),
  `import { load } from "@caudal/scorers";
  const here = (await load("risk")).assessText(${JSON.stringify(RISK)});
  const there = await (await load("risk", { isolate: true })).assessText(${JSON.stringify(RISK)});
  console.log(JSON.stringify([here, there]));`,
);
assert.deepEqual(JSON.parse(run("deno", "run", "--allow-read", "main.mjs")), [expected, expected], "Deno");
assert.deepEqual(JSON.parse(run("bun", "main.mjs")), [expected, expected], "Bun");

// As the package's README describes it.
writeFileSync(join(folder, "worker.mjs"), 'export { default } from "@caudal/scorers/worker";\n');
writeFileSync(
  join(folder, "wrangler.toml"),
  `name = "scorers"\nmain = "worker.mjs"\ncompatibility_date = "${COMPATIBILITY_DATE}"\n[vars]\nRISK_MODEL = "risk-1"\n`,
);
console.log(/Total Upload.*/.exec(run("wrangler", "deploy", "--dry-run"))[0]);
const args = ["dev", "--port", String(PORT)];
const worker = spawn(bin("wrangler"), args, { cwd: folder, stdio: "ignore", detached: true, env });
try {
  const headers = { "content-type": "application/json" };
  const ask = () => fetch(`http://127.0.0.1:${PORT}/ai/risk`, { method: "POST", headers, body: RISK });
  let response;
  for (const begin = performance.now(); !response && performance.now() - begin < RUN_MS_MAX; ) {
    response = await ask().catch(() => sleep(200));
  }
  const { model_version } = await response.json();
  assert.equal(model_version, manifest.models["risk-1"].model_version, "wrangler");
} finally {
  process.kill(-worker.pid);
}
console.log("the same answers under Deno and Bun, also isolated, and under wrangler");
