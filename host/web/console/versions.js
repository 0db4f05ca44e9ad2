// All versions of a kind, and one of them in full.

import * as api from "./api.js";
import { drawCard } from "./card.js";
import { openDialog } from "./dialog.js";
import { h, heard, markScrollable, show, table } from "./dom.js";
import { badge, kindOf, rolesOf, SHADOWS_MAX } from "./kinds.js";
import { asProblem, drawProblem } from "./problems.js";
import { changeButton } from "./service.js";
import { bytes, count, version, when } from "./words.js";

/** What can be done with a version that it is not already. */
function buttonsFor(name, now, mayChange) {
  const roles = rolesOf(name, now);
  const details = h(
    "button",
    { type: "button", class: "quiet", "data-key": `details ${name}`, "data-details": name },
    "Details",
    heard(` of ${name}`),
  );
  if (!mayChange || roles.includes("champion")) return [details];
  const buttons = [details, changeButton("promote", "Promote", name)];
  if (!kindOf(now.kind).hasChallengers) return buttons;
  if (!roles.includes("canary")) buttons.push(changeButton("canary", "Canary", name));
  if (!roles.includes("shadow") && now.shadows.length < SHADOWS_MAX) {
    buttons.push(changeButton("add-shadow", "Shadow", name));
  }
  return buttons;
}

/** Newest first; what came with the program was registered at one time, so then by name. */
function newestFirst(versions) {
  const age = (it) => new Date(it.registered_at).getTime() || 0;
  return versions.toSorted(
    (a, b) => age(b) - age(a) || b.model_version.localeCompare(a.model_version, "en", { numeric: true }),
  );
}

/** The table. */
export function drawVersions(versions, now, mayChange) {
  const sorted = newestFirst(versions);
  const rows = sorted.map((it) => {
    const roles = rolesOf(it.model_version, now);
    return [
      version(it.model_version),
      [roles.length > 0 ? roles.map(badge) : h("span", { class: "registered" }, "registered"), "roles"],
      [bytes(it.bytes), "number"],
      [it.built_in ? "built in" : it.registered_by, "words"],
      [when(it.registered_at), "time"],
      [h("div", { class: "acts" }, buttonsFor(it.model_version, now, mayChange)), null],
    ];
  });
  const isFull = kindOf(now.kind).hasChallengers && now.shadows.length >= SHADOWS_MAX;
  return [
    table({
      label: "Versions",
      heads: ["Version", "Role", ["Size", "number"], "Registered by", "Registered", "Actions"],
      rows,
      keys: sorted.map((it) => it.model_version),
      className: "versions",
    }),
    isFull && h("p", { class: "hint" }, `All ${SHADOWS_MAX} shadows are taken: remove one before you add another.`),
  ];
}

const OUTCOMES = { passed: "✓ passed", noted: "● noted", refused: "✕ refused" };

/** What the gate found. */
export function drawGate(report) {
  const rows = report.checks.map(({ name, outcome, detail }) => [
    h("code", null, name),
    [OUTCOMES[outcome] ?? outcome, `outcome ${outcome}`],
    [detail, "words"],
  ]);
  return [
    report.summary && h("p", { class: "summary" }, report.summary),
    table({ label: "Checks of the gate", heads: ["Check", "Outcome", "Found"], rows, className: "gate" }),
  ];
}

function pair(term, ...about) {
  return h("div", null, h("dt", null, term), h("dd", null, about));
}

function drawDetails(it, now) {
  const roles = rolesOf(it.model_version, now);
  return [
    h(
      "dl",
      { class: "facts" },
      pair("Role", roles.length > 0 ? roles.join(", ") : "registered"),
      pair("Size", `${count(it.bytes)} bytes`),
      it.class &&
        pair("Class", it.class === "pure" ? "pure: it imports nothing" : "deny-all: what it asks for is refused"),
      pair("Registered", it.built_in ? "built in" : `by ${it.registered_by}`, ", ", when(it.registered_at)),
      pair("sha256", h("code", { class: "long" }, it.sha256)),
    ),
    h("h3", null, "What the gate found"),
    it.report ? drawGate(it.report) : h("p", null, "It came with the program, whose own tests stand in for the gate."),
    it.card && [h("h3", null, "Model card"), h("div", { class: "card" }, drawCard(it.card))],
  ];
}

/** Opens the details of a version. `signedOut` is called when the token is not accepted any more. */
export async function openDetails(kind, name, now, signedOut) {
  const place = h("div", { class: "details" }, h("p", null, "Loading…"));
  const close = h("button", { type: "button" }, "Close");
  const dialog = openDialog({
    eyebrow: kindOf(kind).name,
    title: version(name),
    isWide: true,
    startsAtTitle: true,
    parts: [place, h("div", { class: "choice" }, close)],
  });
  close.addEventListener("click", () => dialog.close());
  try {
    show(place, drawDetails(await api.version(kind, name), now));
    markScrollable(dialog);
  } catch (error) {
    const problem = asProblem(error);
    if (problem.status === 401) {
      dialog.close();
      signedOut(problem);
    } else {
      show(place, h("div", { class: "notice bad", role: "alert" }, drawProblem(problem)));
    }
  }
}
