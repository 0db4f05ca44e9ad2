// The assistance API for workerd: the three scores and the health report, with the bodies, statuses and problems of
// the Caudal host. Which of the bundled models answers is configuration: RISK_MODEL, NUDGE_MODEL,
// ACCESSIBILITY_MODEL. Not for deciding who may ask: put it where only your own services reach it.

import { InvalidRequest, ModelFailed } from "../src/errors.js";
import { readText } from "./body.js";
import { preferredLanguage } from "./language.js";
import { BadConfiguration, health, scorerOf } from "./models.js";
import { answerProblem, internalError, methodNotAllowed, notFound, Problem } from "./problem.js";

/** What a path does, by method. */
const ROUTES = new Map([
  ["/ai/risk", { POST: (request, env) => assess("risk", request, env) }],
  ["/ai/nudge", { POST: (request, env) => assess("nudge", request, env) }],
  ["/ai/accessibility", { POST: (request, env) => assess("accessibility", request, env) }],
  ["/ai/health", { GET: (_, env) => health(env), HEAD: (_, env) => health(env) }],
]);

async function assess(kind, request, env) {
  const text = await readText(request);
  const language = preferredLanguage(request.headers.get("accept-language"));
  return Response.json(scorerOf(kind, env).assessText(text, { language }));
}

function route(request, env, path) {
  const methods = ROUTES.get(path);
  if (!methods) throw notFound();
  if (!Object.hasOwn(methods, request.method)) throw methodNotAllowed(Object.keys(methods));
  return methods[request.method](request, env);
}

/** What is told of a failure. What is wrong on our side is logged and not told. */
function problemOf(error, requestId) {
  if (error instanceof InvalidRequest || error instanceof Problem) return error;
  console.error(requestId, error, error.cause ?? "");
  if (error instanceof BadConfiguration) return new ModelFailed(error);
  return error instanceof ModelFailed ? error : internalError();
}

export default {
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
