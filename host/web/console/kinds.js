// The four kinds of components, and the links that lead to them.

/** @import { Deployment, Setback } from "./types.js" */
import { h } from "../shared/dom.js";
import { percent, version } from "./words.js";

/** Each shadow costs another score for every request. */
export const SHADOWS_MAX = 4;

/**
 * `request` is what a component of the kind answers, `score` what reports compare. Rules have no challengers: a limit
 * for some users only would be unfair, so they change for all at once.
 */
export const KINDS = [
  {
    kind: "risk",
    name: "Risk",
    summary: "How risky a transfer looks before it is sent, and why.",
    request: "risk request",
    score: "Risk score",
    scope: "models:admin",
    hasCanaries: true,
  },
  {
    kind: "nudge",
    name: "Nudge",
    summary: "Whether a person needs help on a screen.",
    request: "nudge request",
    score: "Difficulty score",
    scope: "models:admin",
    hasCanaries: true,
  },
  {
    kind: "accessibility",
    name: "Accessibility",
    summary: "Which theme, text size and voice settings suit a person.",
    request: "accessibility request",
    score: "Confidence of the recommendation",
    scope: "models:admin",
    hasCanaries: true,
  },
  {
    kind: "transfer-rules",
    name: "Transfer rules",
    summary: "Whether limits and waiting times allow a transfer.",
    request: "transfer",
    score: null,
    scope: "rules:admin",
    hasCanaries: false,
  },
];

/** The kind of that name, or the first. @param {string} name */
export function kindOf(name) {
  return KINDS.find((it) => it.kind === name) ?? KINDS[0];
}

/** The roles of a version; it can be previous and canary at once. @param {string} name @param {Deployment} now */
export function rolesOf(name, now) {
  const roles = [];
  if (now.champion === name) roles.push("champion");
  if (now.canary?.version === name) roles.push("canary");
  if (now.shadows.includes(name)) roles.push("shadow");
  if (now.previous === name && now.champion !== name) roles.push("previous");
  return roles;
}

/** Why a version should not be promoted. @param {string} name @param {Deployment} now */
export function setbackOf(name, now) {
  return now.setbacks?.find((it) => it.version === name);
}

/** @param {Setback | undefined} setback */
export function drawSetback(setback) {
  if (!setback) return null;
  const happened = setback.cause === "withdrawn" ? "withdrawn" : "rolled back";
  return h("span.setback", `▲ ${happened}, change ${setback.epoch}`);
}

/** Roles also differ by the shape of the edge, not by colour alone. @param {string} role */
export function badge(role) {
  return h("span", { class: `badge ${role}` }, role);
}

/** @param {Deployment} now */
function challengersOf(now) {
  const parts = [];
  if (now.canary) parts.push(`canary ${percent(now.canary.percent)}`);
  if (now.shadows.length > 0) parts.push(`${now.shadows.length} shadow${now.shadows.length > 1 ? "s" : ""}`);
  return parts.join(" · ");
}

/** The kinds that the token allows to read. @param {Map<string, Deployment>} deployments @param {string} chosen */
export function drawKinds(deployments, chosen) {
  return KINDS.filter(({ kind }) => deployments.has(kind)).map(({ kind, name }) => {
    const now = deployments.get(kind);
    return h(
      "li",
      { "data-key": kind },
      h(
        "a",
        { href: `#${kind}`, "aria-current": kind === chosen ? "page" : null },
        h("span.name", name),
        h("span.serves", now?.champion ? version(now.champion) : "not known"),
        h("span.beside", (now && challengersOf(now)) || "no challengers"),
      ),
    );
  });
}
