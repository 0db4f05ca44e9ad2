// Signatures of components, as cosign makes them. A host signs nothing that it serves: the key is with those who release
// models. They sign components, so a page that knows their keys fetches the component and takes its core from it.

/** @import { Offer } from "./internal.js" */
import { Rejection, readUpTo } from "./offer.js";
import { coreOf } from "./own.js";

const P256 = { name: "ECDSA", namedCurve: "P-256" };
const ECDSA = { name: "ECDSA", hash: "SHA-256" };

/** Bytes of each of the two numbers in a signature. */
const NUMBER_BYTES = 32;

/** Limit of a signature in base64, as the host's. */
const SIGNATURE_BYTES_MAX = 128;

/**
 * What accepts only components that one of these keys signed. A key that is not on P-256 is an error.
 * @param {Pick<SubtleCrypto, "importKey" | "verify">} subtle @param {JsonWebKey[]} keys
 */
export async function signed(subtle, keys) {
  if (keys.length === 0) throw new RangeError("keys is empty: no component would be accepted");
  const use = (/** @type {JsonWebKey} */ { kty, crv, x, y }) =>
    subtle.importKey("jwk", { kty, crv, x, y }, P256, false, ["verify"]);
  const known = await Promise.all(keys.map(use));
  /** @param {Offer} offer */
  const pathOf = ({ sha256 }) => `/models/component/${sha256}.wasm`;

  /** @param {Offer} offer @param {(path: string) => Promise<Response>} get */
  async function signatureOf(offer, get) {
    const response = await get(`/models/signature/${offer.sha256}.sig`);
    if (response.status !== 200) throw new Rejection("unsigned", "the component in service has no signature");
    return new TextDecoder().decode(await readUpTo(response, SIGNATURE_BYTES_MAX)).trim();
  }

  /** The core of an offered component. @param {Offer} offer @param {Uint8Array<ArrayBuffer>} component */
  async function verified({ signature = "" }, component) {
    const numbers = numbersOf(signature);
    const tried = numbers ? known.map((key) => subtle.verify(ECDSA, key, numbers, component)) : [];
    if ((await Promise.all(tried)).includes(true)) return coreOf(component);
    throw new Rejection("unsigned", "the component in service is not signed by one of the keys");
  }

  return { pathOf, signatureOf, verified };
}

/** The two numbers of a signature in DER and base64, side by side; null if it is none. @param {string} signature */
function numbersOf(signature) {
  try {
    const der = Uint8Array.from(atob(signature), (letter) => letter.charCodeAt(0));
    const numbers = new Uint8Array(2 * NUMBER_BYTES);
    // A sequence of two integers; none is longer than 127 bytes.
    let at = 2;
    for (const end of [NUMBER_BYTES, 2 * NUMBER_BYTES]) {
      const length = der[at + 1];
      const number = der.subarray(at + 2, at + 2 + length);
      // One that would be negative has a zero in front.
      const digits = number.subarray(number.findIndex((byte) => byte !== 0));
      numbers.set(digits, end - digits.length);
      at += 2 + length;
    }
    return numbers;
  } catch {
    return null;
  }
}
