// Pushing a component: the gate examines the file and registers it. Deploying it is another step.

import { button, h, markInvalid } from "../shared/dom.js";
import * as api from "./api.js";
import { openDialog } from "./dialog.js";
import { kindOf } from "./kinds.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { markScrollable } from "./table.js";
import { drawGate } from "./versions.js";
import { bytes, sentence } from "./words.js";

/** The gate's limit. */
const COMPONENT_BYTES_MAX = 16 * 1024 * 1024;

/** What is obviously wrong with a file; the gate checks the rest. @param {File | undefined} file */
async function faultOf(file) {
  if (!file) return "Choose a file first.";
  if (file.size > COMPONENT_BYTES_MAX)
    return `The file is ${bytes(file.size)}; the gate accepts at most ${bytes(COMPONENT_BYTES_MAX)}.`;
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const isWasm = String.fromCharCode(...start) === "\0asm";
  return isWasm ? "" : "This is not a WebAssembly file: choose the .wasm file of a component.";
}

/**
 * The signature in a bundle of cosign, or in base64; `undefined` if there is none in the file.
 * @param {File | undefined} file
 */
async function signatureIn(file) {
  if (!file) return "";
  const text = (await file.text()).trim();
  try {
    const bundle = JSON.parse(text);
    return bundle.messageSignature?.signature ?? bundle.base64Signature;
  } catch {
    return /^[A-Za-z0-9+/=]+$/.test(text) ? text : undefined;
  }
}

/**
 * `onRegistered` is called after the dialog has closed.
 * @param {string} kind @param {() => void} onRegistered
 */
export function openPush(kind, onRegistered) {
  const { name, hasCanaries } = kindOf(kind);
  let isSending = false;
  let isRegistered = false;

  const file = h("input", {
    type: "file",
    id: "push-file",
    accept: ".wasm,application/wasm",
    "aria-describedby": "push-fault push-hint",
  });
  const fault = h("p.fault", { id: "push-fault", role: "alert" });
  const signature = h("input", {
    type: "file",
    id: "push-signature",
    "aria-describedby": "push-signature-fault push-signature-hint",
  });
  const signatureFault = h("p.fault", { id: "push-signature-fault", role: "alert" });
  // The outcome is announced; the table of checks is only there to be read.
  const outcome = h("div", { role: "status" });
  const checks = h("div.details");
  const cancel = button("Cancel", () => isSending || dialog.close());
  const send = h("button.main", { type: "submit" }, "Push");
  const form = h(
    "form",
    { novalidate: true },
    h(
      "p",
      "The gate examines the component in a restricted process: its imports, its answers to known cases and their time. If it passes every check, it is registered. ",
      h(
        "strong",
        hasCanaries
          ? "It serves no traffic until it is promoted or made a canary."
          : "It decides nothing until it is promoted.",
      ),
    ),
    h(
      "div.field",
      h("label", { for: "push-file" }, "Component file"),
      file,
      fault,
      h("p.hint", { id: "push-hint" }, `A WebAssembly component of this kind, at most ${bytes(COMPONENT_BYTES_MAX)}.`),
    ),
    h(
      "div.field",
      h("label", { for: "push-signature" }, "Signature (optional)"),
      signature,
      signatureFault,
      h(
        "p.hint",
        { id: "push-signature-hint" },
        "Create it with cosign sign-blob. Hosts may require one; pushing a registered component again replaces its signature.",
      ),
    ),
    outcome,
    checks,
    h("div.choice", cancel, send),
  );

  const dialog = openDialog({
    eyebrow: name,
    title: "Push a component",
    isWide: true,
    parts: form,
    isBusy: () => isSending,
    onClose: () => isRegistered && onRegistered(),
  });
  // An earlier outcome belongs to another file.
  for (const input of [file, signature])
    input.addEventListener("change", () => [outcome, checks].forEach((place) => update(place)));

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isSending) return;
    const chosen = file.files?.[0];
    const wrong = await faultOf(chosen);
    update(fault, wrong);
    markInvalid(file, wrong !== "");
    if (wrong || !chosen) {
      file.focus();
      return;
    }
    const signed = await signatureIn(signature.files?.[0]);
    update(signatureFault, signed === undefined && "There is no signature in this file.");
    markInvalid(signature, signed === undefined);
    if (signed === undefined) {
      signature.focus();
      return;
    }
    isSending = true;
    send.setAttribute("aria-disabled", "true");
    update(send, "Examining…");
    update(outcome, h("p", "The gate is examining the component. This can take up to a minute."));
    update(checks);
    try {
      const pushed = await api.push(kind, chosen, signed);
      isRegistered = true;
      update(outcome, h("p.notice.good", sentence(outcomeOf(pushed))));
      update(checks, pushed.report && drawGate(pushed.report));
      update(cancel, "Close");
    } catch (error) {
      const failure = asFailure(error);
      // The gate's reasons go into a table; `field` is the name of a check.
      const isRefused = failure.code === "component-refused" && failure.errors.length > 0;
      update(outcome, h("div.notice.bad", drawFailure(isRefused ? { ...failure, errors: [] } : failure)));
      if (isRefused) {
        const found = failure.errors.map((it) => ({ name: it.field, outcome: "refused", detail: it.detail }));
        update(checks, drawGate({ checks: found }));
      }
    }
    isSending = false;
    send.removeAttribute("aria-disabled");
    update(send, "Push");
    markScrollable(dialog);
    outcome.scrollIntoView({ block: "nearest" });
  });
}

/** @param {{ isNew: boolean, model_version: string }} pushed */
function outcomeOf({ isNew, model_version: name }) {
  return isNew ? `${name} is registered.` : `${name} is already registered, with the same bytes.`;
}
