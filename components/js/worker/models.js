// The bundled models: which of them answers, and a health report on all. For a name that is not in the bundle there is no
// fallback: the configuration is wrong.

/** @import { Kind } from "../src/index.js" */
/** @import { Scorer } from "../src/scorer.js" */
/** @import { OwnModel } from "./index.js" */
import manifest from "../dist/manifest.js";
import { load } from "../src/workerd.js";

/** Every kind that the bundle has a model of. */
export const KINDS = [...new Set(Object.values(manifest.models).map((it) => it.kind))];

/** The binding that names the model of a kind: RISK_MODEL. @param {Kind} kind */
const bindingOf = (kind) => `${kind.replaceAll("-", "_").toUpperCase()}_MODEL`;

/** By the name of the model; ready before the first request. @type {Map<string, Scorer>} */
const PACKAGED = new Map();
for (const [name, { kind }] of Object.entries(manifest.models)) PACKAGED.set(name, await load(kind, { model: name }));

/** Those, and models that the package does not contain. @typedef {Map<string, Scorer>} Scorers */

/** @param {Record<string, OwnModel>} own @returns {Promise<Scorers>} */
export async function scorersWith(own) {
  const scorers = new Map(PACKAGED);
  for (const [name, { kind, ...model }] of Object.entries(own)) {
    if (scorers.has(name)) throw new RangeError(`there is a model ${name} in the package: give yours another name`);
    scorers.set(name, await load(kind, model));
  }
  return scorers;
}

/** The configuration names a model that is not in the bundle. */
export class BadConfiguration extends Error {}

/**
 * The scorer that is configured for a kind, or else the package's default.
 * @typedef {Record<string, string | undefined>} Env
 * @param {Scorers} scorers @param {Kind} kind @param {Env} env
 */
export function scorerOf(scorers, kind, env) {
  const names = [...scorers.keys()].filter((name) => scorers.get(name)?.kind === kind);
  const binding = bindingOf(kind);
  const name = env[binding] ?? names.find((it) => manifest.models[it]?.default) ?? "";
  const scorer = names.includes(name) && scorers.get(name);
  if (scorer) return scorer;
  throw new BadConfiguration(`${binding} names "${name}"; this worker has ${names.join(", ")}`);
}

/** For the host's answer; a health check does not wait long. */
const HOST_MS_MAX = 2_000;

/**
 * What is wrong with a model beside the host's champion, or "". A host that does not answer, or does not publish the kind, is no
 * reason to stop an edge that works.
 * @param {Kind} kind @param {Scorer} scorer @param {Env} env
 */
async function difference(kind, { modelVersion, sha256 }, { CAUDAL_HOST: host }) {
  if (!host) return "";
  const address = new URL(`/models/${kind}/active`, host);
  try {
    const response = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(HOST_MS_MAX) });
    const champion = response.status === 200 ? await response.json() : { sha256 };
    return champion.sha256 === sha256 ? "" : `the host's model is ${champion.model_version}, not ${modelVersion}`;
  } catch (error) {
    console.warn(String(error));
    return "";
  }
}

/** @type {number | null} */
let startedAt = null;

/** The host's health report. Any fault of the configuration fails it, because a worker is deployed as a whole. @param {Scorers} scorers @param {Env} env */
export async function health(scorers, env) {
  // The clock stands still while a worker starts, so uptime counts from the first report.
  startedAt ??= Date.now();
  /** @type {Record<string, { loaded: boolean, version?: string, sha256?: string, deployment_error?: string }>} */
  const models = {};
  await Promise.all(
    KINDS.map(async (kind) => {
      try {
        const scorer = scorerOf(scorers, kind, env);
        models[kind] = { loaded: true, version: scorer.modelVersion, sha256: scorer.sha256 };
        models[kind].deployment_error = (await difference(kind, scorer, env)) || undefined;
      } catch (error) {
        models[kind] = { loaded: false, deployment_error: String(/** @type {Error} */ (error).message) };
      }
    }),
  );
  const isWell = Object.values(models).every((model) => model.loaded && !model.deployment_error);
  const report = {
    status: isWell ? "ok" : "fail",
    model_loaded: models.nudge.loaded,
    model_version: models.nudge.version ?? null,
    models,
    uptime_seconds: Math.floor((Date.now() - startedAt) / 1000),
  };
  return Response.json(report, { status: isWell ? 200 : 503 });
}
