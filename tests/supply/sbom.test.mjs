// The bills of materials: valid CycloneDX, complete, and the same bytes every time.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import Ajv from "ajv";
import formats from "ajv-formats";
import { fullFormats } from "ajv-formats/dist/formats.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCHEMAS = new URL("../node_modules/@cyclonedx/cyclonedx-library/res/schema/", import.meta.url);

const GUESTS = ["caudal-accessibility", "caudal-nudge", "caudal-risk", "caudal-transfer-rules"];

const run = (command, ...args) =>
  execFileSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });

const folder = mkdtempSync("/tmp/caudal-sbom.");
after(() => rmSync(folder, { recursive: true }));
const generate = (name) => {
  run("node", "host/sbom.mjs", `${folder}/${name}`);
  return ["caudal", "scorers"].map((file) => readFileSync(`${folder}/${name}/${file}.cdx.json`, "utf8"));
};
const texts = generate("first");
const [binary, scorers] = texts.map((text) => JSON.parse(text));

const named = (bill, scope) =>
  new Set(bill.components.filter((it) => it.scope === scope).map((it) => `${it.name}@${it.version}`));

test("both follow the schema of CycloneDX 1.6", () => {
  const schema = (name) => JSON.parse(readFileSync(new URL(`${name}.SNAPSHOT.schema.json`, SCHEMAS), "utf8"));
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats(ajv);
  // The formats for other scripts than Latin's: what we write is ASCII.
  ajv.addFormat("iri-reference", fullFormats["uri-reference"]);
  ajv.addFormat("idn-email", fullFormats.email);
  for (const part of ["spdx", "jsf-0.82", "cryptography-defs"])
    ajv.addSchema(schema(part), `http://cyclonedx.org/schema/${part}.SNAPSHOT.schema.json`);
  const validate = ajv.compile(schema("bom-1.6"));
  for (const bill of [binary, scorers])
    assert.ok(validate(bill), JSON.stringify(validate.errors?.slice(0, 5), null, 1));
  assert.ok(!validate({ ...binary, components: [{ name: "nothing" }] }), "a component without a type is accepted");
});

test("the same sources give the same bytes", () => {
  assert.deepEqual(generate("second"), texts);
});

test("each component has a bill and a provenance that name its bytes", () => {
  const built = readdirSync(`${ROOT}/target/components`).filter((it) => it.endsWith(".wasm"));
  assert.ok(built.length >= 5, "run components/build.sh first");
  for (const file of built) {
    const bytes = readFileSync(`${ROOT}/target/components/${file}`);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const statements = ["cdx", "slsa"].map((form) =>
      JSON.parse(readFileSync(`${folder}/first/${file.replace(/wasm$/, form)}.intoto.json`, "utf8")),
    );
    for (const { subject } of statements) assert.deepEqual(subject, [{ name: file, digest: { sha256 } }]);
    const [bill, provenance] = statements.map((it) => it.predicate);
    assert.ok(
      bill.components.some((it) => it.name === "caudal-model" && it.scope === "required"),
      file,
    );
    const [{ digest }] = provenance.buildDefinition.resolvedDependencies;
    assert.match(digest.gitCommit, /^[0-9a-f]{40}$/);
  }
});

/** What Cargo would link into the binary, by its own plan of the build rather than by `cargo tree`. */
function linkedByThePlan() {
  // Cargo prints the plan only where unstable options are allowed; nothing is built.
  process.env.RUSTC_BOOTSTRAP = "1";
  const options = ["-Z", "unstable-options", "--unit-graph", "--locked", "--release"];
  const { units, roots } = JSON.parse(run("cargo", "build", ...options, "--package", "caudal"));
  delete process.env.RUSTC_BOOTSTRAP;
  const found = new Set();
  const visit = (index) => {
    const { pkg_id, target, mode, dependencies } = units[index];
    const isLinked = mode === "build" && !target.kind.includes("proc-macro");
    if (found.has(pkg_id) || !isLinked) return;
    found.add(pkg_id);
    for (const it of dependencies) visit(it.index);
  };
  for (const index of roots) visit(index);
  // For example registry+https://example.org/index#libc@0.2.1 or path+file:///caudal/host#caudal@1.0.0.
  return new Set([...found].map((id) => id.split("#")[1]));
}

test("every package of the lock that the host links is listed", () => {
  const lock = readFileSync(`${ROOT}Cargo.lock`, "utf8");
  const locked = new Set([...lock.matchAll(/name = "(.+)"\nversion = "(.+)"/g)].map(([, a, b]) => `${a}@${b}`));
  const linked = linkedByThePlan();
  assert.ok(linked.size > 200, `only ${linked.size} packages are linked`);
  assert.deepEqual(
    [...linked].filter((it) => !locked.has(it)),
    [],
  );
  linked.delete([...linked].find((it) => it.startsWith("caudal@")));
  const listed = named(binary, "required");
  assert.deepEqual(
    [...linked].filter((it) => !listed.has(it)),
    [],
  );
  // Besides, only what the host embeds.
  const embedded = ["caudal-guest", "caudal-model", "wit-bindgen", "rust-std", "rapidoc", "uplot"];
  const others = binary.components.filter((it) => it.scope === "required" && !linked.has(`${it.name}@${it.version}`));
  const surplus = others.map((it) => it.name).filter((it) => !embedded.includes(it) && !GUESTS.includes(it));
  assert.deepEqual(surplus, []);
});

/** Packages whose files the binary names in messages of panics. */
function namedIn(path) {
  const text = readFileSync(path, "latin1");
  return new Set(
    [...text.matchAll(/registry\/src\/[^/\0]+\/([\w-]+)-(\d+\.\d+\.\d+[\w.+-]*)\//g)].map(([, a, b]) => `${a}@${b}`),
  );
}

test("every package that the binary names is listed", { skip: !process.env.CAUDAL && "CAUDAL names no binary" }, () => {
  const found = namedIn(process.env.CAUDAL);
  assert.ok(found.size > 50, `only ${found.size} packages are named in the binary`);
  const listed = named(binary, "required");
  assert.deepEqual(
    [...found].filter((it) => !listed.has(it)),
    [],
  );
});
