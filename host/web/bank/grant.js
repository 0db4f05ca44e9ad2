// What the provider granted besides the access token, and its renewal. Like that token it lives in sessionStorage only.
// Where refresh tokens are replaced by each use, using an old one ends the session, so one tab alone may hold it: a
// duplicated tab starts with a copy of the storage, and gives the copy up.

/** @import { Grant, Provider, Renewal, Tokens } from "./types.js" */
import { asProblem, Problem } from "../shared/problem.js";
import { refresh } from "../shared/provider.js";
import { claimsOf } from "../shared/token.js";
import { proofFor } from "./possession.js";
import { storeToken, token } from "./token.js";

const KEY = "caudal.grant";
/** Longest wait for the lock of a document that a reload is still replacing; then another tab has it. */
const CLAIM_MS = 3_000;

/** Whether this tab may use its refresh token. @type {Promise<boolean> | null} */
let claim = null;
let release = () => {};
/** @type {Promise<Renewal> | null} */
let flight = null;

/** @returns {Grant | null} */
export function grantNow() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}

/** @param {Grant} grant */
const store = (grant) => sessionStorage.setItem(KEY, JSON.stringify(grant));

export const isRenewable = () => (grantNow()?.refreshToken ?? null) !== null;

/** Claims the grant for this tab, for as long as it is open. */
function claimed() {
  claim ??= new Promise((resolve) => {
    const hold = () => {
      resolve(true);
      return new Promise((done) => {
        release = () => done(undefined);
      });
    };
    const signal = AbortSignal.timeout(CLAIM_MS);
    navigator.locks.request(`caudal.grant.${grantNow()?.id}`, { signal }, hold).catch(() => resolve(false));
  });
  return claim;
}

/** Goes on with the grant of this tab, if there is one. */
export async function resumeGrant() {
  const grant = grantNow();
  if (grant?.refreshToken && !(await claimed())) giveUp(grant);
}

/** From now on this tab cannot renew, unless it has signed in again. @param {Grant} grant */
function giveUp(grant) {
  if (grantNow()?.id === grant.id) store({ ...grant, refreshToken: null });
}

/** When tokens issued just now expire, by this device's clock. @param {Tokens} tokens @param {number} now */
function expiryOf({ accessToken, seconds }, now) {
  if (seconds !== null) return now + seconds * 1_000;
  return claimsOf(accessToken).expires?.getTime() ?? null;
}

/** @param {Tokens} tokens */
export function keepGrant(tokens, now = Date.now()) {
  dropGrant();
  const { refreshToken, idToken } = tokens;
  store({ id: crypto.randomUUID(), refreshToken, idToken, issued: now, expires: expiryOf(tokens, now) });
  storeToken(tokens.accessToken);
  claimed();
}

export function dropGrant() {
  sessionStorage.removeItem(KEY);
  release();
  release = () => {};
  claim = null;
}

/** @param {() => Promise<Provider | null>} providerNow @returns {Promise<Renewal>} */
async function rotate(providerNow) {
  await resumeGrant();
  const grant = grantNow();
  if (!grant?.refreshToken) return "ended";
  try {
    const provider = await providerNow();
    if (!provider) throw new Problem({ code: "provider-refused" });
    const tokens = await refresh(provider, grant.refreshToken, proofFor);
    // The person signed out meanwhile.
    if (grantNow()?.id !== grant.id) return "ended";
    // No other person's token may get into this one's session.
    if (claimsOf(tokens.accessToken).user !== claimsOf(token()).user) throw new Problem({ code: "provider-refused" });
    const now = Date.now();
    store({
      ...grant,
      refreshToken: tokens.refreshToken ?? grant.refreshToken,
      idToken: tokens.idToken ?? grant.idToken,
      issued: now,
      expires: expiryOf(tokens, now),
    });
    storeToken(tokens.accessToken);
    return "renewed";
  } catch (error) {
    const problem = asProblem(error);
    if (problem.code !== "provider-refused") return "unavailable";
    giveUp(grant);
    return "ended";
  }
}

/** Renews the access token; calls at the same time share one request. @param {() => Promise<Provider | null>} providerNow */
export function renewGrant(providerNow) {
  flight ??= rotate(providerNow).finally(() => {
    flight = null;
  });
  return flight;
}
