// A time series as a line for each version, drawn by uPlot, with its legend and the same in numbers. Lines differ by their
// dashes as well, and by their names in the legend.

/** @import uPlot from "../vendored/uPlot" */
import { h, s, setAttributes } from "../shared/dom.js";
import { update } from "./patch.js";
import { table } from "./table.js";
import { timeOfDay } from "./words.js";

/** `style` counts through colours and dashes. @typedef {{ name: string, style: number, values: (number | null)[] }} Line */
/**
 * `format` writes a value for people; `ceiling` is where the axis ends at least; `marks` are changes, by number.
 * @typedef {{ title: string, format: (value: number) => string, ceiling: number, marks: { time: number, name: string }[] }} About
 */

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

/** The step that each chart shows the values of, while somebody points at one. @type {WeakMap<Element, number | null>} */
const pointed = new WeakMap();
/** What is drawn in a picture. @type {WeakMap<Element, uPlot>} */
const drawn = new WeakMap();

/** Moves along the steps with the arrow keys. @param {KeyboardEvent} event */
function onKey(event) {
  const picture = /** @type {Element} */ (event.currentTarget);
  const chart = drawn.get(picture);
  if (!chart) return;
  const last = chart.data[0].length - 1;
  const at = pointed.get(picture) ?? last;
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
  if (!(event.key in steps)) return;
  event.preventDefault();
  point(chart, Math.max(0, Math.min(last, steps[event.key])));
}

/** @param {uPlot} chart @param {number} at */
const point = (chart, at) => chart.setCursor({ left: chart.valToPos(chart.data[0][at], "x"), top: 0 });

/** Dashed lines, with the number of the change. @param {uPlot} chart @param {About} about */
function drawMarks({ ctx, bbox, valToPos }, { marks }) {
  ctx.save();
  ctx.strokeStyle = colour("--quiet");
  ctx.fillStyle = colour("--quiet");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.font = `${11 * devicePixelRatio}px ${colour("--sans")}`;
  ctx.textAlign = "center";
  // The latest first: numbers that are closer together would read as one.
  let right = Number.POSITIVE_INFINITY;
  for (const { time, name } of marks) {
    const x = valToPos(time, "x", true);
    if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (right - x < 20 * devicePixelRatio) continue;
    ctx.fillText(name, x, bbox.top - 3 * devicePixelRatio);
    right = x;
  }
  ctx.restore();
}

/** The values of a step beside the names, and as the value of the picture. @param {Element} place @param {About} about @param {number[]} times @param {Line[]} lines */
function drawValues(place, { format, marks }, times, lines) {
  const { legend, picture } = partsOf(place);
  const at = Math.min(pointed.get(picture) ?? times.length - 1, times.length - 1);
  const text = (/** @type {Line} */ { values }) => (values[at] === null ? "–" : format(values[at]));
  // The latest first.
  const made = marks.filter(({ time }) => time >= times[at] && time < (times[at + 1] ?? Infinity)).map((it) => it.name);
  const change = made.length > 1 ? `changes ${made.at(-1)} to ${made[0]}` : made.length > 0 && `change ${made[0]}`;
  update(
    legend,
    h("span.clock", clock(times[at]), change && ` ${change}`),
    lines.map((it) => h("span", swatch(it.style), it.name, " ", h("strong", text(it)))),
  );
  setAttributes(picture, {
    "aria-valuemax": times.length - 1,
    "aria-valuenow": at,
    "aria-valuetext": [clock(times[at]), change, ...lines.map((it) => `${it.name} ${text(it)}`)]
      .filter(Boolean)
      .join(", "),
  });
}

/** @param {About} about @param {Line[]} lines @param {number} width @param {(chart: uPlot) => void} onPoint @returns {uPlot.Options} */
function options(about, lines, width, onPoint) {
  const { format, ceiling } = about;
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
    cursor: { y: false, drag: { x: false, y: false } },
    padding: [16, null, null, null],
    hooks: { draw: [(chart) => drawMarks(chart, about)], setCursor: [onPoint] },
    scales: { y: { range: (_, __, max) => [0, Math.max(ceiling, (max ?? 0) * 1.1)] } },
    axes: [
      { ...axis, space: 60, values: (_, splits) => splits.map(clock) },
      { ...axis, size: 72, values: (_, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ name, style }) => ({
        label: name,
        stroke: colour(COLOURS[style % COLOURS.length]),
        width: 2,
        dash: DASHES[style % DASHES.length],
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
        h("div.picture", { role: "slider", tabindex: 0, "aria-valuemin": 0, onKeydown: onKey }),
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
  const { caption, picture, table } = partsOf(place);
  update(caption, about.title);
  update(table, numbers(about, times, lines));
  setAttributes(picture, {
    "aria-label": `${about.title}. ${lines.map((it) => inWords(it, times, about)).join(" ")}`,
  });
  drawValues(place, about, times, lines);
  const was = pointed.get(picture);
  picture.replaceChildren();
  const width = Math.max(240, Math.floor(picture.getBoundingClientRect().width));
  /** @param {uPlot} chart */
  const onPoint = ({ cursor: { idx } }) => {
    pointed.set(picture, idx ?? null);
    drawValues(place, about, times, lines);
  };
  const data = /** @type {uPlot.AlignedData} */ ([times, ...lines.map((it) => it.values)]);
  const chart = new Chart(options(about, lines, width, onPoint), data, picture);
  drawn.set(picture, chart);
  // Somebody may be reading a value while it is redrawn.
  if (was !== undefined && was !== null) point(chart, Math.min(was, times.length - 1));
}
