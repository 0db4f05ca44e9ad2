// Where the token is kept, and what it says of itself. In sessionStorage and nowhere else: it is gone with the
// tab, no other tab reads it, and a reload does not sign a person out.

const KEPT = "caudal.token";

export function token() {
  return sessionStorage.getItem(KEPT) ?? "";
}

export function keep(text) {
  sessionStorage.setItem(KEPT, text);
}

export function forget() {
  sessionStorage.removeItem(KEPT);
}

/** The token in what was pasted: alone, after "Bearer", or in `export TOKEN=...`. */
export function tokenIn(text) {
  return /[\w-]+\.[\w-]+\.[\w-]+/.exec(text)?.[0] ?? text.trim();
}

/** Whether a text can be sent as a token at all. */
export function isSendable(text) {
  return /^[\x21-\x7e]+$/.test(text);
}

/**
 * What a token says: {user, expires} with null for what cannot be read. It proves nothing, the host checks it
 * with every request; it only tells whose work is shown and when a session will end.
 */
export function claimsOf(text) {
  try {
    const payload = text.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const octets = Uint8Array.from(atob(payload), (letter) => letter.codePointAt(0));
    const read = JSON.parse(new TextDecoder().decode(octets));
    return {
      user: typeof read.sub === "string" ? read.sub : null,
      expires: typeof read.exp === "number" ? new Date(read.exp * 1000) : null,
    };
  } catch {
    return { user: null, expires: null };
  }
}
