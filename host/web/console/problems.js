// What went wrong, in the words of the service: title, detail, and the faults of fields.

/** @import { Failure } from "./types.js" */
import { h } from "../shared/dom.js";
import { Problem } from "../shared/problem.js";

/** @param {Failure} failure */
export function drawFailure({ title, detail, errors, requestId }) {
  const lines = errors.map((error) =>
    h(
      "li",
      error.field && [h("code", error.field), " "],
      String(error.detail ?? ""),
      error.code && error.code !== "refused" && [" (", h("code", error.code), ")"],
    ),
  );
  return [
    h("p.title", title || "Something went wrong"),
    detail && h("p", detail),
    lines.length > 0 && h("ul", lines),
    requestId && h("p.hint", "Request ", h("code", requestId)),
  ];
}

/** Anything but a Problem is a fault of this page. @param {unknown} error @returns {Failure} */
export function asFailure(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return { status: -1, title: "This page has a bug", detail: String(error), errors: [] };
}
