// Reads a request's body as text.

import { BODY_BYTES_MAX, malformed, notAnObject, tooLarge } from "../src/json.js";
import { unsupportedMediaType } from "./problem.js";

/** `application/json` or any type with the suffix `+json`, whatever its parameters. @param {string | null} header */
function isJson(header) {
  const [kind] = (header ?? "").split(";");
  return /^application\/(json|.*\+json)$/.test(kind.trim().toLowerCase());
}

/** @param {Request} request */
export async function readText(request) {
  if (!isJson(request.headers.get("content-type"))) throw unsupportedMediaType();
  const bytes = await readBytes(request);
  try {
    // A byte order mark is not JSON, so it must not be dropped.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unreadable(bytes);
  }
}

/** @param {Request} request */
async function readBytes(request) {
  if (Number(request.headers.get("content-length")) > BODY_BYTES_MAX) throw tooLarge();
  const parts = [];
  let length = 0;
  for await (const part of /** @type {AsyncIterable<Uint8Array<ArrayBuffer>>} */ (
    /** @type {unknown} */ (request.body ?? [])
  )) {
    length += part.length;
    if (length > BODY_BYTES_MAX) throw tooLarge();
    parts.push(part);
  }
  return new Blob(parts).arrayBuffer();
}

/** The host does not decode the strings in a list, so bytes that are not UTF-8 may still be a list. @param {ArrayBuffer} bytes */
function unreadable(bytes) {
  try {
    if (Array.isArray(JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)))) return notAnObject();
  } catch {
    // Not JSON either.
  }
  return malformed();
}
