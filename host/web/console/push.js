// Pushing a component: the file goes through the gate and is registered. It serves nothing by that.

import * as api from "./api.js";
import { openDialog } from "./dialog.js";
import { h, markScrollable, show } from "./dom.js";
import { kindOf } from "./kinds.js";
import { asProblem, drawProblem } from "./problems.js";
import { drawGate } from "./versions.js";
import { bytes, sentence } from "./words.js";

/** Largest component that the gate takes. */
const COMPONENT_BYTES_MAX = 16 * 1024 * 1024;

/** What is wrong with a file before it is sent; the gate looks closer. */
async function faultOf(file) {
  if (!file) return "Choose a file first.";
  if (file.size > COMPONENT_BYTES_MAX)
    return `It has ${bytes(file.size)}; the gate takes at most ${bytes(COMPONENT_BYTES_MAX)}.`;
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const isWasm = String.fromCharCode(...start) === "\0asm";
  return isWasm ? "" : "It does not begin as WebAssembly does: choose the .wasm file of a component.";
}

/**
 * Opens the dialog. `registered` is called with the version after the dialog has closed, `signedOut` when
 * the token is not accepted any more.
 */
export function openPush(kind, { registered, signedOut }) {
  const { name, hasChallengers } = kindOf(kind);
  let isSending = false;
  let pushed = null;

  const file = h("input", {
    type: "file",
    id: "push-file",
    accept: ".wasm,application/wasm",
    "aria-describedby": "push-fault push-hint",
  });
  const fault = h("p", { class: "fault", id: "push-fault", role: "alert" });
  // Two places: what came of it is announced, the table of checks is there to be read.
  const outcome = h("div", { role: "status" });
  const checks = h("div", { class: "details" });
  const cancel = h("button", { type: "button" }, "Cancel");
  const send = h("button", { type: "submit", class: "main" }, "Push");
  const form = h(
    "form",
    { novalidate: true },
    h(
      "p",
      null,
      "The gate examines the component in a limited process: what it imports, what it answers to known cases and " +
        "how long it takes. If nothing is refused it is registered. ",
      h(
        "strong",
        null,
        hasChallengers
          ? "It answers nobody until it is promoted or made a canary."
          : "It decides nothing until it is promoted.",
      ),
    ),
    h(
      "div",
      { class: "field" },
      h("label", { for: "push-file" }, "Component file"),
      file,
      fault,
      h(
        "p",
        { class: "hint", id: "push-hint" },
        `A WebAssembly component of this kind, at most ${bytes(COMPONENT_BYTES_MAX)}.`,
      ),
    ),
    outcome,
    checks,
    h("div", { class: "choice" }, cancel, send),
  );

  const dialog = openDialog({
    eyebrow: name,
    title: "Push a component",
    isWide: true,
    parts: form,
    isBusy: () => isSending,
    closed: () => pushed && registered(pushed),
  });
  cancel.addEventListener("click", () => isSending || dialog.close());
  // An earlier outcome is about another file.
  file.addEventListener("change", () => [outcome, checks].forEach((place) => show(place)));

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isSending) return;
    const [chosen] = file.files;
    const wrong = await faultOf(chosen);
    show(fault, wrong);
    if (wrong) {
      file.setAttribute("aria-invalid", "true");
      file.focus();
      return;
    }
    file.removeAttribute("aria-invalid");
    isSending = true;
    send.setAttribute("aria-disabled", "true");
    show(send, "Examining…");
    show(outcome, h("p", null, "The gate examines it. A large component takes some ten seconds."));
    show(checks);
    try {
      pushed = await api.push(kind, chosen);
      show(outcome, h("p", { class: "notice good" }, sentence(saidOf(pushed))));
      show(checks, pushed.report && drawGate(pushed.report));
      show(cancel, "Close");
    } catch (error) {
      const problem = asProblem(error);
      if (problem.status === 401) {
        isSending = false;
        dialog.close();
        signedOut(problem);
        return;
      }
      // The gate's reasons are a table of their own: `field` is the name of a check.
      const isRefused = problem.code === "component-refused" && problem.errors.length > 0;
      show(outcome, h("div", { class: "notice bad" }, drawProblem(isRefused ? { ...problem, errors: [] } : problem)));
      if (isRefused) {
        const found = problem.errors.map((it) => ({ name: it.field, outcome: "refused", detail: it.detail }));
        show(checks, drawGate({ checks: found }));
      }
    }
    isSending = false;
    send.removeAttribute("aria-disabled");
    show(send, "Push");
    markScrollable(dialog);
    outcome.scrollIntoView({ block: "nearest" });
  });
}

function saidOf({ isNew, model_version: name }) {
  return isNew ? `${name} is registered.` : `${name} was registered before, with these very bytes.`;
}
