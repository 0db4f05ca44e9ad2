// The bank's API: one function for each request, one kind of error for everything that goes wrong. Money leaves
// and enters here: inside the page every amount is whole centavos.

import { fromPesos, toJson } from "./money.js";
import { token } from "./token.js";

/** Longest wait for an answer that somebody looks at a blank space for. */
const PATIENCE_MS = 10_000;
/** A transfer may wait longer: to give up early would only leave its outcome open. */
const PATIENCE_SENDING_MS = 20_000;
/** The risk's facts have a substitute in the page, so they are not waited for as long. */
const PATIENCE_CONTEXT_MS = 4_000;

/** Why there is no successful answer, as problem+json says it. Status 0: there was no answer at all. */
export class Problem extends Error {
  constructor({
    status = 0,
    title = "",
    detail = "",
    code = "",
    errors = [],
    requestId = "",
    retryAfterSeconds = null,
  }) {
    super(title);
    Object.assign(this, {
      status,
      title,
      detail,
      code,
      requestId,
      retryAfterSeconds,
      errors: Array.isArray(errors) ? errors : [],
    });
  }
}

/** Set by the session: what is to happen when the token is not accepted any more. */
export const notices = { unauthorized() {} };

async function refused(response) {
  const said = await response.json().catch(() => null);
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const status = response.status;
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : null;
  // A proxy in between may have answered in the host's place, in any form.
  const isProblem = said !== null && typeof said === "object" && typeof said.code === "string";
  return new Problem({ ...(isProblem ? said : {}), status, retryAfterSeconds });
}

async function call(method, path, { headers = {}, body, patience = PATIENCE_MS, isPublic = false } = {}) {
  const sent = { ...headers, Accept: "application/json" };
  const used = isPublic ? "" : token();
  if (!isPublic) sent.Authorization = `Bearer ${used}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  let answer = null;
  try {
    response = await fetch(path, {
      method,
      headers: sent,
      body,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(patience),
    });
    const hasBody = response.ok && response.status !== 202 && response.status !== 204;
    if (hasBody) answer = await response.json();
  } catch (error) {
    throw new Problem({ code: error.name === "TimeoutError" ? "too-slow" : "unreachable" });
  }
  if (response.ok) return { answer, headers: response.headers };
  const problem = await refused(response);
  // An answer to an old token says nothing about the one that is held now.
  if (response.status === 401 && !isPublic && used === token()) notices.unauthorized(problem);
  throw problem;
}

const get = async (path, options) => (await call("GET", path, options)).answer;
const change = async (method, path, value, options) =>
  (await call(method, path, { body: JSON.stringify(value), ...options })).answer;

const asAccount = ({ balance, ...rest }) => ({ ...rest, centavos: fromPesos(balance) });
const asTransfer = ({ amount, ...rest }) => ({ ...rest, centavos: fromPesos(amount) });

// ---- the ledger ----

export async function accounts() {
  return (await get("/api/ledger/accounts")).map(asAccount);
}

export async function openAccount(fields) {
  return asAccount(await change("POST", "/api/ledger/accounts", fields));
}

export function payees() {
  return get("/api/ledger/beneficiaries");
}

export function savePayee(fields) {
  return change("POST", "/api/ledger/beneficiaries", fields);
}

export async function deletePayee(id) {
  await call("DELETE", `/api/ledger/beneficiaries/${encodeURIComponent(id)}`);
}

/** One page of transfers, newest first: {transfers, next}; `next` leads to the page after, or is null. */
export async function transfers({ limit, next = null }) {
  const { answer, headers } = await call("GET", next ?? `/api/ledger/transactions?limit=${limit}`);
  const link = /<([^>]+)>;\s*rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? null;
  // Only the ledger's own list is followed, wherever a header may point.
  const isOwn = link?.startsWith("/api/ledger/transactions?");
  return { transfers: answer.map(asTransfer), next: isOwn ? link : null };
}

const named = ({ fromAccountId, toBeneficiaryId }) => ({ fromAccountId, toBeneficiaryId });

/** Sends a transfer. The same key gives the same answer, however often it is asked. */
export async function send({ centavos, ...ids }, key) {
  const members = Object.entries(named(ids)).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  // Written by hand: a double would not hold every amount that the ledger takes.
  const body = `{${members.join(",")},"amount":${toJson(centavos)}}`;
  const { answer } = await call("POST", "/api/ledger/transactions", {
    body,
    headers: { "Idempotency-Key": key },
    patience: PATIENCE_SENDING_MS,
  });
  return asTransfer(answer);
}

/** The facts about a transfer from the ledger's own history, and how the ledger itself scores them. */
export function riskContext({ centavos, hour, isNewDevice, hasMoved, ...ids }) {
  const query = new URLSearchParams({
    ...named(ids),
    amount: toJson(centavos),
    hourOfDay: String(hour),
    isNewDevice: String(isNewDevice),
    geolocationChanged: String(hasMoved),
  });
  return get(`/api/ledger/risk-context?${query}`, { patience: PATIENCE_CONTEXT_MS });
}

// ---- the person ----

export function profile() {
  return get("/api/profile/accessibility");
}

export function saveProfile({ theme, screenReaderMode, fontScale, nudgingLevel, voiceFeedback }) {
  return change("PUT", "/api/profile/accessibility", {
    theme,
    screenReaderMode,
    fontScale,
    nudgingLevel,
    voiceFeedback,
  });
}

export function consent() {
  return get("/api/analytics/consent");
}

export function saveConsent(granted, noticeVersion) {
  return change("PUT", "/api/analytics/consent", { granted, noticeVersion });
}

export async function sendEvent(event) {
  await change("POST", "/api/analytics/events", event);
}

// ---- the sandbox ----

/** Whether this is the sandbox, where anybody may enter under any name. */
export async function isSandbox() {
  try {
    return (await get("/sandbox", { isPublic: true })).sandbox === true;
  } catch {
    return false;
  }
}

export async function sandboxToken(user) {
  return (await change("POST", "/sandbox/token", { user }, { isPublic: true })).token;
}
