// The versions of a kind, and the details of one.

/** @import { Child } from "../shared/dom.js" */
/** @import { Deployment, GateReport, Version, VersionDetails } from "./types.js" */
import { h, heard } from "../shared/dom.js";
import * as api from "./api.js";
import { drawCard } from "./card.js";
import { copyButton } from "./copy.js";
import { openReading } from "./dialog.js";
import { badge, drawSetback, kindOf, rolesOf, SHADOWS_MAX, setbackOf } from "./kinds.js";
import { changeButton } from "./service.js";
import { drawSignature } from "./signature.js";
import { fact, table } from "./table.js";
import { bytes, count, version, when } from "./words.js";

/** @param {string} name @param {Deployment} now @param {boolean} mayChange */
function buttonsFor(name, now, mayChange) {
  const roles = rolesOf(name, now);
  const details = h(
    "button.quiet",
    { type: "button", "data-key": `details ${name}`, "data-details": name },
    "Details",
    heard(` of ${name}`),
  );
  if (!mayChange || roles.includes("champion")) return [details];
  const buttons = [details, changeButton("promote", "Promote", name)];
  if (kindOf(now.kind).hasCanaries) {
    buttons.push(changeButton("rollout", "Roll out", name));
    if (!roles.includes("canary")) buttons.push(changeButton("canary", "Start canary", name));
  }
  if (!roles.includes("shadow") && now.shadows.length < SHADOWS_MAX) {
    buttons.push(changeButton("add-shadow", "Add shadow", name));
  }
  return buttons;
}

/** Newest first. Built-in versions were registered at one time, so then by name. @param {Version[]} versions */
export function newestFirst(versions) {
  const age = (/** @type {Version} */ it) => new Date(it.registered_at).getTime() || 0;
  return versions.toSorted(
    (a, b) => age(b) - age(a) || b.model_version.localeCompare(a.model_version, "en", { numeric: true }),
  );
}

/** @param {Version[]} versions @param {Deployment} now @param {boolean} mayChange */
export function drawVersions(versions, now, mayChange) {
  const sorted = newestFirst(versions);
  const rows = sorted.map((it) => {
    const roles = rolesOf(it.model_version, now);
    const name = it.model_version;
    return [
      h("span.named", version(name), copyButton(name, name)),
      [
        [roles.length > 0 ? roles.map(badge) : h("span.registered", "registered"), drawSetback(setbackOf(name, now))],
        "roles",
      ],
      [bytes(it.bytes), "number"],
      [it.built_in ? "built in" : it.registered_by, "words"],
      [when(it.registered_at), "time"],
      [h("div.acts", buttonsFor(it.model_version, now, mayChange)), null],
    ];
  });
  const isFull = now.shadows.length >= SHADOWS_MAX;
  return [
    table({
      label: "Versions",
      heads: ["Version", "Role", ["Size", "number"], "Registered by", "Registered", "Actions"],
      rows,
      keys: sorted.map((it) => it.model_version),
      className: "versions",
    }),
    isFull && h("p.hint", `${SHADOWS_MAX} shadows are the maximum: remove one before you add another.`),
  ];
}

/** @type {Record<string, string>} */
const OUTCOMES = { passed: "✓ passed", noted: "● noted", refused: "✕ refused" };

/** @param {GateReport} report */
export function drawGate(report) {
  const rows = report.checks.map(({ name, outcome, detail }) => [
    h("code", name),
    [OUTCOMES[outcome] ?? outcome, `outcome ${outcome}`],
    [detail, "words"],
  ]);
  return [
    report.summary && h("p.summary", report.summary),
    table({ label: "The gate’s checks", heads: ["Check", "Outcome", "Found"], rows, className: "gate" }),
  ];
}

/** @param {VersionDetails} it @param {Deployment | undefined} now */
function drawDetails(it, now) {
  const roles = now ? rolesOf(it.model_version, now) : [];
  return [
    h(
      "dl.facts",
      fact("Role", roles.length > 0 ? roles.join(", ") : "registered"),
      fact("Size", `${count(it.bytes)} bytes`),
      it.class &&
        fact("Class", it.class === "pure" ? "pure: no imports" : "deny-all: imports WASI, and gets an empty one"),
      fact("Registered", it.built_in ? "built in" : `by ${it.registered_by}`, ", ", when(it.registered_at)),
      fact("sha256", h("code.long", it.sha256), copyButton(it.sha256, "its sha256")),
    ),
    h("h3", "The gate’s report"),
    it.report ? drawGate(it.report) : h("p", "Built-in versions are covered by the program’s own tests."),
    drawSignature(it),
    it.card && [h("h3", "Model card"), h("div.card", drawCard(it.card))],
  ];
}

/** @param {string} kind @param {string} name @param {Deployment | undefined} now */
export function openDetails(kind, name, now) {
  const about = { eyebrow: kindOf(kind).name, title: version(name) };
  openReading(about, async () => drawDetails(await api.version(kind, name), now));
}
