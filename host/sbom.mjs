// Writes the bills of materials of a release as CycloneDX 1.6: caudal.cdx.json for the binary, scorers.cdx.json for the npm
// package in components/js. And about each component in target/components: unsigned in-toto statements with its bill of
// materials and with its provenance, for a registry. With a binary, also its provenance, caudal.slsa.intoto.json, and NOTICES:
// the licences of everything that it contains, for packages.
//
//   node host/sbom.mjs FOLDER [BINARY]
//
// Crates with the scope `required` are in the product; those that only take part in building it are `excluded`. The same
// sources and compiler give the same bytes: there is no date, and the serial number is a digest of the content.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** The components are compiled for it, or for its relative without a C library, with the same dependencies. */
const GUEST_TARGET = "wasm32-wasip2";
const GUESTS = ["risk", "nudge", "accessibility", "transfer-rules"].map((name) => `caudal-${name}`);
const GUESTS_OF_PACKAGE = GUESTS.filter((name) => name !== "caudal-transfer-rules");

const read = (path) => readFileSync(join(ROOT, path), "utf8");

/** The output of a command, which may be megabytes long. */
const run = (command, ...args) =>
  execFileSync(command, args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });

const HOST_TARGET = /^host: (.+)$/m.exec(run("rustc", "-vV"))[1];

const PLATFORMS = [HOST_TARGET, GUEST_TARGET].flatMap((it) => ["--filter-platform", it]);
const metadata = JSON.parse(run("cargo", "metadata", "--locked", "--format-version", "1", ...PLATFORMS));
const nameOf = ({ name, version }) => `${name}@${version}`;
const packages = new Map(metadata.packages.map((it) => [nameOf(it), it]));
const byId = new Map(metadata.packages.map((it) => [it.id, it]));

