// A time series as a line for each version, drawn by uPlot, with its legend and the same in numbers. Lines differ by their
// dashes as well, and by their names in the legend.

/** @import uPlot from "../vendored/uPlot" */
import { h, s, setAttributes } from "../shared/dom.js";
import { update } from "./patch.js";
import { table } from "./table.js";
import { timeOfDay } from "./words.js";

/** @typedef {{ name: string, values: (number | null)[] }} Line */
/**
 * `format` writes a value for people; `ceiling` is where the axis ends at least.
 * @typedef {{ title: string, format: (value: number) => string, ceiling: number }} About
 */

/** The first line is the champion's. */
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 8], [14, 3]];
const COLOURS = ["--accent", "--rival", "--good", "--bad", "--edge", "--ink"];
const HEIGHT = 200;

/** @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** @param {number} at */
function swatch(at) {
  const dash = DASHES[at % DASHES.length].join(" ");
  const line = s("line", { x1: 1, y1: 6, x2: 35, y2: 6, "stroke-dasharray": dash || null });
  return s(`svg.line.line-${at % COLOURS.length}`, { width: 36, height: 12, "aria-hidden": "true" }, line);
}

/** @param {number} seconds since 1970 */
const clock = (seconds) => timeOfDay(new Date(seconds * 1000)).slice(0, 5);

/** @param {Line} line @param {number[]} times @param {About} about */
function inWords({ name, values }, times, { format }) {
  const known = /** @type {number[]} */ (values.filter((it) => it !== null));
  if (known.length === 0) return `${name}: no data.`;
  const highest = Math.max(...known);
  const last = known[known.length - 1];
  return `${name}: latest ${format(last)}, peak ${format(highest)} at ${clock(times[values.indexOf(highest)])}.`;
}

/** @param {About} about @param {number[]} times @param {Line[]} lines */
function numbers(about, times, lines) {
  const rows = times.flatMap((time, at) =>
    lines.some((it) => it.values[at] !== null)
      ? [[clock(time), ...lines.map(({ values }) => [values[at] === null ? "–" : about.format(values[at]), "number"])]]
      : [],
  );
  return table({
    label: `${about.title} in numbers`,
    heads: ["From", ...lines.map(({ name }) => [name, "number"])],
    // The latest first.
    rows: rows.reverse(),
    className: "series",
  });
}

/** @param {About} about @param {Line[]} lines @param {number} width @returns {uPlot.Options} */
function options({ format, ceiling }, lines, width) {
  const axis = {
    stroke: colour("--quiet"),
    font: `12px ${colour("--sans")}`,
    grid: { stroke: colour("--rule"), width: 1 },
    ticks: { stroke: colour("--rule"), width: 1 },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, max) => [0, Math.max(ceiling, (max ?? 0) * 1.1)] } },
    axes: [
      { ...axis, space: 60, values: (_, splits) => splits.map(clock) },
      { ...axis, size: 72, values: (_, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ name }, at) => ({
        label: name,
        stroke: colour(COLOURS[at % COLOURS.length]),
        width: 2,
        dash: DASHES[at % DASHES.length],
        points: { show: true, size: 4 },
      })),
    ],
  };
}

/** The parts of a chart, made once, so that redrawing it takes away neither the focus nor what is open. @param {Element} place */
function partsOf(place) {
  if (!place.querySelector("figure")) {
    place.append(
      h(
        "figure",
        h("p.caption"),
        h("p.legend"),
        h("div.picture", { role: "img" }),
        h("details", h("summary", "Show as a table"), h("div.numbers")),
      ),
    );
  }
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (place.querySelector(name));
  return { caption: part(".caption"), legend: part(".legend"), picture: part(".picture"), table: part(".numbers") };
}

/**
 * @param {Element} place @param {About} about @param {number[]} times in seconds @param {Line[]} lines
 */
export function drawChart(place, about, times, lines) {
  /** @type {typeof uPlot} */
  const Chart = /** @type {any} */ (globalThis).uPlot;
  const { caption, legend, picture, table } = partsOf(place);
  update(caption, about.title);
  update(
    legend,
    lines.map(({ name }, at) => h("span", swatch(at), name)),
  );
  update(table, numbers(about, times, lines));
  setAttributes(picture, {
    "aria-label": `${about.title}. ${lines.map((it) => inWords(it, times, about)).join(" ")}`,
  });
  picture.replaceChildren();
  const width = Math.max(240, Math.floor(picture.getBoundingClientRect().width));
  new Chart(options(about, lines, width), [times, ...lines.map((it) => it.values)], picture);
}
