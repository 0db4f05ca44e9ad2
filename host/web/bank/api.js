// The bank's API: one function per request, a Problem for every failure. Amounts are converted here, so that the rest
// of the page only sees whole centavos.

/** @import { RiskAnswer, RiskRequest } from "../../../components/js/src/index.js" */
/** @import { Account, Consent, Device, Parties, Payee, Profile, Provider, Transfer, TransferPage } from "./types.js" */
import { asProblem, Problem, readProblem } from "../shared/problem.js";
import { fromPesos, toJson } from "./money.js";
import { isBound, noteTime, proofFor } from "./possession.js";
import { token } from "./token.js";

/** For requests that leave the screen empty until they finish. */
const TIMEOUT_MS = 10_000;
/** Longer for a transfer: giving up early would only leave its outcome open. */
const TRANSFER_TIMEOUT_MS = 20_000;
/** Shorter for the risk context, because the page can do without. */
const CONTEXT_TIMEOUT_MS = 4_000;

/** What the session does when a token is not accepted: true if the same person has another one now. */
export const hooks = { unauthorized: async (/** @type {string} */ _) => false, expired() {} };

/**
 * @typedef {{ headers?: Record<string, string>, body?: string, timeoutMs?: number, isPublic?: boolean,
 *   isRepeated?: boolean }} Options
 */

