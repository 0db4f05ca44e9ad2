// The bank's OpenID provider signs operators in, in a window of its own: the page stays, with what was typed in it. What
// the provider grants is kept in memory only, as the token is.

/** @import { Provider } from "./types.js" */
/** @import { Attempt } from "../shared/provider.js" */
import { asProblem, Problem } from "../shared/problem.js";
import { authorizationUrl, endSessionUrl, faultOf, newAttempt, redeem, refresh, returnIn } from "../shared/provider.js";

const REDIRECT = `${location.origin}/console/signed-in.html`;
/** The window's messages. Its opener may be out of its reach, since the provider's pages came between. */
const CHANNEL = "caudal.sign-in";

const FAULTS = new Map([
  ["denied", "The provider did not let you in."],
  ["unavailable", "The provider does not respond. Try again later."],
]);

/** @type {Provider | null} */
let provider = null;
/** @type {Attempt | null} */
let attempt = null;
/** @type {string | null} */
let refreshToken = null;
/** @type {string | null} */
let idToken = null;
/** Refresh tokens count once, so renewals at the same time share one. @type {Promise<string | null> | null} */
let renewal = null;

/** Where people sign in, or null where only pasted tokens count. */
export async function providerHost() {
  // Elsewhere browsers have no digests.
  if (!isSecureContext) return null;
  const response = await fetch("/sign-in", { credentials: "omit" });
  provider = response.status === 200 ? await response.json() : null;
  return provider && new URL(provider.issuer).host;
}

/** Opens the provider's login. Another attempt replaces it. */
export async function openLogin() {
  if (!provider) return;
  attempt = newAttempt("");
  const url = await authorizationUrl(provider, attempt, { redirect: REDIRECT, language: "en" });
  if (!open(url, "caudal-sign-in", "popup,width=520,height=760")) {
    throw new Problem({ title: "The browser blocked the window", detail: "Allow this page to open windows." });
  }
}

/** @param {string} search what the provider sent the window back with @param {(token: string) => Promise<boolean>} accept @param {(fault: string) => void} refuse */
async function comeBack(search, accept, refuse) {
  const returned = returnIn(search);
  const made = attempt;
  // Another tab's attempt, or an old one.
  if (!provider || !returned || !made || returned.state !== made.state) return;
  attempt = null;
  const fault = faultOf(returned, made, provider);
  if (fault !== "" || returned.code === null) return refuse(FAULTS.get(fault) ?? "Signing in failed. Try again.");
  try {
    const tokens = await redeem(provider, { code: returned.code, attempt: made, redirect: REDIRECT });
    if (await accept(tokens.accessToken)) ({ refreshToken, idToken } = tokens);
  } catch (error) {
    const isAway = asProblem(error).code === "provider-unavailable";
    refuse(FAULTS.get(isAway ? "unavailable" : "") ?? "Signing in failed. Try again.");
  }
}

/** @param {(token: string) => Promise<boolean>} accept @param {(fault: string) => void} refuse */
export function whenSignedIn(accept, refuse) {
  new BroadcastChannel(CHANNEL).addEventListener("message", ({ data }) => comeBack(data, accept, refuse));
}

export const isRenewable = () => refreshToken !== null;

async function rotate() {
  if (!provider || refreshToken === null) return null;
  const used = refreshToken;
  try {
    const tokens = await refresh(provider, used);
    // The operator signed out meanwhile.
    if (refreshToken !== used) return null;
    refreshToken = tokens.refreshToken ?? used;
    idToken = tokens.idToken ?? idToken;
    return tokens.accessToken;
  } catch (error) {
    if (asProblem(error).code === "provider-refused" && refreshToken === used) refreshToken = null;
    return null;
  }
}

/** Another token for the same operator, or null. */
export function renewed() {
  renewal ??= rotate().finally(() => {
    renewal = null;
  });
  return renewal;
}

/** Forgets the session; returns where it also ends at the provider, if that has such a page. */
export function forgetSession() {
  const url = provider && idToken && endSessionUrl(provider, { idToken, redirect: `${location.origin}/console` });
  attempt = null;
  refreshToken = null;
  idToken = null;
  return url || null;
}
