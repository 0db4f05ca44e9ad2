// The bundled models: which of them answers, and a report on all. A name that the bundle does not have is a fault of
// the configuration: nothing answers in its place.

import manifest from "../dist/manifest.js";
import { load } from "../src/workerd.js";

/** The binding that names the model of a kind. */
const BINDINGS = { accessibility: "ACCESSIBILITY_MODEL", nudge: "NUDGE_MODEL", risk: "RISK_MODEL" };

/** Every scorer by the name of its model, ready before the first request. */
const SCORERS = new Map();
for (const [name, { kind }] of Object.entries(manifest.models)) SCORERS.set(name, await load(kind, { model: name }));

/** The configuration asks for what is not here. */
export class BadConfiguration extends Error {}

/** The scorer that is configured for a kind, or else the package's default. */
export function scorerOf(kind, env) {
  const names = Object.keys(manifest.models).filter((name) => manifest.models[name].kind === kind);
  const binding = BINDINGS[kind];
  const name = env[binding] ?? names.find((it) => manifest.models[it].default);
  if (names.includes(name)) return SCORERS.get(name);
  throw new BadConfiguration(`${binding} names "${name}"; this worker has ${names.join(", ")}`);
}

let startedAt = null;

/**
 * The host's health report, for the kinds that are here. It fails on any fault of the configuration: a worker is
 * not half deployed.
 */
export function health(env) {
  // Time stands still while a worker starts, so it is counted from the first report on.
  startedAt ??= Date.now();
  const models = {};
  for (const kind of Object.keys(BINDINGS)) {
    try {
      const { modelVersion: version, sha256 } = scorerOf(kind, env);
      models[kind] = { loaded: true, version, sha256 };
    } catch (error) {
      models[kind] = { loaded: false, deployment_error: error.message };
    }
  }
  const isWell = Object.values(models).every((model) => model.loaded);
  const report = {
    status: isWell ? "ok" : "fail",
    model_loaded: models.nudge.loaded,
    model_version: models.nudge.version ?? null,
    models,
    uptime_seconds: Math.floor((Date.now() - startedAt) / 1000),
  };
  return Response.json(report, { status: isWell ? 200 : 503 });
}
