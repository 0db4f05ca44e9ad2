// What is in service: who answers which part of the traffic, who is compared, who would step in.

import { h, heard, s } from "./dom.js";
import { badge, kindOf } from "./kinds.js";
import { percent, version, when } from "./words.js";

/** A button for a change; the page listens for all of them in one place. */
export function changeButton(change, text, name, { isGrave = false, link = "" } = {}) {
  return h(
    "button",
    {
      type: "button",
      class: isGrave ? "grave" : null,
      "data-key": `${change} ${name}`,
      "data-change": change,
      "data-version": name,
    },
    text,
    heard(`${link} ${name}`),
  );
}

/** One line for a role, with what can be done about it. */
function slot(role, name, meaning, buttons) {
  return h(
    "li",
    { "data-key": `${role} ${name}` },
    h("div", { class: "role" }, badge(role)),
    h("div", { class: "what" }, version(name), h("p", null, meaning)),
    buttons.length > 0 && h("div", { class: "acts" }, buttons),
  );
}

/** The share of users of each, as a channel that divides. Its numbers stand in the lines below. */
function traffic(some = 0) {
  const parts = [s("rect", { class: "champion", x: 0, y: 0, width: `${100 - some}%`, height: "100%" })];
  if (some > 0) {
    parts.push(
      s(
        "defs",
        null,
        s(
          "pattern",
          { id: "canary-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
          s("path", { d: "M-1 1l2-2M0 6l6-6M5 7l2-2" }),
        ),
      ),
      s("rect", { class: "canary", x: `${100 - some}%`, y: 0, width: `${some}%`, height: "100%" }),
      s("rect", {
        class: "hatch",
        x: `${100 - some}%`,
        y: 0,
        width: `${some}%`,
        height: "100%",
        fill: "url(#canary-hatch)",
      }),
    );
  }
  return s("svg", { class: "traffic", width: "100%", height: 14, "aria-hidden": "true", focusable: "false" }, parts);
}

function changed(now) {
  if (now.epoch === 0)
    return h("p", { class: "changed" }, "Nothing was ever deployed: what came with the program serves.");
  return h(
    "p",
    { class: "changed" },
    `Change ${now.epoch}, by `,
    h("strong", null, now.changed_by ?? "somebody unknown"),
    ", ",
    when(now.changed_at),
    now.reason && [": ", h("q", null, now.reason)],
  );
}

/** The part of the page. */
export function drawService(now, mayChange) {
  const { hasChallengers, scope, request } = kindOf(now.kind);
  const act = (...buttons) => (mayChange ? buttons : []);
  const some = now.canary?.percent;
  const serves = hasChallengers
    ? `Answers ${some ? `${percent(100 - some)} of users` : "everybody"}.`
    : `Decides every ${request}.`;
  const slots = [slot("champion", now.champion ?? "not known", serves, [])];
  if (now.canary) {
    const { version: name, max_flip_percent: limit } = now.canary;
    const until = limit ? ` Withdrawn by itself above ${percent(limit)} of changed classes.` : "";
    slots.push(
      slot(
        "canary",
        name,
        `Answers ${percent(some)} of users.${until}`,
        act(
          changeButton("promote", "Promote", name),
          changeButton("canary", "Change", name),
          changeButton("stop-canary", "Stop", name),
        ),
      ),
    );
  }
  for (const name of now.shadows) {
    slots.push(
      slot(
        "shadow",
        name,
        "Answers nobody; compared after the champion has answered.",
        act(changeButton("remove-shadow", "Remove", name)),
      ),
    );
  }
  if (now.previous && now.epoch > 0) {
    const isSame = now.previous === now.champion;
    slots.push(
      slot(
        "previous",
        now.previous,
        isSame
          ? "The same as the champion: a rollback would change nothing but end challengers."
          : "Warm; a rollback returns to it.",
        act(changeButton("roll-back", "Roll back", now.previous, { isGrave: true, link: " to" })),
      ),
    );
  }
  return [
    changed(now),
    !mayChange &&
      h(
        "p",
        { class: "notice" },
        "This token may look but not change: that takes the scope ",
        h("code", null, scope),
        ".",
      ),
    hasChallengers && traffic(some),
    h("ul", { class: "slots" }, slots),
  ];
}
