// What `make packages` has built: contents, sizes, lintian's view, and the same bytes when it is built again.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUILT = `${process.env.CARGO_TARGET_DIR ?? `${ROOT}target`}/packages`;

const MEGABYTE = 1_000_000;
const PACKAGE_BYTES_MAX = 20 * MEGABYTE;
const IMAGE_BYTES_MAX = 60 * MEGABYTE;

const run = (command, ...args) => execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
const only = (pattern) => {
  const found = readdirSync(BUILT).filter((it) => pattern.test(it));
  assert.equal(found.length, 1, `${pattern}: ${found}`);
  return `${BUILT}/${found[0]}`;
};
const binary = only(/^caudal_[^-]*\.deb$/);
const symbols = only(/^caudal-dbgsym_.*\.deb$/);

/** The files of a package or an archive, without the folder that an archive may begin with. */
const files = (listing) =>
  listing
    .split("\n")
    .filter((it) => it && !it.endsWith("/"))
    .map((it) => it.replace(/^\.\//, ""));
const inPackage = (path) => files(run("sh", "-c", `dpkg-deb --fsys-tarfile ${path} | tar --list`));

test("there is one of each kind, all in the checksums", () => {
  const kinds = [binary, symbols, only(/\.tar\.gz$/), only(/-oci\.tar$/), only(/\.tgz$/), only(/\.whl$/)];
  run("sh", "-c", `cd ${BUILT} && sha256sum --quiet --check SHA256SUMS`);
  const listed = readFileSync(`${BUILT}/SHA256SUMS`, "utf8").trim().split("\n");
  assert.deepEqual(listed.map((it) => `${BUILT}/${it.split("  ")[1]}`).sort(), kinds.sort());
});

test("the Debian package has what a host needs, and the tarball the same", () => {
  assert.ok(statSync(binary).size <= PACKAGE_BYTES_MAX, `${statSync(binary).size} bytes`);
  const found = inPackage(binary);
  for (const file of [
    "etc/caudal/caudal.toml",
    "lib/systemd/system/caudal.service",
    "usr/bin/caudal",
    "usr/lib/sysusers.d/caudal.conf",
    "usr/lib/tmpfiles.d/caudal.conf",
    "usr/share/bash-completion/completions/caudal",
    "usr/share/caudal/alerts.yml",
    "usr/share/caudal/sbom/caudal.cdx.json",
    "usr/share/caudal/sbom/caudal.slsa.intoto.json",
    "usr/share/doc/caudal/ACCESSIBILITY.md.gz",
    "usr/share/doc/caudal/CHANGELOG.md.gz",
    "usr/share/doc/caudal/COMPONENTS.md.gz",
    "usr/share/doc/caudal/NOTICES.gz",
    "usr/share/man/man1/caudal-serve.1.gz",
  ])
    assert.ok(found.includes(file), file);
  const archived = files(run("tar", "--list", "--file", only(/\.tar\.gz$/))).map((it) => it.replace(/^.*?\//, ""));
  assert.deepEqual(
    archived.filter((it) => it.includes("/")).sort(),
    found.map((it) => it.replace(/^lib\//, "usr/lib/")).sort(),
  );
  assert.deepEqual(archived.filter((it) => !it.includes("/")).sort(), ["LICENSE-APACHE", "LICENSE-MIT", "README"]);
});

test("the symbols are those of the binary", () => {
  const folder = mkdtempSync("/tmp/caudal-packages.");
  after(() => rmSync(folder, { recursive: true }));
  run("dpkg-deb", "--extract", binary, folder);
  const [, id] = /Build ID: (\w+)/.exec(run("readelf", "--notes", `${folder}/usr/bin/caudal`));
  assert.ok(inPackage(symbols).includes(`usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`), id);
  const { subject } = JSON.parse(readFileSync(`${folder}/usr/share/caudal/sbom/caudal.slsa.intoto.json`, "utf8"));
  assert.equal(subject[0].digest.sha256, run("sha256sum", `${folder}/usr/bin/caudal`).split(" ")[0]);
  const sections = run("readelf", "--sections", "--wide", `${folder}/usr/bin/caudal`);
  assert.doesNotMatch(sections, /\.debug_info|\.symtab/);
});

test("the image has the binary, its libraries and a user without rights", () => {
  const layout = only(/-oci$/);
  const blob = ({ digest }) => `${layout}/blobs/${digest.replace(":", "/")}`;
  const json = (path) => JSON.parse(readFileSync(path, "utf8"));
  const [{ digest: named }] = json(`${layout}/index.json`).manifests;
  const manifest = json(blob({ digest: named }));
  const { config } = json(blob(manifest.config));
  const [layer] = manifest.layers;
  assert.ok(layer.size <= IMAGE_BYTES_MAX, `${layer.size} bytes`);
  assert.match(config.User, /^[1-9]\d+:[1-9]\d+$/);
  assert.match(config.Labels["org.opencontainers.image.revision"], /^[0-9a-f]{40}$/);
  assert.equal(config.Labels["org.opencontainers.image.version"], /_(.+)_/.exec(binary.slice(BUILT.length))[1]);
  const found = files(run("tar", "--list", "--file", blob(layer))).filter((it) => !it.startsWith("usr/share/"));
  const libraries = found.filter((it) => it.startsWith("lib"));
  const others = found.filter((it) => !libraries.includes(it));
  assert.deepEqual(others, ["etc/nsswitch.conf", "etc/ssl/certs/ca-certificates.crt", "usr/bin/caudal"]);
  const names = libraries.map((it) => /([a-z_-]+?)[-.\d]*\.so/.exec(it)[1]).sort();
  assert.deepEqual(names, ["ld-linux-x", "libc", "libgcc_s", "libm"]);
});

test("lintian finds neither errors nor warnings", () => {
  const args = ["--allow-root", "--fail-on", "error,warning", binary, symbols];
  const { status, stdout, stderr } = spawnSync("lintian", args, { encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
});

test("packed again, they are the same bytes", () => {
  const again = mkdtempSync("/tmp/caudal-packages.");
  after(() => rmSync(again, { recursive: true }));
  execFileSync(`${ROOT}host/packaging/build.sh`, [again], { stdio: ["ignore", "ignore", "inherit"] });
  const [first, second] = [BUILT, again].map((it) => readFileSync(`${it}/SHA256SUMS`, "utf8").split("\n"));
  assert.deepEqual(second, first);
});
