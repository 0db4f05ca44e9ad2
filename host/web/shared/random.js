// Random texts, and bytes as text.

/** 256 bits; as text 43 characters, the shortest verifier that RFC 7636 allows. */
const RANDOM_BYTES = 32;

/** @param {Uint8Array} octets */
export const base64url = (octets) =>
  btoa(String.fromCharCode(...octets))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

export const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
