// What each version did over time: how often it answered, how fast, which levels it gave, and how often it flipped or
// failed. The host adds up what all hosts count. What jumped after a change is said at the top.

/** @import { Traffic, VersionTraffic } from "./types.js" */
import { at, h } from "../shared/dom.js";
import * as api from "./api.js";
import { drawChart } from "./chart.js";
import { jumpIn } from "./jumps.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { known } from "./state.js";
import { markScrollable } from "./table.js";
import { count, micros, share } from "./words.js";

/** In minutes, with steps that give some sixty points. */
const RANGES = [
  { minutes: 60, step: 1, name: "1 hour" },
  { minutes: 360, step: 5, name: "6 hours" },
  { minutes: 1440, step: 20, name: "24 hours" },
  { minutes: 2880, step: 60, name: "2 days" },
];

/** Counts arrive every second, and a chart need not follow each. */
const REFRESH_MS = 15_000;

/** Colours are those of the theme. */
const dark = matchMedia("(prefers-color-scheme: dark)");

let range = RANGES[0];
/** The version whose levels are shown; the champion if it is empty. */
let chosen = "";
let shown = { kind: "", at: 0 };
/** @type {Traffic | null} */
let last = null;

/** A share of fewer is a matter of chance, and would draw a line from top to bottom. */
const SHARE_OF_MIN = 10;

/** @param {number} some @param {number} all */
const ratio = (some, all) => (all >= SHARE_OF_MIN ? some / all : null);

/** @type {{ id: string, title: string, format: (value: number) => string, ceiling: number, value: (it: VersionTraffic, step: number, minutes: number) => number | null }[]} */
const CHARTS = [
  {
    id: "answered",
    title: "Answers per minute",
    format: (it) => count(it),
    ceiling: 5,
    value: (it, step, minutes) => it.answered[step] / minutes,
  },
  { id: "time", title: "Time per answer, p99", format: micros, ceiling: 10, value: (it, step) => it.p99_us[step] },
  {
    id: "flips",
    title: "Compared answers that changed class",
    format: share,
    ceiling: 0.02,
    value: (it, step) => ratio(it.flipped[step], it.compared[step]),
  },
  {
    id: "failures",
    title: "Failed decisions",
    format: share,
    ceiling: 0.02,
    value: (it, step) => ratio(it.failed[step], it.answered[step] + it.failed[step]),
  },
];

/** @param {Traffic} data */
function drawAll(data) {
  const history = known.histories.get(data.kind)?.data ?? [];
  drawJump(data, history);
  const begins = new Date(data.from).getTime() / 1000;
  // The last step is under way: beside whole ones it would look like a fall.
  const isAlone = data.versions.every((it) => it.answered.slice(0, -1).every((one) => one === 0));
  const times = Array.from({ length: data.steps - (isAlone ? 0 : 1) }, (_, step) => begins + step * data.step_seconds);
  const marks = history.map((it) => ({
    time: new Date(it.changed_at ?? NaN).getTime() / 1000,
    name: String(it.epoch),
  }));
  const minutes = data.step_seconds / 60;
  // A version looks the same in every chart, however busy it is.
  const names = data.versions.map((it) => it.version).sort();
  for (const { id, value, ...about } of CHARTS) {
    const lines = data.versions
      .map((it) => ({
        name: it.version,
        style: names.indexOf(it.version),
        values: times.map((_, step) => value(it, step, minutes)),
      }))
      .filter((it) => it.values.some((one) => one !== null));
    draw(id, { ...about, marks }, times, lines);
  }
  const wanted = chosen || known.deployments.get(data.kind)?.champion;
  const version = data.versions.find((it) => it.version === wanted) ?? data.versions[0];
  const given = (/** @type {number} */ step) => version.classes.reduce((sum, counts) => sum + counts[step], 0);
  const lines = data.classes.map((name, level) => ({
    name,
    style: level,
    values: times.map((_, step) => ratio(version.classes[level][step], given(step))),
  }));
  const about = { title: `Classes given by ${version.version}`, format: share, ceiling: 1, marks };
  draw("levels", about, times, lines);
  drawChoice(data, version.version);
  markScrollable(at("traffic"));
}

/** @param {Traffic} data @param {import("./types.js").Deployment[]} history */
function drawJump(data, history) {
  const jump = jumpIn(data, history);
  update(
    at("jump"),
    jump &&
      h(
        "div.notice.bad",
        h("p.title", `Different since change ${jump.change.epoch}`),
        jump.lines.map((line) => h("p", line)),
      ),
  );
}

/** @param {string} id @param {Parameters<typeof drawChart>[1]} about @param {number[]} times @param {Parameters<typeof drawChart>[3]} lines */
function draw(id, about, times, lines) {
  const place = at(`chart-${id}`);
  place.hidden = lines.length === 0;
  if (lines.length > 0) drawChart(place, about, times, lines);
}

/** @param {Traffic} data @param {string} version */
function drawChoice(data, version) {
  const select = /** @type {HTMLSelectElement} */ (at("traffic-version"));
  at("traffic-version-field").hidden = data.classes.length === 0 || data.versions.length < 2;
  const names = data.versions.map((it) => it.version);
  if ([...select.options].map((it) => it.value).join() !== names.join()) {
    select.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
  }
  select.value = version;
}

/** Loads and draws what is due. @param {string} kind */
export async function refreshTraffic(kind) {
  const isDue = shown.kind !== kind || Date.now() - shown.at >= REFRESH_MS;
  if (!isDue) return;
  if (shown.kind !== kind) {
    chosen = "";
    update(at("jump"));
  }
  shown = { kind, at: Date.now() };
  try {
    const data = await api.traffic(kind, range.minutes, range.step);
    // Another kind may have been chosen meanwhile.
    if (shown.kind !== kind) return;
    last = data;
    for (const part of ["charts", "version-field"]) at(`traffic-${part}`).hidden = data.versions.length === 0;
    at("traffic-state").replaceChildren(data.versions.length === 0 ? "No answers in the range shown." : "");
    if (data.versions.length > 0) drawAll(data);
  } catch (error) {
    const failure = asFailure(error);
    if (failure.status === 401) throw error;
    at("traffic-state").replaceChildren(h("div.notice.bad", drawFailure(failure)));
  }
}

/** When the operator signs out. */
export function forgetTraffic() {
  shown = { kind: "", at: 0 };
  last = null;
  chosen = "";
  at("traffic-charts").hidden = true;
  update(at("jump"));
  for (const { id } of [...CHARTS, { id: "levels" }]) at(`chart-${id}`).replaceChildren();
}

/** @param {() => void} refresh */
export function openTraffic(refresh) {
  const select = /** @type {HTMLSelectElement} */ (at("traffic-range"));
  select.replaceChildren(...RANGES.map(({ name }, value) => h("option", { value }, name)));
  select.addEventListener("change", () => {
    range = RANGES[Number(select.value)];
    shown.at = 0;
    refresh();
  });
  at("traffic-version").addEventListener("change", (event) => {
    chosen = /** @type {HTMLSelectElement} */ (event.target).value;
    if (last) drawAll(last);
  });
  const redraw = () => last && last.versions.length > 0 && drawAll(last);
  dark.addEventListener("change", redraw);
  window.addEventListener("resize", redraw);
}
