// The bank's OpenID provider, to a page that can keep no secret of its own: authorization code with PKCE (RFC 7636), for
// one resource (RFC 8707), its answer checked against mix-ups (RFC 9207). Nothing is kept here.

/** @import { SignIn as Provider } from "./answers.js" */
import { Problem } from "./problem.js";
import { base64url, randomText } from "./random.js";
import { payloadOf } from "./token.js";

/**
 * An attempt to sign in; `hash` is the screen that follows, as in the address.
 * @typedef {{ state: string, nonce: string, verifier: string, hash: string }} Attempt
 * What the provider sends a person back with.
 * @typedef {{ code: string | null, state: string | null, error: string | null, issuers: string[] }} Return
 * `seconds` is the lifetime of the access token.
 * @typedef {{ accessToken: string, refreshToken: string | null, idToken: string | null, seconds: number | null }} Tokens
 * Makes a proof of possession for a request.
 * @typedef {(method: string, url: string) => Promise<string>} Prove
 */

/** For requests that a person waits for. */
const TIMEOUT_MS = 10_000;
/** Shorter, because it precedes them. */
const PROBE_TIMEOUT_MS = 4_000;

/** What the provider's error codes mean to a person; the others mean that signing in failed. */
const FAULTS = new Map([
  ["access_denied", "denied"],
  ["login_required", "again"],
  ["interaction_required", "again"],
  ["consent_required", "again"],
  ["account_selection_required", "again"],
  ["server_error", "unavailable"],
  ["temporarily_unavailable", "unavailable"],
]);

/** @param {Provider} provider */
const isOpenId = ({ scope }) => scope.split(" ").includes("openid");

/** A new attempt to sign in. `hash` is where the person wants to be. @param {string} hash @returns {Attempt} */
export function newAttempt(hash, random = randomText) {
  return { state: random(), nonce: random(), verifier: random(), hash };
}

/** Where the person signs in. @param {Provider} provider @param {Attempt} attempt @param {{ redirect: string, language: string }} page */
export async function authorizationUrl(provider, { state, nonce, verifier }, { redirect, language }) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const url = new URL(provider.authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: provider.clientId,
    redirect_uri: redirect,
    scope: provider.scope,
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    ui_locales: language,
    ...(isOpenId(provider) ? { nonce } : {}),
    ...(provider.resource ? { resource: provider.resource } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** What the provider added to the page's address, or null. A parameter that is repeated counts as absent. @param {string} search @returns {Return | null} */
export function returnIn(search) {
  const query = new URLSearchParams(search);
  if (!query.has("code") && !query.has("error")) return null;
  /** @param {string} name */
  const only = (name) => (query.getAll(name).length === 1 ? query.get(name) : null);
  return { code: only("code"), state: only("state"), error: only("error"), issuers: query.getAll("iss") };
}

/** Why a return does not sign anybody in, or "". @param {Return} returned @param {Attempt | null} attempt @param {Provider} provider */
export function faultOf({ code, state, error, issuers }, attempt, { issuer }) {
  // Someone else's code or error, or one that was used already.
  if (attempt === null || state !== attempt.state || issuers.some((it) => it !== issuer)) return "stale";
  if (error !== null) return FAULTS.get(error) ?? "failed";
  return code ? "" : "failed";
}

/**
 * Throws the Problem `provider-unavailable` when the provider may accept the same later, else `provider-refused`.
 * @param {Provider} provider @param {Record<string, string>} grant @param {Prove} [prove] @returns {Promise<Tokens>}
 */
async function tokensFor({ tokenEndpoint, clientId, resource, bindsTokens }, grant, prove) {
  const body = new URLSearchParams({ client_id: clientId, ...grant, ...(resource ? { resource } : {}) });
  let response;
  let json = null;
  try {
    response = await fetch(tokenEndpoint, {
      method: "POST",
      headers: {
        Accept: "application/json",
        ...(prove && bindsTokens && { DPoP: await prove("POST", tokenEndpoint) }),
      },
      body,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok) json = await response.json();
  } catch {
    throw new Problem({ code: "provider-unavailable" });
  }
  if (response.status >= 500 || response.status === 429) throw new Problem({ code: "provider-unavailable" });
  // A provider that binds no tokens issues bearer tokens all the same.
  const isUsable =
    typeof json?.access_token === "string" && (bindsTokens ? /^(bearer|dpop)$/i : /^bearer$/i).test(json.token_type);
  if (!isUsable) throw new Problem({ code: "provider-refused" });
  /** @param {unknown} value */
  const text = (value) => (typeof value === "string" ? value : null);
  return {
    accessToken: json.access_token,
    refreshToken: text(json.refresh_token),
    idToken: text(json.id_token),
    seconds: typeof json.expires_in === "number" ? json.expires_in : null,
  };
}

/**
 * Whether an ID token is for this attempt. Its signature adds nothing, since it came from the provider itself, over TLS
 * (OpenID Connect Core, 3.1.3.7).
 * @param {string | null} idToken @param {Provider} provider @param {string} nonce
 */
function isForAttempt(idToken, { issuer, clientId }, nonce) {
  const { iss, aud, nonce: given } = payloadOf(idToken ?? "") ?? {};
  return iss === issuer && [aud].flat().includes(clientId) && given === nonce;
}

/** Exchanges a code. @param {Provider} provider @param {{ code: string, attempt: Attempt, redirect: string }} about @param {Prove} [prove] */
export async function redeem(provider, { code, attempt, redirect }, prove) {
  const grant = {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirect,
    code_verifier: attempt.verifier,
  };
  const tokens = await tokensFor(provider, grant, prove);
  if (isOpenId(provider) && !isForAttempt(tokens.idToken, provider, attempt.nonce)) {
    throw new Problem({ code: "provider-refused" });
  }
  return tokens;
}

/** Renews. The provider may replace the refresh token, and then the old one is void. @param {Provider} provider @param {string} refreshToken @param {Prove} [prove] */
export function refresh(provider, refreshToken, prove) {
  return tokensFor(provider, { grant_type: "refresh_token", refresh_token: refreshToken }, prove);
}

/** Whether the provider answers at all: a browser that is sent to a dead one shows its own error page. @param {Provider} provider */
export async function isReachable({ tokenEndpoint }) {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    await fetch(tokenEndpoint, { method: "HEAD", mode: "no-cors", credentials: "omit", cache: "no-store", signal });
    return true;
  } catch {
    return false;
  }
}

/**
 * Where the person's session with the provider ends, or null if it offers no such page.
 * @param {Provider} provider @param {{ idToken: string | null, redirect: string }} about
 */
export function endSessionUrl({ endSessionEndpoint, clientId }, { idToken, redirect }) {
  if (!endSessionEndpoint) return null;
  const url = new URL(endSessionEndpoint);
  url.searchParams.set("client_id", clientId);
  url.searchParams.set("post_logout_redirect_uri", redirect);
  if (idToken) url.searchParams.set("id_token_hint", idToken);
  return url.href;
}