/** @param {string} method @param {string} path @param {Options} options @returns {Promise<{ json: any, headers: Headers }>} */
async function call(method, path, options = {}) {
  const { headers = {}, body, timeoutMs = TIMEOUT_MS, isPublic = false, isRepeated = false } = options;
  /** @type {Record<string, string>} */
  const sent = { ...headers, Accept: "application/json" };
  const bearer = isPublic ? "" : token();
  if (!isPublic) sent.Authorization = `${isBound(bearer) ? "DPoP" : "Bearer"} ${bearer}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  let json = null;
  try {
    if (isBound(bearer)) sent.DPoP = await proofFor(method, path, bearer);
    response = await fetch(path, {
      method,
      headers: sent,
      body,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    noteTime(response.headers.get("Date"));
    const hasBody = response.ok && response.status !== 202 && response.status !== 204;
    if (hasBody) json = await response.json();
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === "TimeoutError";
    throw new Problem({ code: isTimeout ? "too-slow" : "unreachable" });
  }
  if (response.ok) return { json, headers: response.headers };
  const problem = await readProblem(response);
  if (response.status === 401 && !isPublic) {
    // Without a valid token a request changes nothing, so it can be repeated.
    if (!isRepeated && (await hooks.unauthorized(bearer))) return call(method, path, { ...options, isRepeated: true });
    // A 401 for an old token says nothing about the current one.
    if (bearer === token()) hooks.expired();
  }
  throw problem;
}

/** @param {string} path @param {Options} [options] */
const get = async (path, options) => (await call("GET", path, options)).json;

/** @param {string} method @param {string} path @param {unknown} value @param {Options} [options] */
const change = async (method, path, value, options) =>
  (await call(method, path, { body: JSON.stringify(value), ...options })).json;

/** @param {any} account @returns {Account} */
const asAccount = ({ balance, held = 0, ...rest }) => ({
  ...rest,
  centavos: fromPesos(balance),
  available: fromPesos(balance) - fromPesos(held),
});
/** @param {any} transfer @returns {Transfer} */
const asTransfer = ({ amount, ...rest }) => ({ ...rest, centavos: fromPesos(amount) });

// ---- the ledger ----

/** @returns {Promise<Account[]>} */
export async function accounts() {
  return (await get("/api/ledger/accounts")).map(asAccount);
}

/** Without a number, the bank assigns one. @param {{ accountNumber?: string, accountType: string }} fields */
export async function openAccount(fields) {
  return asAccount(await change("POST", "/api/ledger/accounts", fields));
}

/** @returns {Promise<Payee[]>} */
export function payees() {
  return get("/api/ledger/beneficiaries");
}

/** @param {Omit<Payee, "id">} fields @returns {Promise<Payee>} */
export function savePayee(fields) {
  return change("POST", "/api/ledger/beneficiaries", fields);
}

/** @param {string} id */
export async function deletePayee(id) {
  await call("DELETE", `/api/ledger/beneficiaries/${encodeURIComponent(id)}`);
}

/**
 * A page of transfers, newest first: the first of `limit`, or the one at `next`.
 * @param {{ limit: number, next?: string | null }} page
 * @returns {Promise<TransferPage>}
 */
export async function transfers({ limit, next = null }) {
  const { json, headers } = await call("GET", next ?? `/api/ledger/transactions?limit=${limit}`);
  const link = /<([^>]+)>;\s*rel="next"/.exec(headers.get("Link") ?? "")?.[1];
  // Follow only the ledger's own list, wherever the header points.
  const isOwn = link?.startsWith("/api/ledger/transactions?");
  return { transfers: json.map(asTransfer), next: isOwn && link ? link : null };
}

/**
 * Sends a transfer. Repeating it with the same key gives the same answer and sends nothing twice.
 * @param {Parties & { centavos: number }} transfer @param {string} key
 */
export async function send({ fromAccountId, toBeneficiaryId, centavos }, key) {
  const parties = JSON.stringify({ fromAccountId, toBeneficiaryId });
  // Not through a double, which cannot hold every amount that the ledger accepts.
  const body = `${parties.slice(0, -1)},"amount":${toJson(centavos)}}`;
  const headers = { "Idempotency-Key": key };
  const { json } = await call("POST", "/api/ledger/transactions", { body, headers, timeoutMs: TRANSFER_TIMEOUT_MS });
  return asTransfer(json);
}

/**
 * The facts about a transfer from the ledger's own history, and the ledger's own score of them.
 * @param {Parties & Device & { centavos: number, hour: number }} transfer
 * @returns {Promise<{ request: RiskRequest, assessment: RiskAnswer }>}
 */
export function riskContext({ fromAccountId, toBeneficiaryId, centavos, hour, isNewDevice, hasMoved }) {
  const query = new URLSearchParams({
    fromAccountId,
    toBeneficiaryId,
    amount: toJson(centavos),
    hourOfDay: String(hour),
    isNewDevice: String(isNewDevice),
    geolocationChanged: String(hasMoved),
  });
  return get(`/api/ledger/risk-context?${query}`, { timeoutMs: CONTEXT_TIMEOUT_MS });
}

// ---- the person ----

/** @returns {Promise<Profile>} */
export function profile() {
  return get("/api/profile/accessibility");
}

/** @param {Profile} profile @returns {Promise<Profile>} */
export function saveProfile({ theme, screenReaderMode, fontScale, nudgingLevel, voiceFeedback }) {
  const sent = { theme, screenReaderMode, fontScale, nudgingLevel, voiceFeedback };
  return change("PUT", "/api/profile/accessibility", sent);
}

/** @returns {Promise<Consent>} */
export function consent() {
  return get("/api/analytics/consent");
}

/** @param {boolean} granted @param {string} noticeVersion @returns {Promise<Consent>} */
export function saveConsent(granted, noticeVersion) {
  return change("PUT", "/api/analytics/consent", { granted, noticeVersion });
}

/** @param {{ screen: string, eventType: string }} event */
export async function sendEvent(event) {
  await change("POST", "/api/analytics/events", event);
}

// ---- signing in ----

/** The bank's OpenID provider, or null if there is none. @returns {Promise<Provider | null>} */
export async function provider() {
  try {
    return await get("/sign-in", { isPublic: true });
  } catch (error) {
    if (asProblem(error).status === 404) return null;
    throw error;
  }
}

/** Whether this is the sandbox, where anyone can sign in as any user. */
export async function isSandbox() {
  try {
    return (await get("/sandbox", { isPublic: true })).sandbox === true;
  } catch {
    return false;
  }
}

/** @param {string} user @returns {Promise<string>} */
export async function sandboxToken(user) {
  return (await change("POST", "/sandbox/token", { user }, { isPublic: true })).token;
}
