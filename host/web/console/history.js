// Every change of a kind, newest first: what an auditor reads.

import { h, table } from "./dom.js";
import { percent, version, when } from "./words.js";

const NONE = "–";

function drawShadows(names) {
  return names?.length > 0
    ? h(
        "ul",
        { class: "plain" },
        names.map((name) => h("li", null, version(name))),
      )
    : NONE;
}

function drawCanary(canary) {
  return canary ? [version(canary.version), ` ${percent(canary.percent)}`] : NONE;
}

export function drawHistory(history) {
  if (history.length === 0) return h("p", null, "Nothing was ever deployed.");
  const rows = history.map((it) => [
    [String(it.epoch), "number"],
    version(it.champion),
    [drawCanary(it.canary), null],
    [drawShadows(it.shadows), null],
    [it.reason ?? NONE, "words"],
    it.changed_by ?? NONE,
    [when(it.changed_at), "time"],
  ]);
  return table({
    label: "History",
    heads: [["Change", "number"], "Champion", "Canary", "Shadows", "Reason", "By", "When"],
    rows,
    keys: history.map((it) => it.epoch),
    className: "history",
  });
}
