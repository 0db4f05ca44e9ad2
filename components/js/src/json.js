// Reads a body as the server's JSON reader does. JSON.parse alone would be more lenient: it keeps the last of
// two values for one name, rounds what does not fit, and takes halves of surrogate pairs for characters.

import { InvalidRequest } from "./errors.js";

/** Largest body in bytes of UTF-8, as the server takes it. */
export const BODY_BYTES_MAX = 64 << 10;

/** Half of a surrogate pair: no character, so the server has no string with it. */
const HALF = /\p{Surrogate}/u;
const HALVES = /\p{Surrogate}/gu;

/** What gives a valid JSON text its structure, and its strings, in which the same characters mean nothing. */
const TOKENS = /[{}[\]:,]|"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** Refuses a body that is no JSON; also used where the bytes are no text. */
export function malformed(why = "") {
  const detail = `The JSON is not valid${why && `: ${why}`}.`;
  return new InvalidRequest(400, "malformed-json", "The body is not valid JSON", detail);
}

/** Refuses a body that is JSON, but no object. */
export function notAnObject() {
  return invalid([{ field: "", code: "wrong-type", detail: "The body must be a JSON object" }]);
}

/** Refuses a body for what is wrong with its fields. */
export function invalid(errors) {
  const [{ field, detail }] = errors;
  const about = field === "" ? `${detail}.` : `${field}: ${detail}.`;
  const all = errors.length === 1 ? about : `${errors.length} fields are not valid.`;
  return new InvalidRequest(422, "validation-failed", "The request is not valid", all, errors);
}

/** Refuses a body that is too large. */
export function tooLarge() {
  const detail = `The limit is ${BODY_BYTES_MAX} bytes.`;
  return new InvalidRequest(413, "payload-too-large", "The body is too large", detail);
}

/**
 * The members of a JSON object, each with the text of its value as it came: numbers are not rounded on the way.
 * A Map, in which `__proto__` is a name like any other.
 */
export function readObject(text) {
  // No character has fewer bytes than UTF-16 units, and none more than three for each.
  const isLarge = text.length * 3 > BODY_BYTES_MAX;
  if (isLarge && (text.length > BODY_BYTES_MAX || new TextEncoder().encode(text).length > BODY_BYTES_MAX)) {
    throw tooLarge();
  }
  // On the wire a half would have become this character.
  text = text.replace(HALVES, "\ufffd");
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed();
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return members(text);
  // The server reads these before it sees that they are no object.
  if (value === Infinity || value === -Infinity || (typeof value === "string" && HALF.test(value))) throw malformed();
  throw notAnObject();
}

/** The members of a text that is known to be a valid object. */
function members(text) {
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

/** The string that a JSON text stands for, or null when it is another value or no valid string. */
export function readString(literal) {
  if (literal[0] !== '"') return null;
  const string = JSON.parse(literal);
  return HALF.test(string) ? null : string;
}
