// What is in service: which version answers which share of the traffic, which are compared, and which is the fallback.

/** @import { Child } from "../shared/dom.js" */
/** @import { Deployment } from "./types.js" */
import { h, heard, s } from "../shared/dom.js";
import { copyButton } from "./copy.js";
import { badge, kindOf } from "./kinds.js";
import { keptIn } from "./record.js";
import { percent, sentence, version, when } from "./words.js";

/**
 * A button for a change; the page listens for all of them in one place. `link` comes before the name of the version.
 * @param {string} change @param {string} text @param {string} name
 */
export function changeButton(change, text, name, { isDangerous = false, link = "" } = {}) {
  return h(
    "button",
    {
      type: "button",
      class: isDangerous ? "danger" : null,
      "data-key": `${change} ${name}`,
      "data-change": change,
      "data-version": name,
    },
    text,
    heard(`${link} ${name}`),
  );
}

/** @param {string} role or several, separated by spaces @param {string} name @param {Child} meaning @param {Child[]} buttons */
function slot(role, name, meaning, buttons) {
  return h(
    "li",
    { "data-key": `${role} ${name}` },
    h("div.role", role.split(" ").map(badge)),
    h("div.what", version(name), copyButton(name, name), h("p", meaning)),
    buttons.length > 0 && h("div.acts", buttons),
  );
}

/** The shares of users as a picture, whose numbers are in the lines below. */
function traffic(some = 0) {
  const parts = [s("rect.champion", { x: 0, y: 0, width: `${100 - some}%`, height: "100%" })];
  if (some > 0) {
    parts.push(
      s(
        "defs",
        s(
          "pattern",
          { id: "canary-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
          s("path", { d: "M-1 1l2-2M0 6l6-6M5 7l2-2" }),
        ),
      ),
      s("rect.canary", { x: `${100 - some}%`, y: 0, width: `${some}%`, height: "100%" }),
      s("rect.hatch", {
        x: `${100 - some}%`,
        y: 0,
        width: `${some}%`,
        height: "100%",
        fill: "url(#canary-hatch)",
      }),
    );
  }
  return s("svg.traffic", { width: "100%", height: 14, "aria-hidden": "true", focusable: "false" }, parts);
}

/** @param {Deployment} now */
function lastChange(now) {
  if (now.epoch === 0) return h("p.changed", "Nothing has been deployed yet: the built-in version serves.");
  return h(
    "p.changed",
    `Change ${now.epoch}, by `,
    h("strong", now.changed_by ?? "an unknown operator"),
    ", ",
    when(now.changed_at),
    now.reason && [": ", h("q", now.reason)],
  );
}

/** @param {Deployment} now @param {boolean} mayChange @param {Deployment[]} past newest first */
export function drawService(now, mayChange, past) {
  const { hasCanaries, scope, request } = kindOf(now.kind);
  /** @param {Child[]} buttons */
  const act = (...buttons) => (mayChange ? buttons : []);
  const some = now.canary?.percent;
  const serves = hasCanaries
    ? `Answers ${some ? `${percent(100 - some)} of users` : "everyone"}.`
    : `Decides every ${request}.`;
  // A rollback is urgent, so challengers do not push it down.
  const target = now.rollback_to;
  const back = target && changeButton("roll-back", "Roll back", target, { isDangerous: true, link: " to" });
  const isOnlyTrial = target === now.champion && (now.canary !== null || now.shadows.length > 0);
  const ended = now.canary ? "ends the canary" : `removes the shadow${now.shadows.length === 1 ? "" : "s"}`;
  const end = isOnlyTrial && ` Roll back ${ended}; ${target} goes on answering everyone.`;
  const slots = [
    slot("champion", now.champion ?? "not known", [serves, end && sentence(end)], act(isOnlyTrial && back)),
  ];
  const kept = keptIn(now, past);
  const isKept = kept !== null && kept.version === target;
  if (target && target !== now.champion) {
    const fallback = now.fallback ? `Answers if ${now.champion} fails, and a rollback` : "Warm; a rollback";
    const meaning =
      target === now.previous
        ? `${hasCanaries ? fallback : "Warm; a rollback"} returns to it.`
        : `A rollback returns to it, not to ${now.previous}, which is on trial.`;
    // During a canary the service removes nothing.
    const later = now.canary ? ", or until the canary ends if that is later" : "";
    const compared = isKept && [
      " For a day it is also compared with the champion, until ",
      when(kept.until),
      `${later}.`,
    ];
    const remove = isKept && changeButton("remove-shadow", "Remove shadow", target);
    slots.push(slot(isKept ? "previous shadow" : "previous", target, [sentence(meaning), compared], act(back, remove)));
  }
  if (now.canary) {
    const { version: name, max_flip_percent: limit } = now.canary;
    const until = limit
      ? ` Withdrawn automatically if significantly more than ${percent(limit)} of answers change class.`
      : "";
    slots.push(
      slot(
        "canary",
        name,
        `${some ? `Answers ${percent(some)} of users.` : "Compared on all requests; it answers nobody."}${until}`,
        act(
          changeButton("promote", "Promote", name),
          changeButton("canary", "Change canary", name),
          changeButton("stop-canary", "Stop canary", name),
        ),
      ),
    );
  }
  for (const name of now.shadows) {
    if (isKept && name === target) continue;
    const role = name === now.previous && now.fallback ? "Answers only if the champion fails" : "Serves no traffic";
    slots.push(
      slot(
        "shadow",
        name,
        `${role}; called after the champion and compared with it.`,
        act(changeButton("remove-shadow", "Remove shadow", name)),
      ),
    );
  }
  return [
    lastChange(now),
    !mayChange && h("p.notice", "This token is read-only. Changes require the scope ", h("code", scope), "."),
    hasCanaries && traffic(some),
    h("ul.slots", slots),
  ];
}
