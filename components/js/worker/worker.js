// The assistance API for workerd: the scores and the health report, with the bodies, statuses and problems of the Caudal
// host. A binding for each kind, such as RISK_MODEL, chooses among the bundled models. There is no authentication: put
// the worker where only your own services can reach it.

/** @import { Kind } from "../src/index.js" */
/** @import { Failure } from "../src/internal.js" */
/** @import { Env } from "./models.js" */
import { InvalidRequest, ModelFailed } from "../src/errors.js";
import { readText } from "./body.js";
import { preferredLanguage } from "./language.js";
import { BadConfiguration, health, KINDS, scorerOf } from "./models.js";
import { answerProblem, internalError, methodNotAllowed, notFound, Problem } from "./problem.js";

/** @typedef {(request: Request, env: Env) => Response | Promise<Response>} Handler */

/** Handlers by path and method. @type {Map<string, Record<string, Handler>>} */
const ROUTES = new Map();
for (const kind of KINDS) ROUTES.set(`/ai/${kind}`, { POST: (request, env) => assess(kind, request, env) });
ROUTES.set("/ai/health", { GET: (_, env) => health(env), HEAD: (_, env) => health(env) });

/** @param {Kind} kind @param {Request} request @param {Env} env */
async function assess(kind, request, env) {
  const text = await readText(request);
  const language = preferredLanguage(request.headers.get("accept-language"));
  return Response.json(scorerOf(kind, env).assessText(text, { language }));
}

/** @param {Request} request @param {Env} env @param {string} path */
function route(request, env, path) {
  const methods = ROUTES.get(path);
  if (!methods) throw notFound();
  if (!Object.hasOwn(methods, request.method)) throw methodNotAllowed(Object.keys(methods));
  return methods[request.method](request, env);
}

/** The failure to answer with; faults of our own are logged and not disclosed. @param {unknown} error @param {string} requestId @returns {Failure} */
function problemOf(error, requestId) {
  if (error instanceof InvalidRequest || error instanceof Problem) return error;
  console.error(requestId, error, error instanceof Error ? (error.cause ?? "") : "");
  if (error instanceof BadConfiguration) return new ModelFailed(error);
  return error instanceof ModelFailed ? error : internalError();
}

export default {
  /** @param {Request} request @param {Env} env */
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const requestId = crypto.randomUUID();
    let response;
    try {
      response = await route(request, env, pathname);
    } catch (error) {
      response = answerProblem(problemOf(error, requestId), pathname, requestId);
    }
    response.headers.set("x-request-id", requestId);
    return request.method === "HEAD" ? new Response(null, response) : response;
  },
};
