// The audit: what is found fails, what cannot be had is named.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DATABASE = "https://github.com/RustSec/advisory-db";

const folder = mkdtempSync("/tmp/caudal-audit.");
after(() => rmSync(folder, { recursive: true }));

/** A repository of advisories with one about a crate of ours, or about another one. */
function repository(name, crate) {
  const path = `${folder}/${name}`;
  mkdirSync(`${path}/crates/${crate}`, { recursive: true });
  const advisory = `[advisory]\nid = "RUSTSEC-2026-9999"\npackage = "${crate}"\ndate = "2026-01-01"\n\n[versions]\npatched = []\n`;
  writeFileSync(
    `${path}/crates/${crate}/RUSTSEC-2026-9999.md`,
    `\`\`\`toml\n${advisory}\`\`\`\n\n# Made up\n\nFor a test.\n`,
  );
  const git = (...args) => assert.equal(spawnSync("git", ["-C", path, ...args]).status, 0, args.join(" "));
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message=Advise");
  return path;
}

/** The audit with that repository in place of the real one; databases are kept in a folder of their own. */
function audit(name, path, more = {}) {
  const home = `${folder}/${name}.home`;
  mkdirSync(home);
  const cargo = process.env.CARGO_HOME ?? `${process.env.HOME}/.cargo`;
  symlinkSync(`${cargo}/registry`, `${home}/registry`);
  const git = {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `url.file://${path}.insteadOf`,
    GIT_CONFIG_VALUE_0: DATABASE,
  };
  const env = {
    ...process.env,
    ...git,
    CARGO_HOME: home,
    CAUDAL_AUDIT_INSTALL: "0",
    npm_config_registry: "http://127.0.0.1:1",
  };
  return spawnSync("tests/supply/audit.sh", { cwd: ROOT, encoding: "utf8", env: { ...env, ...more } });
}

const HAS_CARGO_DENY = !audit("probe", `${folder}/nowhere`).stdout.includes("NOT CHECKED: crates");
const skip = !HAS_CARGO_DENY && "NOT CHECKED: the audit of crates (cargo-deny is not installed)";

test("an advisory about a crate fails", { skip }, () => {
  const { status, stdout, stderr } = audit("found", repository("tokio", "tokio"));
  assert.equal(status, 1, stdout + stderr);
  assert.match(stderr, /RUSTSEC-2026-9999/);
});

test("an advisory about no crate of ours passes, and so do licences and sources", { skip }, () => {
  const { status, stdout, stderr } = audit("none", repository("other", "a-crate-that-nobody-has"));
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stdout, /NOT CHECKED: (advisories of )?crates/);
  assert.match(stdout + stderr, /bans ok, licenses ok, sources ok/);
});

test("a database that cannot be reached is named", { skip }, () => {
  const { status, stdout, stderr } = audit("unreachable", `${folder}/nowhere`);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^NOT CHECKED: advisories of crates \(fatal: .*nowhere.*\)$/m);
});

test("a missing cargo-deny is named, with the command that installs it", () => {
  // Neither in PATH nor beside the build.
  const without = process.env.PATH.split(":").filter((it) => !existsSync(`${it}/cargo-deny`));
  const { status, stdout, stderr } = audit("missing", folder, {
    PATH: without.join(":"),
    CARGO_TARGET_DIR: `${folder}/empty`,
  });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^NOT CHECKED: crates \(run 'cargo install --locked cargo-deny@[\d.]+'\)$/m);
});

/** `npm audit` with a registry that answers like this about advisories, and knows one version of each package. */
async function npmAudit(status, body) {
  const server = createServer(({ method, url }, response) => {
    const [name, version] = [url.slice(1), "1.0.0"];
    const about = { name, "dist-tags": { latest: version }, versions: { [version]: { name, version } } };
    const [code, answer] = method === "GET" ? [200, about] : [status, body];
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${server.address().port}` };
  const child = spawn("node", ["tests/supply/npm-audit.mjs"], { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  server.close();
  return { code, output };
}

test("an advisory about an npm package fails", async () => {
  const advisory = {
    id: 1,
    url: "https://example.org/GHSA-1",
    title: "Made up",
    severity: "high",
    vulnerable_versions: "*",
  };
  const { code, output } = await npmAudit(200, { terser: [advisory] });
  assert.equal(code, 1, output);
  assert.match(output, /npm audit: tests: terser \*: Made up \(high, https:\/\/example\.org\/GHSA-1\)/);
});

test("no advisory about an npm package passes", async () => {
  const { code, output } = await npmAudit(200, {});
  assert.equal(code, 0, output);
  assert.match(output, /^(npm audit: \S+: no advisories\n){2}$/);
});

test("a registry that gives no advisories is named", async () => {
  const { code, output } = await npmAudit(405, {});
  assert.equal(code, 0);
  assert.match(output, /^(NOT CHECKED: advisories of npm packages in \S+ \(405 .*\)\n){2}$/);
});