/** Digests of the crates, from the lock. */
const checksums = new Map(
  [...read("Cargo.lock").matchAll(/name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(.+)"/g)].map(
    ([, name, version, checksum]) => [`${name}@${version}`, checksum],
  ),
);

/** The names of the packages that Cargo builds into a crate, with its features for that target. */
function tree(name, target, edges) {
  const options = ["--edges", edges, "--target", target, "--prefix", "none", "--no-dedupe", "--format", "{p}"];
  const lines = run("cargo", "tree", "--locked", "--package", name, ...options)
    .trim()
    .split("\n");
  return lines.map((line) => line.replace(/^(\S+) v(\S+).*$/, "$1@$2"));
}

function licences({ license, license_file }) {
  // Older crates separate alternatives with a slash.
  if (license) return [{ expression: license.replace(/ ?\/ ?/g, " OR ") }];
  return license_file ? [{ license: { name: license_file } }] : [];
}

function crate(id, scope) {
  const it = packages.get(id);
  const checksum = checksums.get(id);
  return {
    type: "library",
    "bom-ref": id,
    name: it.name,
    version: it.version,
    ...(it.description && { description: it.description.trim() }),
    scope,
    ...(checksum && { hashes: [{ alg: "SHA-256", content: checksum }] }),
    licenses: licences(it),
    ...(checksum && { purl: `pkg:cargo/${it.name}@${it.version}` }),
    ...(it.repository && { externalReferences: [{ type: "vcs", url: it.repository }] }),
  };
}

/** The crates of several roots. What one of them contains is required, whatever builds another. */
function crates(roots) {
  const linked = new Set(roots.flatMap(([name, target]) => tree(name, target, "normal,no-proc-macro")));
  const all = new Set(roots.flatMap(([name, target]) => tree(name, target, "normal,build")));
  return [...all].sort().map((id) => crate(id, linked.has(id) ? "required" : "excluded"));
}

/** Who depends on whom among the crates that are listed; `also` is what the product has besides. */
function graph(product, components, also) {
  const listed = new Set([product, ...components.map((it) => it["bom-ref"])]);
  const edges = new Map([...listed].map((id) => [id, new Set()]));
  for (const node of metadata.resolve.nodes) {
    const from = edges.get(nameOf(byId.get(node.id)));
    const built = node.deps.filter((it) => it.dep_kinds.some(({ kind }) => kind !== "dev"));
    for (const it of built) {
      const to = nameOf(byId.get(it.pkg));
      if (listed.has(to)) from?.add(to);
    }
  }
  for (const id of also) edges.get(product).add(id);
  return [...edges].map(([ref, to]) => ({ ref, dependsOn: [...to].sort() }));
}

function bill(product, components, also) {
  const id = product["bom-ref"];
  const others = components.filter((it) => it["bom-ref"] !== id);
  const content = { metadata: { component: product }, components: others, dependencies: graph(id, others, also) };
  const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  // Shaped like a UUID of version 8, whose bits are for anybody to define.
  const uuid = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
  return { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: `urn:uuid:${uuid}`, version: 1, ...content };
}

function write(folder, file, content) {
  writeFileSync(join(folder, file), `${JSON.stringify(content, null, 2)}\n`);
  console.log(join(folder, file));
}

/** An npm package whose code is part of a product, or that helps to build it. */
function npm(name, version, scope, licence) {
  const id = `npm:${name}@${version}`;
  const licenses = [{ license: { id: licence } }];
  return { type: "library", "bom-ref": id, name, version, scope, licenses, purl: `pkg:npm/${name}@${version}` };
}

function binary(folder) {
  const product = metadata.packages.find((it) => it.name === "caudal");
  const found = crates([["caudal", HOST_TARGET], ...GUESTS.map((name) => [name, GUEST_TARGET])]);
  const release = /^release: (.+)$/m.exec(run("rustc", "-vV"))[1];
  const std = {
    type: "library",
    "bom-ref": `rust-std@${release}`,
    name: "rust-std",
    version: release,
    scope: "required",
    licenses: [{ expression: "MIT OR Apache-2.0" }],
  };
  // The page of the API's reference and the console's charts are embedded; their files name their versions.
  const rapidoc = npm("rapidoc", /RapiDoc (\S+)/.exec(read("host/web/vendored/rapidoc-min.js"))[1], "required", "MIT");
  const uplot = npm(
    "uplot",
    /uPlot \(v(\S+)\)/.exec(read("host/web/vendored/uPlot.iife.min.js"))[1],
    "required",
    "MIT",
  );
  const guests = found.filter((it) => GUESTS.includes(it.name)).map((it) => it["bom-ref"]);
  const described = { ...crate(nameOf(product)), type: "application", scope: undefined };
  const also = [...guests, std["bom-ref"], rapidoc["bom-ref"], uplot["bom-ref"]];
  write(folder, "caudal.cdx.json", bill(described, [...found, std, rapidoc, uplot], also));
}

function scorers(folder) {
  const { name, version, description, license } = JSON.parse(read("components/js/package.json"));
  const { version: terser } = JSON.parse(read("tests/package-lock.json")).packages["node_modules/terser"];
  const [group, short] = name.split("/");
  const found = crates(GUESTS_OF_PACKAGE.map((guest) => [guest, GUEST_TARGET]));
  // It writes the glue of the package.
  const bindgen = [...packages.keys()].filter((id) => id.startsWith("js-component-bindgen@"));
  const tools = [...bindgen.map((id) => crate(id, "excluded")), npm("terser", terser, "excluded", "BSD-2-Clause")];
  const product = {
    type: "library",
    "bom-ref": `npm:${name}@${version}`,
    group,
    name: short,
    version,
    description,
    licenses: [{ expression: license }],
    purl: `pkg:npm/${encodeURIComponent(group)}/${short}@${version}`,
  };
  const guests = found.filter((it) => GUESTS_OF_PACKAGE.includes(it.name)).map((it) => it["bom-ref"]);
  const also = [...guests, ...tools.map((it) => it["bom-ref"])];
  write(folder, "scorers.cdx.json", bill(product, [...found, ...tools], also));
}

/** The crate of a component: `risk-1` is built from the same one as `risk`. */
const crateOf = (file) => `caudal-${file.replace(/-\d+$/, "")}`;

/** An in-toto statement about a file. */
function about(name, path, predicateType, predicate) {
  const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name, digest: { sha256 } }],
    predicateType,
    predicate,
  };
}

