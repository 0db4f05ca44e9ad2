// Every change of a kind, newest first, for auditors.

/** @import { Canary, Deployment, Rollout } from "./types.js" */
import { h } from "../shared/dom.js";
import { table } from "./table.js";
import { percent, version, when } from "./words.js";

const NONE = "–";

/** @param {string[]} names */
function drawShadows(names) {
  return names.length > 0
    ? h(
        "ul.plain",
        names.map((name) => h("li", version(name))),
      )
    : NONE;
}

/** @param {Canary | null} canary */
function drawCanary(canary) {
  return canary ? [version(canary.version), ` ${percent(canary.percent)}`] : NONE;
}

/** A rollout makes its steps in the name of who started it. @param {Deployment} it @param {Rollout[]} rollouts newest first */
function author({ changed_by, changed_at }, rollouts) {
  if (changed_by !== "rollout" || !changed_at) return changed_by ?? NONE;
  const of = rollouts.find((it) => Date.parse(it.started_at) <= Date.parse(changed_at));
  return of ? `rollout of ${of.started_by}` : changed_by;
}

/** @param {Deployment[]} history @param {Rollout[]} rollouts */
export function drawHistory(history, rollouts) {
  if (history.length === 0) return h("p", "Nothing has been deployed yet.");
  const haveLevels = history.some((it) => it.cut_offs);
  const rows = history.map((it) => [
    [String(it.epoch), "number"],
    it.champion ? version(it.champion) : NONE,
    [drawCanary(it.canary), null],
    [drawShadows(it.shadows), null],
    ...(haveLevels ? [it.cut_offs ? `${it.cut_offs.medium_from}, ${it.cut_offs.high_from}` : NONE] : []),
    [it.reason ?? NONE, "words"],
    author(it, rollouts),
    [when(it.changed_at), "time"],
  ]);
  return table({
    label: "History",
    heads: [
      ["Change", "number"],
      "Champion",
      "Canary",
      "Shadows",
      ...(haveLevels ? ["Cut-offs"] : []),
      "Reason",
      "By",
      "When",
    ],
    rows,
    keys: history.map((it) => it.epoch),
    className: "history",
  });
}
