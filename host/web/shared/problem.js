// Failed requests, as problem+json (RFC 9457) describes them.

/** @typedef {{ field?: string, code?: string, detail?: string }} FieldError */

/** Why a request has no successful answer. Status 0: there was no answer at all. */
export class Problem extends Error {
  /**
   * @param {{ status?: number, title?: string, detail?: string, code?: string, errors?: FieldError[], requestId?: string,
   *   retryAfterSeconds?: number | null }} problem
   */
  constructor({
    status = 0,
    title = "",
    detail = "",
    code = "",
    errors = [],
    requestId = "",
    retryAfterSeconds = null,
  }) {
    super(title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.code = code;
    this.errors = Array.isArray(errors) ? errors : [];
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Reads a failed response. A proxy may have sent it: then the status is all there is. @param {Response} response */
export async function readProblem(response) {
  const body = await response.json().catch(() => null);
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : null;
  const known = typeof body?.code === "string" ? body : {};
  return new Problem({ ...known, status: response.status, retryAfterSeconds });
}

/** Rethrows anything but a Problem: a bug in the page must not look like a failure of the service. @param {unknown} error */
export function asProblem(error) {
  if (error instanceof Problem) return error;
  throw error;
}
