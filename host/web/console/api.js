// The admin API: one function for each request, one kind of error for everything that goes wrong.

/** Longest wait for an answer. A push waits for the gate, which takes up to a minute. */
const PATIENCE_MS = 10_000;
const PATIENCE_PUSH_MS = 90_000;

/** Why there is no successful answer, as problem+json says it. Status 0: there was no answer at all. */
export class Problem extends Error {
  constructor({ status = 0, title = "", detail = "", code = "", errors = [], requestId = "" }) {
    super(title);
    Object.assign(this, { status, title, detail, code, errors: Array.isArray(errors) ? errors : [], requestId });
  }
}

// In a variable and nowhere else: storage would outlive the page, and be there for others to read.
let token = "";

export function hold(text) {
  token = text;
}

export function forget() {
  token = "";
}

/**
 * What the token says of itself, to show it and to say early what it does not allow. It proves nothing:
 * the host checks it with every request. Null for a token that only the host can read.
 */
export function claims() {
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const octets = Uint8Array.from(atob(payload), (letter) => letter.codePointAt(0));
    const read = JSON.parse(new TextDecoder().decode(octets));
    return {
      user: typeof read.sub === "string" ? read.sub : null,
      scopes: typeof read.scope === "string" ? read.scope.split(/\s+/) : null,
      expires: typeof read.exp === "number" ? new Date(read.exp * 1000) : null,
    };
  } catch {
    return null;
  }
}

function unanswered(error, isChange) {
  const late = error.name === "TimeoutError";
  const advice = isChange
    ? "The change may have been made all the same: look at what is in service before you try again."
    : "It is asked again and again; nothing has to be done here.";
  return new Problem({ title: late ? "The host takes too long" : "The host does not answer", detail: advice });
}

async function refused(response) {
  const said = await response.json().catch(() => null);
  if (said && typeof said.title === "string") return new Problem({ ...said, status: response.status });
  return new Problem({
    status: response.status,
    title: `The host answered ${response.status}`,
    detail: "It did not say why. A proxy in between may have answered in its place.",
  });
}

async function call(method, path, { headers = {}, body, patience = PATIENCE_MS } = {}) {
  const isChange = method !== "GET";
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { ...headers, Accept: "application/json", Authorization: `Bearer ${token}` },
      body,
      // The token is the only proof of who asks; a page of an operator is never served from a cache.
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(patience),
    });
    if (response.ok)
      return { status: response.status, body: await response.json(), etag: response.headers.get("ETag") };
  } catch (error) {
    throw unanswered(error, isChange);
  }
  throw await refused(response);
}

const of = (kind, rest) => `/admin/models/${encodeURIComponent(kind)}/${rest}`;
const json = (value) => ({ headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });

/** Every kind with its epoch and versions. */
export async function models() {
  return (await call("GET", "/admin/models")).body.models;
}

/** What serves of a kind, with the ETag that a change has to name. */
export async function deployment(kind) {
  const { body, etag } = await call("GET", of(kind, "deployment"));
  return { ...body, etag: etag ?? `"${body.epoch}"` };
}

export async function history(kind) {
  return (await call("GET", of(kind, "history"))).body.history;
}

export async function report(kind) {
  return (await call("GET", of(kind, "report"))).body;
}

export async function version(kind, name) {
  return (await call("GET", of(kind, `versions/${encodeURIComponent(name)}`))).body;
}

/** Replaces what serves, if it still is what was seen. */
export async function deploy(kind, etag, wanted) {
  const { headers, body } = json(wanted);
  return (await call("PUT", of(kind, "deployment"), { headers: { ...headers, "If-Match": etag }, body })).body;
}

/** Champion and previous change places. If-Match keeps a repeated rollback from undoing the first. */
export async function rollBack(kind, etag, reason) {
  const { headers, body } = json({ reason });
  return (await call("POST", of(kind, "rollback"), { headers: { ...headers, "If-Match": etag }, body })).body;
}

/** Sends a component to the gate. */
export async function push(kind, file) {
  const headers = { "Content-Type": "application/wasm" };
  const sent = { headers, body: file, patience: PATIENCE_PUSH_MS };
  const { status, body } = await call("POST", of(kind, "versions"), sent);
  return { isNew: status === 201, ...body };
}
