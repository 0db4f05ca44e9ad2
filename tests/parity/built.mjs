// Models of contract 2, built by the program under test from what libraries have trained, and prepared for the package.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { program } from "./service.mjs";

const TRAINED = new URL("../../components/convert/tests/convert/models/", import.meta.url);
const FIXTURE = new URL("../../target/components/fixtures/hostile-risk-2.wasm", import.meta.url);

/** Sums in f32 and in f64; one has a fact that is not always known, and a score of its own. */
const MODELS = {
  "with-xgboost": ["3.0.0", "xgboost.json", "num_past_transactions", ""],
  "with-lightgbm": [
    "4.0.0",
    "lightgbm.txt",
    "beneficiary_saved_minutes",
    "[score]\npoints = [[-1, 0.0], [-0.25, 0.2], [0.1, 0.3], [0.5, 0.8], [1, 1]]\n",
  ],
};

const mapOf = (version, last, score) => `version = "${version}"
summary = "Five trees."
${["amount", "hour_of_day", "is_new_beneficiary", last]
  .map((fact, at) => `[[features]]\nname = "${["importe", "hora", "nuevo", "minutos"][at]}"\nfact = "${fact}"\n`)
  .join("")
  .replace('"amount"\n', '"amount"\nunit = "MXN"\nrequired = true\n')}
[[reasons]]
code = "AMOUNT_MUCH_HIGHER_THAN_AVERAGE"
fact = "amount"
at_least = 2000
[[reasons]]
code = "UNUSUAL_TIME"
fact = "hour_of_day"
at_least = 20
${score}`;

const caudal = (...args) => execFileSync(program(), args, { stdio: ["ignore", "pipe", "pipe"] });

/** Prepares components in one folder, and says where what of each is. */
function prepared(folder, names) {
  const files = names.map((name) => join(folder, `${name}.wasm`));
  caudal("models", "package", "--component", ...files, "--output", folder);
  return Promise.all(
    names.map(async (name, at) => ({
      name,
      component: files[at],
      core: pathToFileURL(join(folder, `${name}.core.wasm`)),
      identity: (await import(pathToFileURL(join(folder, `${name}.js`)))).default,
    })),
  );
}

/** A model of each library, and one that abstains where the payee is new. */
export async function built() {
  const folder = mkdtempSync(join(tmpdir(), "caudal-built."));
  for (const [name, [version, model, last, score]] of Object.entries(MODELS)) {
    const facts = join(folder, `${name}.toml`);
    writeFileSync(facts, mapOf(version, last, score));
    const output = join(folder, `${name}.wasm`);
    caudal("models", "build", "--from", fileURLToPath(new URL(model, TRAINED)), "--facts", facts, "--output", output);
  }
  const abstaining = join(folder, "abstaining.wasm");
  copyFileSync(FIXTURE, abstaining);
  const bytes = readFileSync(FIXTURE);
  bytes.write("abstains-new", bytes.indexOf("behaviour:") + "behaviour:".length);
  writeFileSync(abstaining, bytes);
  const models = await prepared(folder, [...Object.keys(MODELS), "abstaining"]);
  return { folder, models: models.slice(0, -1), abstaining: models.at(-1) };
}

/** The answers of a component to bodies, in the host's batch. */
export function scored({ component }, texts) {
  const input = `${component}.ndjson`;
  writeFileSync(input, texts.join("\n"));
  const answers = caudal("score", "--kind", "risk", "--component", component, "--input", input).toString();
  return answers
    .trim()
    .split("\n")
    .map((line) => {
      const { line: _, ...answer } = JSON.parse(line);
      return answer;
    });
}
