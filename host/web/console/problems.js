// What went wrong, as the service says it: title, detail, and what is wrong with each field.

import { h } from "./dom.js";

/** The parts of a problem, for a notice or a dialog. */
export function drawProblem(problem) {
  const { title, detail, errors, requestId } = problem;
  const lines = errors.map((error) =>
    h(
      "li",
      null,
      error.field && [h("code", null, error.field), " "],
      String(error.detail ?? ""),
      error.code && error.code !== "refused" && [" (", h("code", null, error.code), ")"],
    ),
  );
  return [
    h("p", { class: "title" }, title || "Something went wrong"),
    detail && h("p", null, detail),
    lines.length > 0 && h("ul", null, lines),
    requestId && h("p", { class: "hint" }, "Request ", h("code", null, requestId)),
  ];
}

/** The same for a fault of this page, which is a Problem of nobody. */
export function asProblem(error) {
  if (typeof error?.status === "number") return error;
  // Whoever mends it wants to know where.
  console.error(error);
  return { status: -1, title: "This page has a fault", detail: String(error?.message ?? error), errors: [] };
}
