// A request's body as text. What the text means is the package's matter.

import { BODY_BYTES_MAX, malformed, notAnObject, tooLarge } from "../src/json.js";
import { unsupportedMediaType } from "./problem.js";

/** `application/json` or any type with the suffix `+json`; parameters do not matter. */
function isJson(header) {
  const [kind] = (header ?? "").split(";");
  return /^application\/(json|.*\+json)$/.test(kind.trim().toLowerCase());
}

export async function readText(request) {
  if (!isJson(request.headers.get("content-type"))) throw unsupportedMediaType();
  const bytes = await readBytes(request);
  try {
    // A byte order mark is no JSON, so it has to stay.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unreadable(bytes);
  }
}

async function readBytes(request) {
  if (Number(request.headers.get("content-length")) > BODY_BYTES_MAX) throw tooLarge();
  const parts = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > BODY_BYTES_MAX) throw tooLarge();
    parts.push(part);
  }
  return new Blob(parts).arrayBuffer();
}

/** The host does not look into the strings of a list, so one that is no text is a list all the same. */
function unreadable(bytes) {
  try {
    if (Array.isArray(JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)))) return notAnObject();
  } catch {
    // It is no JSON either.
  }
  return malformed();
}
