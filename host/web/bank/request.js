// Requests to the bank's API: the token, its renewal, and a Problem for every failure.

import { Problem, readProblem } from "../shared/problem.js";
import { isBound, isChallenge, noteAnswer, proofFor } from "./possession.js";
import { token } from "./token.js";

/** For requests that leave the screen empty until they finish. */
const TIMEOUT_MS = 10_000;

/** What the session does when a token is not accepted: true if the same person has another one now. */
export const hooks = { unauthorized: async (/** @type {string} */ _) => false, expired() {} };

/**
 * @typedef {{ headers?: Record<string, string>, body?: string, timeoutMs?: number, isPublic?: boolean,
 *   isRepeated?: boolean, isChallenged?: boolean }} Options
 */

/** Why there is no answer. @param {unknown} error */
function silence(error) {
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  return new Problem({ code: isTimeout ? "too-slow" : "unreachable" });
}

/**
 * Resolves to a successful response. `limit` makes the signal of each attempt, which also ends the reading of its body.
 * @param {string} method @param {string} path @param {Options} options @param {() => AbortSignal} limit
 * @returns {Promise<Response>}
 */
export async function exchange(method, path, options, limit) {
  const { headers = {}, body, isPublic = false, isRepeated = false, isChallenged = false } = options;
  /** @type {Record<string, string>} */
  const sent = { Accept: "application/json", ...headers };
  const bearer = isPublic ? "" : token();
  if (!isPublic) sent.Authorization = `${isBound(bearer) ? "DPoP" : "Bearer"} ${bearer}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  try {
    if (isBound(bearer)) sent.DPoP = await proofFor(method, path, bearer);
    response = await fetch(path, {
      method,
      headers: sent,
      body,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: limit(),
    });
    noteAnswer(response.headers);
  } catch (error) {
    throw silence(error);
  }
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (response.status === 401 && !isPublic) {
    // Without a valid token and proof a request changes nothing, so it can be repeated.
    if (!isChallenged && isChallenge(response.headers)) {
      return exchange(method, path, { ...options, isChallenged: true }, limit);
    }
    if (!isRepeated && (await hooks.unauthorized(bearer))) {
      return exchange(method, path, { ...options, isRepeated: true }, limit);
    }
    // A 401 for an old token says nothing about the current one.
    if (bearer === token()) hooks.expired();
  }
  throw problem;
}

/** @param {string} method @param {string} path @param {Options} options @returns {Promise<{ json: any, headers: Headers }>} */
export async function call(method, path, options = {}) {
  const limit = () => AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  const response = await exchange(method, path, options, limit);
  const hasBody = response.status !== 202 && response.status !== 204;
  try {
    return { json: hasBody ? await response.json() : null, headers: response.headers };
  } catch (error) {
    throw silence(error);
  }
}

/** @param {string} path @param {Options} [options] */
export const get = async (path, options) => (await call("GET", path, options)).json;

/** @param {string} method @param {string} path @param {unknown} value @param {Options} [options] */
export const change = async (method, path, value, options) =>
  (await call(method, path, { body: JSON.stringify(value), ...options })).json;
