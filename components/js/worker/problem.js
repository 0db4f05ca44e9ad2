// Failures as application/problem+json (RFC 9457), in the host's words.

/** @import { Failure } from "../src/internal.js" */
const RETRY_AFTER_SECONDS = "1";

/** A failure that has nothing to do with the content of the body. */
export class Problem extends Error {
  /** @type {{ field: string, code: string, detail: string }[]} */
  errors = [];

  /**
   * @param {number} status @param {string} code @param {string} title @param {string} detail
   * @param {Record<string, string>} headers
   */
  constructor(status, code, title, detail, headers = {}) {
    super(title);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.headers = headers;
  }
}

export function notFound() {
  return new Problem(404, "not-found", "There is no such resource", "There is nothing at this path.");
}

/** @param {string[]} methods */
export function methodNotAllowed(methods) {
  const detail = "The Allow header lists the methods of this path.";
  return new Problem(405, "method-not-allowed", "The method is not allowed here", detail, { Allow: methods.join(",") });
}

export function unsupportedMediaType() {
  const detail = "Send the header Content-Type: application/json.";
  return new Problem(415, "unsupported-media-type", "The body must be JSON", detail);
}

export function internalError() {
  const detail = "The error is logged under this requestId.";
  return new Problem(500, "internal-error", "Something went wrong on our side", detail);
}

/** @param {Failure} failure @param {string} instance @param {string} requestId */
export function answerProblem({ status, code, title, detail, errors, headers }, instance, requestId) {
  const type = `urn:caudal:problem:${code}`;
  const faults = errors.length > 0 ? errors : undefined;
  const body = { type, title, status, detail, instance, code, errors: faults, requestId };
  const answer = new Response(JSON.stringify(body), { status, headers });
  answer.headers.set("Content-Type", "application/problem+json");
  if (status === 503) answer.headers.set("Retry-After", RETRY_AFTER_SECONDS);
  return answer;
}
