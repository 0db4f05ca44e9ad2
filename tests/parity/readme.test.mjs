// The examples in the package's README run as printed, against a stand-in for the host.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import manifest from "../../components/js/lib/dist/manifest.js";
import { offerOfPackaged, Stub } from "./stub.mjs";

const PACKAGE = fileURLToPath(new URL("../../components/js/", import.meta.url));
const HOST = "https://bank.example";

let folder;
let stub;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "caudal-readme."));
  await mkdir(join(folder, "node_modules/@caudal"), { recursive: true });
  await symlink(PACKAGE, join(folder, "node_modules/@caudal/scorers"));
  stub = await new Stub().start();
});

after(async () => {
  await stub?.end();
  await rm(folder, { recursive: true, force: true });
});

/** What the example that contains a text prints. */
async function printed(text) {
  const readme = await readFile(join(PACKAGE, "README.md"), "utf8");
  const examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map((it) => it[1]);
  assert.equal(examples.length, 2);
  const example = examples.find((it) => it.includes(text));
  const file = join(folder, "example.mjs");
  await writeFile(file, example.replaceAll(HOST, stub.url));
  return (await promisify(execFile)(process.execPath, [file], { cwd: folder })).stdout;
}

test("the example of a score prints what its comments say", async () => {
  const { model_version } = manifest.models["risk-2"];
  const output = await printed("load(");
  assert.ok(output.startsWith(`medium ${model_version}\n`), output);
  assert.match(output, /field: 'hour_of_day',\s+code: 'out-of-range',\s+detail: 'must be from 0 to 23'/);
});

test("the example that follows a host scores with what is in service", async () => {
  const { model_version } = manifest.models["nudge-1"];
  stub.offers.nudge = offerOfPackaged("nudge-1");
  assert.equal(await printed("live("), `assist ${model_version}\nfalse\nnull\n`);
});
