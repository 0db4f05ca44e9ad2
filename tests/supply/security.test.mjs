// host/SECURITY.md, ACCESSIBILITY.md and CHANGELOG.md name tests and files as evidence: they exist.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const text = ["SECURITY", "ACCESSIBILITY", "CHANGELOG"]
  .map((name) => readFileSync(`${ROOT}host/${name}.md`, "utf8"))
  .join("\n");
const quoted = [...text.matchAll(/`([^`\s]+)`/g)].map(([, name]) => name);
const LISTED = ["ls-files", "--cached", "--others", "--exclude-standard", "host", "tests", "components"];
const files = execFileSync("git", LISTED, { cwd: ROOT, encoding: "utf8" }).split("\n");

/** A program's or module's file, or the files of its folder. */
const sourcesOf = (path) =>
  files.filter((file) =>
    [`tests/${path}`, `host/src/${path}`, `host/core/src/${path}`].some(
      (it) => file === `${it}.rs` || file.startsWith(`${it}/`),
    ),
  );

const hasTest = (sources, name) => sources.some((file) => readFileSync(ROOT + file, "utf8").includes(`fn ${name}(`));

test("every test that is named exists, where it is said to be", () => {
  const named = quoted.filter((name) => /^[a-z_0-9]+(::[a-z_0-9]+)+$/.test(name));
  assert.ok(named.length > 60, `${named.length} tests are named`);
  for (const name of named) {
    const parts = name.replace(/::tests(?=::|$)/, "").split("::");
    // The whole is a module, or its last part is a test.
    if (sourcesOf(parts.join("/")).length > 0) continue;
    const sources = sourcesOf(parts.slice(0, -1).join("/"));
    assert.ok(hasTest(sources, parts.at(-1)), `${name} is nowhere in ${sources.join(", ") || "any file"}`);
  }
  // A second test of the same module is named without it.
  const rust = files.filter((file) => file.endsWith(".rs"));
  for (const name of quoted.filter((it) => /^[a-z]+(_[a-z0-9]+){3,}$/.test(it)))
    assert.ok(hasTest(rust, name), `${name} is no test`);
});

test("every file that is named exists", () => {
  const named = quoted.filter((name) => /^[\w./-]+\.(rs|js|mjs|sh|toml)$/.test(name));
  assert.ok(named.length > 20, `${named.length} files are named`);
  for (const name of named) {
    const places = ["", "host/src/", "host/core/src/", "host/", "tests/supply/"].map((folder) => folder + name);
    assert.ok(
      places.some((it) => files.includes(it) || it === ".deny.toml"),
      `${name} is nowhere`,
    );
  }
});

test("every test in JavaScript that is named by its file exists", () => {
  const named = [...text.matchAll(/`(tests\/[\w/.-]+\.mjs)`, "([^"]+)"/g)];
  assert.ok(named.length > 20, `${named.length} tests are named`);
  for (const [, file, name] of named) {
    const source = readFileSync(ROOT + file, "utf8");
    assert.ok(source.includes(`("${name}`) || source.includes(`(\`${name}`), `${file} has no test "${name}"`);
  }
});
