// Components are the same bytes wherever they are built: another folder, another home, another place for Cargo's downloads. A
// version's name ends with a digest of them, so anybody can compare a registered component with its sources.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { HOME, CARGO_HOME = `${HOME}/.cargo`, RUSTUP_HOME = `${HOME}/.rustup`, CARGO_TARGET_DIR } = process.env;

const scratch = mkdtempSync("/tmp/caudal-reproduced.");
after(() => rmSync(scratch, { recursive: true }));

/** Builds a copy of the sources in a folder of its own; resolves to the folder. */
function build(name) {
  const folder = `${scratch}/${name}`;
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", listed, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 26 }).split("\0");
  for (const file of files.filter((it) => it && existsSync(ROOT + it))) cpSync(ROOT + file, `${folder}/${file}`);
  // What is downloaded, and a linker that takes minutes to compile, are not built again.
  mkdirSync(`${folder}.home/cargo`, { recursive: true });
  symlinkSync(`${CARGO_HOME}/registry`, `${folder}.home/cargo/registry`);
  const linker = `${CARGO_TARGET_DIR ?? `${ROOT}target`}/guests/tools`;
  if (existsSync(linker)) cpSync(linker, `${folder}/target/guests/tools`, { recursive: true });
  const { CARGO_TARGET_DIR: _, ...env } = process.env;
  const homes = { HOME: `${folder}.home`, CARGO_HOME: `${folder}.home/cargo`, RUSTUP_HOME };
  execFileSync(`${folder}/components/build.sh`, { env: { ...env, ...homes }, stdio: ["ignore", "ignore", "inherit"] });
  return folder;
}

function digests(folder) {
  const components = `${folder}/target/components`;
  const names = readdirSync(components).filter((name) => name.endsWith(".wasm"));
  const digest = (name) =>
    createHash("sha256")
      .update(readFileSync(`${components}/${name}`))
      .digest("hex");
  return Object.fromEntries(names.sort().map((name) => [name, digest(name)]));
}

test("components are the same bytes wherever they are built", () => {
  const elsewhere = build("a/folder/far/from/this/one");
  const found = digests(elsewhere);
  assert.ok(Object.keys(found).length >= 5, JSON.stringify(found));
  // What is here may come from a compiler that has been replaced since: two new builds decide then.
  const here = digests(ROOT);
  assert.deepEqual(found, JSON.stringify(found) === JSON.stringify(here) ? here : digests(build("second")));
});
