// Asks the registry for advisories about locked npm packages. No answer is named after NOT CHECKED and fails
// nothing; advisories without an exception fail.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Advisories that do not concern us, by their URL, with the reason. */
const EXCEPTIONS = new Map([]);

/** An unreachable registry must not delay a build for long. */
const MILLISECONDS_MAX = 60_000;

const OPTIONS = ["--json", "--package-lock-only", "--fetch-retries=0", `--fetch-timeout=${MILLISECONDS_MAX}`];

/** Folders with a lock. The package in components/js depends on nothing. */
const FOLDERS = ["tests", "tests/wasm/fixtures/javascript"];

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Whether nothing was found in a folder. */
function audit(folder) {
  const cwd = fileURLToPath(new URL(`../../${folder}/`, import.meta.url));
  const report = parse(spawnSync("npm", ["audit", ...OPTIONS], { cwd, encoding: "utf8" }).stdout);
  if (!report.vulnerabilities) {
    const reason = report.message ?? report.error?.summary ?? "npm audit gives no report";
    console.log(`NOT CHECKED: advisories of npm packages in ${folder} (${reason.split("\n")[0]})`);
    return true;
  }
  // Packages that only depend on a vulnerable one name it instead of an advisory.
  const advisories = Object.values(report.vulnerabilities).flatMap((it) => it.via.filter((via) => via.url));
  const found = new Map(advisories.filter((it) => !EXCEPTIONS.has(it.url)).map((it) => [it.url, it]));
  for (const { url, name, range, severity, title } of found.values())
    console.log(`npm audit: ${folder}: ${name} ${range}: ${title} (${severity}, ${url})`);
  if (found.size === 0) console.log(`npm audit: ${folder}: no advisories`);
  return found.size === 0;
}

const sound = FOLDERS.map(audit);
if (sound.includes(false)) process.exit(1);
