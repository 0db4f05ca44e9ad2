// The assistance API for workerd: the scores and the health report, with the bodies, statuses and problems of the Caudal
// host. A binding for each kind, such as RISK_MODEL, chooses among the bundled models. There is no authentication: put
// the worker where only your own services can reach it.

/** @import { Kind } from "../src/index.js" */
/** @import { Failure } from "../src/internal.js" */
/** @import { OwnModel } from "./index.js" */
/** @import { Env, Scorers } from "./models.js" */
import { InvalidRequest, ModelFailed } from "../src/errors.js";
import { readText } from "./body.js";
import { preferredLanguage } from "./language.js";
import { BadConfiguration, health, KINDS, scorerOf, scorersWith } from "./models.js";
import { answerProblem, internalError, methodNotAllowed, notFound, Problem } from "./problem.js";

/** @typedef {(request: Request, env: Env, scorers: Scorers) => Response | Promise<Response>} Handler */

/** Handlers by path and method. @type {Map<string, Record<string, Handler>>} */
const ROUTES = new Map();
for (const kind of KINDS) ROUTES.set(`/ai/${kind}`, { POST: (...asked) => assess(kind, ...asked) });
/** @type {Handler} */
const report = (_, env, scorers) => health(scorers, env);
ROUTES.set("/ai/health", { GET: report, HEAD: report });

/** @param {Kind} kind @param {Request} request @param {Env} env @param {Scorers} scorers */
async function assess(kind, request, env, scorers) {
  const text = await readText(request);
  const language = preferredLanguage(request.headers.get("accept-language"));
  return Response.json(scorerOf(scorers, kind, env).assessText(text, { language }));
}

/** @param {Request} request @param {Env} env @param {Scorers} scorers @param {string} path */
function route(request, env, scorers, path) {
  const methods = ROUTES.get(path);
  if (!methods) throw notFound();
  if (!Object.hasOwn(methods, request.method)) throw methodNotAllowed(Object.keys(methods));
  return methods[request.method](request, env, scorers);
}

/** The failure to answer with; faults of our own are logged and not disclosed. @param {unknown} error @param {string} requestId @returns {Failure} */
function problemOf(error, requestId) {
  if (error instanceof InvalidRequest || error instanceof Problem) return error;
  console.error(requestId, error, error instanceof Error ? (error.cause ?? "") : "");
  if (error instanceof BadConfiguration) return new ModelFailed(error);
  return error instanceof ModelFailed ? error : internalError();
}

/** The worker with models of one's own beside those of the package. @param {Record<string, OwnModel>} own */
export async function withModels(own) {
  const scorers = await scorersWith(own);
  return {
    /** @param {Request} request @param {Env} env */
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      const requestId = crypto.randomUUID();
      let response;
      try {
        response = await route(request, env, scorers, pathname);
      } catch (error) {
        response = answerProblem(problemOf(error, requestId), pathname, requestId);
      }
      response.headers.set("x-request-id", requestId);
      return request.method === "HEAD" ? new Response(null, response) : response;
    },
  };
}

export default await withModels({});
