// Writes a configuration with which workerd serves the worker on this machine: node worker/config.mjs [options] > FILE.
//
//   --address HOST:PORT        where to listen; 127.0.0.1:8787 when left out
//   --bind NAME=VALUE          a binding, such as RISK_MODEL=risk-1; may be repeated
//   --models FOLDER            models of your own, as `caudal models package --component` writes them
//
// workerd needs a list of all modules. They are part of the configuration, which is therefore a single file.

import { readFileSync, realpathSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const PACKAGE = new URL("../", import.meta.url);
const MAIN = "worker/worker.js";
/** In place of it with models of one's own, and where these are among the modules. */
const MAIN_WITH_MODELS = "main.js";
const OWN = "own/";
const WITH_MODELS = `import { withModels } from "./${MAIN}";
import own from "./${OWN}models.js";
export default await withModels(own);
`;
/** The behaviour of workerd that the worker is tested with. */
const COMPATIBILITY_DATE = "2026-10-01";

/** The host may be in a private network. */
const OUTBOUND =
  ', (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true)))';

/** All modules by path, the main one first. */
export function modules(models) {
  const found = new Map();
  const read = (path) => {
    if (path === MAIN_WITH_MODELS) return Buffer.from(WITH_MODELS);
    return readFileSync(path.startsWith(OWN) ? join(models, path.slice(OWN.length)) : new URL(path, PACKAGE));
  };
  const visit = (path) => {
    if (found.has(path)) return;
    const bytes = read(path);
    found.set(path, bytes);
    if (!path.endsWith(".js")) return;
    // Comments contain type imports.
    const code = bytes.toString().replaceAll(/\/\*.*?\*\//gs, "");
    for (const [, target] of code.matchAll(/\b(?:from|import)\s*"(\.[^"]+)"/g)) {
      visit(posix.join(posix.dirname(path), target));
    }
  };
  visit(models ? MAIN_WITH_MODELS : MAIN);
  return found;
}

// For these texts, JSON's escapes are also valid in the configuration language.
const text = (value) => JSON.stringify(value);

function module([path, bytes]) {
  const isCore = path.endsWith(".wasm");
  const content = isCore ? `wasm = 0x"${bytes.toString("hex")}"` : `esModule = ${text(bytes.toString())}`;
  return `    (name = ${text(path)}, ${content})`;
}

/** The configuration as text. */
export function configuration({ address = "127.0.0.1:8787", bindings = {}, models } = {}) {
  const binding = ([name, value]) => `    (name = ${text(name)}, text = ${text(value)})`;
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "scorers", worker = .scorers)${bindings.CAUDAL_HOST ? OUTBOUND : ""}],
  sockets = [(name = "http", address = ${text(address)}, http = (), service = "scorers")],
);

const scorers :Workerd.Worker = (
  compatibilityDate = ${text(COMPATIBILITY_DATE)},
  bindings = [
${Object.entries(bindings).map(binding).join(",\n")}
  ],
  modules = [
${[...modules(models)].map(module).join(",\n")}
  ],
);
`;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const options = {
    address: { type: "string" },
    bind: { type: "string", multiple: true, default: [] },
    models: { type: "string" },
  };
  const { values } = parseArgs({ options });
  const bindings = Object.fromEntries(values.bind.map((it) => it.split(/=(.*)/s, 2)));
  process.stdout.write(configuration({ address: values.address, bindings, models: values.models }));
}
