// Parses a body as strictly as the server. JSON.parse alone keeps the last of two values for one name, rounds numbers,
// and accepts unpaired surrogates.

/** @import { FieldError } from "./index.js" */
import { InvalidRequest } from "./errors.js";

/** The server's limit, in bytes of UTF-8. */
export const BODY_BYTES_MAX = 64 << 10;

/** Half of a surrogate pair is not a character, so the server accepts no string with one. */
const HALF = /\p{Surrogate}/u;
const HALVES = /\p{Surrogate}/gu;

/** The tokens that structure a valid JSON text, and strings, which may contain the same characters. */
const TOKENS = /[{}[\]:,]|"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** The body is not JSON, or not even UTF-8. */
export function malformed(why = "") {
  const detail = `The JSON is not valid${why && `: ${why}`}.`;
  return new InvalidRequest(400, "malformed-json", "The body is not valid JSON", detail);
}

/** The body is JSON, but not an object. */
export function notAnObject() {
  return invalid([{ field: "", code: "wrong-type", detail: "The body must be a JSON object" }]);
}

/** @param {FieldError[]} errors */
export function invalid(errors) {
  const [{ field, detail }] = errors;
  const about = field === "" ? `${detail}.` : `${field}: ${detail}.`;
  const all = errors.length === 1 ? about : `${errors.length} fields are not valid.`;
  return new InvalidRequest(422, "validation-failed", "The request is not valid", all, errors);
}

export function tooLarge() {
  const detail = `The limit is ${BODY_BYTES_MAX} bytes.`;
  return new InvalidRequest(413, "payload-too-large", "The body is too large", detail);
}

/**
 * The members of a JSON object, each with the text of its value, so that numbers are not rounded. In a Map, where
 * `__proto__` is a name like any other.
 * @param {string} text
 */
export function readObject(text) {
  // A UTF-16 unit takes one to three bytes.
  const isLarge = text.length * 3 > BODY_BYTES_MAX;
  if (isLarge && (text.length > BODY_BYTES_MAX || new TextEncoder().encode(text).length > BODY_BYTES_MAX)) {
    throw tooLarge();
  }
  // Sent as UTF-8, a half would have become this character.
  text = text.replace(HALVES, "\ufffd");
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed();
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return members(text);
  // The server rejects these before it sees that they are not objects.
  if (value === Infinity || value === -Infinity || (typeof value === "string" && HALF.test(value))) throw malformed();
  throw notAnObject();
}

/** @param {string} text a valid JSON object */
function members(text) {
  /** @type {Map<string, string>} */
  const found = new Map();
  let depth = 0;
  let string = "";
  let start = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (depth === 1 && token === ":") start = index + 1;
    else if (depth === 1 && (token === "," || token === "}") && start > 0) {
      const name = readString(string);
      if (name === null) throw malformed();
      // Two values for one name mean different things to different readers.
      if (found.has(name)) throw malformed("a field appears twice");
      found.set(name, text.slice(start, index).trim());
      start = 0;
    } else if (depth === 1 && start === 0 && token[0] === '"') string = token;
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
  }
  return found;
}

/** The string that a JSON text encodes, or null if it is not a valid string. @param {string} literal */
export function readString(literal) {
  if (literal[0] !== '"') return null;
  const string = JSON.parse(literal);
  return HALF.test(string) ? null : string;
}
