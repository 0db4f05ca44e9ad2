// The admin API: one function per request, a Problem for every failure.

/** @import { Approval, Customer, Deployment, DeploymentRequest, Payment, Report, Review, Version, VersionDetails, Versions, GateReport, Rollout, RolloutRequest, Traffic, WhatIf } from "./types.js" */
import { Problem, readProblem } from "../shared/problem.js";
import { claimsOf } from "../shared/token.js";

const TIMEOUT_MS = 10_000;
/** The gate takes up to a minute, and so may many orders that are decided again. */
const SLOW_TIMEOUT_MS = 90_000;

const MAY_BE_MADE = "The change may have been made: check what this page shows before you try again.";
const RETRIES = "While you are signed in, the console retries by itself.";

/** In memory only: storage would outlive the page and be open to other scripts. */
let token = "";
/** Aborted when another token is set: what one operator asked for is neither repeated without a token nor shown to the next. */
let session = new AbortController();

/** @param {string} text */
export function setToken(text) {
  token = text;
  session.abort();
  session = new AbortController();
}

export const tokenNow = () => token;

/** Replaces the token of the same operator, whose session goes on. @param {string} text */
export function renewToken(text) {
  token = text;
}

/** Asks for another token; resolves with false if the operator signs out instead. @type {(failure: Problem) => Promise<boolean>} */
let askAgain = async () => false;

/** @param {typeof askAgain} ask called when the token is no longer accepted */
export function whenUnauthorized(ask) {
  askAgain = ask;
}

/** Aborted when the present operator has signed out. */
export const sessionNow = () => session.signal;

export const claims = () => claimsOf(token);

/** @param {unknown} error @param {string} detail */
function noAnswer(error, detail) {
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  return new Problem({ title: isTimeout ? "The host is slow to respond" : "The host is not responding", detail });
}

/** @param {Response} response */
async function refusal(response) {
  const problem = await readProblem(response);
  if (problem.title) return problem;
  const { status } = response;
  const detail = "It gave no reason. A proxy may have answered in its place.";
  return new Problem({ status, title: `The host answered ${status}`, detail });
}

/**
 * Where the token has expired, what is read is read again with the next one. A change is not repeated by itself: minutes
 * may have passed since somebody confirmed it. `onSilence` is what to do without an answer, of a POST that only reads.
 * @typedef {{ headers?: Record<string, string>, body?: BodyInit, timeoutMs?: number, as?: string, onSilence?: string }} Options
 * @param {string} method @param {string} path @param {Options} options
 * @returns {Promise<{ status: number, body: any, headers: Headers }>}
 */
async function call(method, path, options = {}) {
  const { headers = {}, body, timeoutMs = TIMEOUT_MS, as, onSilence } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const isChange = method !== "GET" && onSilence === undefined;
  const { signal } = session;
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { ...headers, Accept: "application/json", Authorization: `Bearer ${as ?? token}` },
      body,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      // A change runs its course.
      signal: isChange ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (response.ok) return { status: response.status, body: await response.json(), headers: response.headers };
  } catch (error) {
    // As the host would answer now.
    if (!isChange && signal.aborted) throw new Problem({ status: 401, title: "Signed out" });
    throw noAnswer(error, onSilence ?? (isChange ? MAY_BE_MADE : RETRIES));
  }
  const failure = await refusal(response);
  if (failure.status !== 401 || as !== undefined || !(await askAgain(failure))) throw failure;
  if (!isChange) return call(method, path, options);
  const detail = "The token had expired. You have signed in again: confirm once more.";
  throw new Problem({ title: "Nothing was changed", detail });
}

/** Throws if the host does not accept a token; one for customers only may not read the models. @param {string} text */
export async function check(text) {
  await call("GET", "/admin/models", { as: text }).catch((error) => {
    if (error.status !== 403) throw error;
  });
}

/** @param {string} kind @param {string} rest */
const pathOf = (kind, rest) => `/admin/models/${encodeURIComponent(kind)}/${rest}`;

/** @param {string} method @param {string} path @param {string} etag @param {unknown} value */
const change = async (method, path, etag, value) => {
  const headers = { "Content-Type": "application/json", "If-Match": etag };
  return (await call(method, path, { headers, body: JSON.stringify(value) })).body;
};

/** Every kind with its epoch and versions. @returns {Promise<Versions[]>} */
export async function models() {
  return (await call("GET", "/admin/models")).body.models;
}

/** @param {string} kind @returns {Promise<Deployment>} */
export async function deployment(kind) {
  const { body, headers } = await call("GET", pathOf(kind, "deployment"));
  return { ...body, etag: headers.get("ETag") ?? `"${body.epoch}"` };
}

/** @param {string} kind @returns {Promise<Deployment[]>} */
export async function history(kind) {
  return (await call("GET", pathOf(kind, "history"))).body.history;
}

/** @param {string} kind @returns {Promise<Report>} */
export async function report(kind) {
  return (await call("GET", pathOf(kind, "report"))).body;
}

