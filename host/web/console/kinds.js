// The four kinds of components: what each is for, and the row of links that leads to them.

import { h } from "./dom.js";
import { percent, version } from "./words.js";

/** Most shadows of a kind at a time: each costs one more answer for every request. */
export const SHADOWS_MAX = 4;

/**
 * `request` is what one answers, `score` what a report compares. Rules have no challengers: a limit that
 * holds for some users only would be unfair, so they change for everybody at once.
 */
export const KINDS = [
  {
    kind: "risk",
    name: "Risk",
    summary: "Says, before a transfer is sent, how risky it looks and why.",
    request: "risk request",
    score: "Risk score",
    scope: "models:admin",
    hasChallengers: true,
  },
  {
    kind: "nudge",
    name: "Nudge",
    summary: "Says whether a person needs help on a screen.",
    request: "nudge request",
    score: "Difficulty score",
    scope: "models:admin",
    hasChallengers: true,
  },
  {
    kind: "accessibility",
    name: "Accessibility",
    summary: "Recommends how the app should look and speak for a person.",
    request: "accessibility request",
    score: "Confidence of the recommendation",
    scope: "models:admin",
    hasChallengers: true,
  },
  {
    kind: "transfer-rules",
    name: "Transfer rules",
    summary: "Decides by limits and waiting times whether a transfer may be made.",
    request: "transfer",
    score: null,
    scope: "rules:admin",
    hasChallengers: false,
  },
];

/** One of them, or the first. */
export function kindOf(name) {
  return KINDS.find((it) => it.kind === name) ?? KINDS[0];
}

/** What a version is at present; one may be previous and canary at the same time. */
export function rolesOf(name, now) {
  const roles = [];
  if (now.champion === name) roles.push("champion");
  if (now.canary?.version === name) roles.push("canary");
  if (now.shadows.includes(name)) roles.push("shadow");
  if (now.previous === name && now.champion !== name) roles.push("previous");
  return roles;
}

/** A role as a badge: the shape of its edge says it too, for those who do not see the colour. */
export function badge(role) {
  return h("span", { class: `badge ${role}` }, role);
}

function challengersOf(now) {
  const parts = [];
  if (now.canary) parts.push(`canary ${percent(now.canary.percent)}`);
  if (now.shadows.length > 0) parts.push(`${now.shadows.length} shadow${now.shadows.length > 1 ? "s" : ""}`);
  return parts.join(" · ");
}

/** The links, each with what serves. */
export function drawKinds(deployments, chosen) {
  return KINDS.map(({ kind, name }) => {
    const now = deployments.get(kind);
    return h(
      "li",
      { "data-key": kind },
      h(
        "a",
        { href: `#${kind}`, "aria-current": kind === chosen ? "page" : null },
        h("span", { class: "name" }, name),
        h("span", { class: "serves" }, now?.champion ? version(now.champion) : "not known"),
        h("span", { class: "beside" }, (now && challengersOf(now)) || "no challengers"),
      ),
    );
  });
}
