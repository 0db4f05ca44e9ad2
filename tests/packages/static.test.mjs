// What the packages are made from: the unit's exposure, settings that exist, one version.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const UNIT = "host/packaging/debian/caudal.service";

/** Of `systemd-analyze security`, times ten: 0 is nothing, 100 everything. */
const EXPOSURE_MAX = 25;

const read = (path) => readFileSync(ROOT + path, "utf8");
const unit = read(UNIT);

test("the unit's exposure is low", (t) => {
  const args = ["security", "--offline=true", `--threshold=${EXPOSURE_MAX}`, "--no-pager", ROOT + UNIT];
  const { error, status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  if (error) return t.skip(`NOT CHECKED: the unit's exposure (${error.code}: systemd-analyze)`);
  assert.match(stdout, /Overall exposure level for caudal\.service: \d/, stderr);
  assert.equal(status, 0, stdout);
});

test("the unit lets the host compile components and the gate confine itself", () => {
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=/m);
  const allowed = /^SystemCallFilter=(@system-service .*)$/m.exec(unit)[1].split(" ");
  for (const call of ["landlock_create_ruleset", "landlock_restrict_self", "seccomp"])
    assert.ok(allowed.includes(call), call);
});

test("every setting of the unit exists", () => {
  const table = read("host/OPERATING.md").split("<!-- settings: generated -->")[1].split("<!-- end of settings -->")[0];
  const known = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.ok(known.length > 50, `${known.length} settings`);
  const set = [...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name);
  assert.ok(set.length > 0);
  for (const name of set) assert.ok(known.includes(name), `${name} is no setting`);
});

test("all packages have the workspace's version", () => {
  const version = /^\[workspace\.package\]\nversion = "(.+)"$/m.exec(read("Cargo.toml"))[1];
  assert.equal(JSON.parse(read("components/js/package.json")).version, version);
  assert.match(read("components/python/pyproject.toml"), new RegExp(`^version = "${version}"$`, "m"));
});