/** The provenance of a file, as its builder states it. */
function provenance(name, path, builder, externalParameters) {
  const uncommitted = run("git", "status", "--porcelain", "--untracked-files=no").trim() !== "";
  return about(name, path, "https://slsa.dev/provenance/v1", {
    buildDefinition: {
      buildType: `${builder}:1`,
      externalParameters,
      internalParameters: { rustc: /^release: (.+)$/m.exec(run("rustc", "-vV"))[1], uncommitted },
      resolvedDependencies: [{ uri: "git+urn:caudal", digest: { gitCommit: run("git", "rev-parse", "HEAD").trim() } }],
    },
    runDetails: { builder: { id: builder } },
  });
}

function components(folder) {
  const built = join(ROOT, "target/components");
  const files = existsSync(built) ? readdirSync(built).filter((it) => it.endsWith(".wasm")) : [];
  for (const file of files) {
    const name = file.replace(/\.wasm$/, "");
    const found = crates([[crateOf(name), GUEST_TARGET]]);
    const product = metadata.packages.find((it) => it.name === crateOf(name));
    const described = { ...crate(nameOf(product)), type: "application", scope: undefined };
    const path = join(built, file);
    const listed = about(file, path, "https://cyclonedx.org/bom", bill(described, found, []));
    write(folder, `${name}.cdx.intoto.json`, listed);
    const made = provenance(file, path, "urn:caudal:components/build.sh", { component: name });
    write(folder, `${name}.slsa.intoto.json`, made);
  }
}

const LICENCE_FILE = /^(licen[cs]e|copying|copyright|notice|unlicense)/i;

/** What is vendored comes with its licence beside it. */
function licenceFiles(name, crate) {
  if (!crate) return [join(ROOT, "host/web/vendored", `${name}.LICENSE.txt`)].filter(existsSync);
  const folder = dirname(crate.manifest_path);
  const files = readdirSync(folder, { withFileTypes: true }).filter((it) => it.isFile() && LICENCE_FILE.test(it.name));
  return files.map((it) => join(folder, it.name)).sort();
}

/** Each text once, below the names of all whose text it is. Where an author publishes none, there is only the expression. */
function notices(folder) {
  const { components: listed } = JSON.parse(readFileSync(join(folder, "caudal.cdx.json"), "utf8"));
  const index = [];
  const owners = new Map();
  for (const { name, version, licenses, scope } of listed) {
    const crate = packages.get(`${name}@${version}`);
    // The authors' own texts are in LICENSE-MIT and LICENSE-APACHE.
    if (scope !== "required" || crate?.source === null) continue;
    index.push(`${name} ${version}: ${licenses.map((it) => it.expression ?? it.license.id ?? it.license.name)}`);
    for (const path of licenceFiles(name === "uplot" ? "uPlot" : name, crate)) {
      const text = readFileSync(path, "utf8").replaceAll("\r", "").trim();
      owners.set(text, [...(owners.get(text) ?? []), `${name} ${version}`]);
    }
  }
  const texts = [...owners].map(([text, names]) => `${"=".repeat(80)}\n${names.join(", ")}\n\n${text}\n`);
  writeFileSync(join(folder, "NOTICES"), `${index.join("\n")}\n\n${texts.join("\n")}`);
  console.log(join(folder, "NOTICES"));
}

const [folder, program] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node host/sbom.mjs FOLDER [BINARY]");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
binary(folder);
scorers(folder);
components(folder);
if (program) {
  const made = provenance("caudal", program, "urn:caudal:make-dist", { profile: "dist" });
  write(folder, "caudal.slsa.intoto.json", made);
  notices(folder);
}
