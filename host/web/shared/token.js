// Bearer tokens as people paste them, and their claims.

/** The token in a pasted text: alone, after "Bearer", or in `export TOKEN=...`. @param {string} text */
export function tokenIn(text) {
  return /[\w-]+\.[\w-]+\.[\w-]+/.exec(text)?.[0] ?? text.trim();
}

/** Whether an HTTP header can carry the token. @param {string} token */
export function isSendable(token) {
  return /^[\x21-\x7e]+$/.test(token);
}

/** What a token (JWS) says, or null. Not verified. @param {string} token @returns {Record<string, any> | null} */
export function payloadOf(token) {
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const octets = Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(octets));
  } catch {
    return null;
  }
}

/**
 * The claims of a token, null where they cannot be read. They are not verified: the host does that on every request.
 * @param {string} token
 * @returns {{ user: string | null, expires: Date | null, scopes: string[] | null }}
 */
export function claimsOf(token) {
  const { sub, exp, scope } = payloadOf(token) ?? {};
  return {
    user: typeof sub === "string" ? sub : null,
    expires: typeof exp === "number" ? new Date(exp * 1000) : null,
    scopes: typeof scope === "string" ? scope.split(/\s+/) : null,
  };
}