/** @param {string} kind @param {string} name @returns {Promise<VersionDetails>} */
export async function version(kind, name) {
  return (await call("GET", pathOf(kind, `versions/${encodeURIComponent(name)}`))).body;
}

/**
 * Replaces a deployment, provided that it is still the one that was seen.
 * @param {string} kind @param {string} etag @param {Omit<DeploymentRequest, "champion"> & { champion: string | null }} wanted
 */
export function deploy(kind, etag, wanted) {
  return change("PUT", pathOf(kind, "deployment"), etag, wanted);
}

/**
 * Returns to the champion before. It names both, so that a repeated rollback changes nothing.
 * @param {string} kind @param {string} etag @param {{ from: string | null, to?: string | null, reason: string, despite_setback?: string }} wanted
 */
export function rollBack(kind, etag, wanted) {
  return change("POST", pathOf(kind, "rollback"), etag, wanted);
}

/** @param {string} kind @param {number} minutes how far back @param {number} step in minutes @returns {Promise<Traffic>} */
export async function traffic(kind, minutes, step) {
  return (await call("GET", pathOf(kind, `traffic?minutes=${minutes}&step=${step}`))).body;
}

/** Newest first. @param {string} kind @returns {Promise<Rollout[]>} */
export async function rollouts(kind) {
  return (await call("GET", pathOf(kind, "rollouts"))).body.rollouts;
}

/** Answers with the rollout, or with an approval that is pending. @param {string} kind @param {string} etag @param {RolloutRequest} wanted */
export function startRollout(kind, etag, wanted) {
  return change("POST", pathOf(kind, "rollouts"), etag, wanted);
}

/** @param {string} path @param {unknown} value @param {Options} [more] */
const post = async (path, value, more) => {
  const headers = { "Content-Type": "application/json" };
  return (await call("POST", path, { headers, body: JSON.stringify(value), ...more })).body;
};

/** @param {string} kind @param {"pause" | "resume" | "abort"} order @param {string} reason */
export async function orderRollout(kind, order, reason) {
  await post(pathOf(kind, `rollouts/${order}`), { reason });
  return {};
}

/** Actions that take two operators, also those that were decided on, newest first. @returns {Promise<Approval[]>} */
export async function approvals() {
  return (await call("GET", "/admin/approvals")).body.approvals;
}

/** Approves exactly the action of this digest. @param {string} id @param {string} digest */
export async function approve(id, digest) {
  await post(`/admin/approvals/${encodeURIComponent(id)}/approve`, { digest });
}

/** @param {string} id */
export async function withdraw(id) {
  await call("POST", `/admin/approvals/${encodeURIComponent(id)}/withdraw`);
}

/** @returns {Promise<Payment[]>} */
export async function payments() {
  return (await call("GET", "/admin/payments")).body.payments;
}

/** The oldest first. @returns {Promise<Review[]>} */
export async function reviews() {
  return (await call("GET", "/admin/reviews")).body.reviews;
}

/** @param {string} id */
export const claimReview = (id) => post(`/admin/reviews/${encodeURIComponent(id)}/claim`, {});

/** @param {string} id @param {{ decision: "release" | "refuse", reason: string, isScam: boolean }} made */
export const decideReview = (id, made) => post(`/admin/reviews/${encodeURIComponent(id)}/decision`, made);

/** Changes nothing. @param {{ risk?: string, rules?: string, days: number, limit: number }} asked @returns {Promise<WhatIf>} */
export const whatIf = (asked) =>
  post("/admin/what-if", asked, { timeoutMs: SLOW_TIMEOUT_MS, onSilence: "Try it on fewer orders." });

/** @param {string} by a parameter of the look-up @param {string} quoted @returns {Promise<Customer>} */
export async function customer(by, quoted) {
  return (await call("GET", `/admin/customers?${new URLSearchParams({ [by]: quoted })}`)).body;
}

/** The path of a list's first page. @param {string} user @param {string} list */
export const listOf = (user, list) => `/admin/users/${encodeURIComponent(user)}/${list}`;

/** A page of a list, and the path of the next one. @param {string} path */
export async function page(path) {
  const { body, headers } = await call("GET", path);
  return { items: body, next: /^<([^>]+)>/.exec(headers.get("Link") ?? "")?.[1] };
}

/**
 * Sends a component to the gate, with its signature in base64 if it has one.
 * @param {string} kind @param {File} file @param {string} signature
 * @returns {Promise<Version & { isNew: boolean, report?: GateReport }>}
 */
export async function push(kind, file, signature) {
  const headers = { "Content-Type": "application/wasm", ...(signature && { "Model-Signature": signature }) };
  const sent = { headers, body: file, timeoutMs: SLOW_TIMEOUT_MS };
  const { status, body } = await call("POST", pathOf(kind, "versions"), sent);
  return { isNew: status === 201, ...body };
}
