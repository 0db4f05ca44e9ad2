// Proofs that this browser has the key that its tokens are bound to (DPoP, RFC 9449): a token that leaks is worth nothing
// elsewhere. The browser keeps the private key, and lets no script read it.

import { base64url, randomText } from "../shared/random.js";
import { payloadOf } from "../shared/token.js";

const DATABASE = "caudal";
const STORE = "keys";
const NAME = "tokens";
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };

/** How far this device's clock is behind the bank's: the provider looks at the time of a proof. */
let behindMs = 0;

/** What the bank wants to see in the next proof for it (section 9). @type {string | null} */
let nonce = null;

/** Sets clock and nonce by a response of the bank. @param {Headers} headers */
export function noteAnswer(headers, now = Date.now()) {
  const at = Date.parse(headers.get("Date") ?? "");
  if (!Number.isNaN(at)) behindMs = at - now;
  nonce = headers.get("DPoP-Nonce") ?? nonce;
}

/** Whether a response asks for the same again, with the nonce that came with it. @param {Headers} headers */
export const isChallenge = (headers) => /^DPoP .*use_dpop_nonce/.test(headers.get("WWW-Authenticate") ?? "");

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function opened() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return done(request);
}

/** Where nothing can be stored, the key lasts as long as the page. @type {Promise<CryptoKeyPair> | null} */
let pair = null;

/** The key of this browser, the same in all tabs. @returns {Promise<CryptoKeyPair>} */
async function findPair() {
  const made = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey(ALGORITHM, false, ["sign"]));
  try {
    const database = await opened();
    const store = database.transaction(STORE, "readwrite").objectStore(STORE);
    // Another tab may have been first.
    const known = await done(store.get(NAME));
    if (!known) await done(store.put(made, NAME));
    database.close();
    return known ?? made;
  } catch {
    return made;
  }
}

/** @param {unknown} value */
const encoded = (value) => base64url(new TextEncoder().encode(JSON.stringify(value)));

/** Whether a token counts only with proofs. @param {string} token */
export const isBound = (token) => typeof payloadOf(token)?.cnf?.jkt === "string";

/** A proof for one request; with the token that goes with it, if there is one. @param {string} method @param {string} url @param {string} [token] */
export async function proofFor(method, url, token) {
  pair ??= findPair();
  const { privateKey, publicKey } = await pair;
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  const { origin, pathname } = new URL(url, location.href);
  const digest = token && (await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  const claims = {
    jti: randomText(),
    htm: method,
    htu: origin + pathname,
    iat: Math.floor((Date.now() + behindMs) / 1_000),
    ...(digest ? { ath: base64url(new Uint8Array(digest)) } : {}),
    // The provider has nonces of its own, if any.
    ...(token && nonce ? { nonce } : {}),
  };
  const signed = `${encoded({ typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } })}.${encoded(claims)}`;
  const bytes = new TextEncoder().encode(signed);
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, bytes);
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}
