// Two distributions of scores in one plot: the champion as hatched bars, the challenger as a bold stepped line, so that
// they differ by more than colour. Drawn at the available width, because text that shrinks with a picture is unreadable on
// a narrow screen.

/** @import { Cell, Scores } from "./types.js" */
import { h, s } from "../shared/dom.js";
import { table } from "./table.js";
import { count, share } from "./words.js";

/** In rem, so that the picture grows with the text. */
const HEIGHT = 15.4;
const EDGE = { left: 2.9, right: 0.75, top: 1.75, bottom: 2.75 };
/** Shares at which the axis may end; it has four steps. */
const CEILINGS = [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1];

/** @param {number[]} counts */
const total = (counts) => counts.reduce((sum, it) => sum + it, 0);

/** @param {number[]} counts */
function sharesOf(counts) {
  const all = total(counts);
  return counts.map((it) => (all > 0 ? it / all : 0));
}

/** @param {number} value */
const mark = (value) => String(Number(value.toFixed(2)));
/** @param {number[]} edges @param {number} at */
const binName = (edges, at) => `${mark(edges[at])} to ${mark(edges[at + 1])}`;

/** The bin that contains the median. @param {number[]} shares */
function medianBin(shares) {
  let sum = 0;
  for (const [bin, share] of shares.entries()) {
    sum += share;
    if (sum >= 0.5) return bin;
  }
  return 0;
}

/** The picture in words. @param {number[]} edges @param {number[]} champion @param {number[]} challenger */
function inWords(edges, champion, challenger) {
  /** @param {string} name @param {number[]} shares */
  const describe = (name, shares) => {
    const peak = shares.indexOf(Math.max(...shares));
    const median = binName(edges, medianBin(shares));
    return `${name}: the median is in ${median}; the largest share, ${share(shares[peak])}, is in ${binName(edges, peak)}.`;
  };
  const gaps = champion.map((it, at) => Math.abs(challenger[at] - it));
  const widest = gaps.indexOf(Math.max(...gaps));
  const [left, right] = [share(champion[widest]), share(challenger[widest])];
  const gap =
    gaps[widest] === 0
      ? "The distributions are the same."
      : `They differ most in ${binName(edges, widest)}: ${left} of the champion’s scores, ${right} of the challenger’s.`;
  return `${describe("Champion", champion)} ${describe("Challenger", challenger)} ${gap}`;
}

/** The champion's hatching; ids are unique on the page. @param {string} id */
const hatching = (id) =>
  s(
    "defs",
    s(
      "pattern",
      { id, width: 5, height: 5, patternUnits: "userSpaceOnUse" },
      s("path.hatch", { d: "M-1 1l2-2M0 5l5-5M4 6l2-2" }),
    ),
  );

/** @typedef {{ id: string, width: number, rem: number, score: string }} Layout  width and rem in pixels, score for people */

/** @param {number[]} edges @param {number[]} champion @param {number[]} challenger @param {Layout} layout */
function drawPlot(edges, champion, challenger, { id, width, rem, score }) {
  const height = Math.round(HEIGHT * rem);
  const left = EDGE.left * rem;
  const right = width - EDGE.right * rem;
  const top = EDGE.top * rem;
  const bottom = height - EDGE.bottom * rem;
  const highest = Math.max(...champion, ...challenger);
  const ceiling = CEILINGS.find((it) => it >= highest) ?? 1;
  /** @param {number} value */
  const round = (value) => Math.round(value * 10) / 10;
  /** @param {number} value */
  const scaleX = (value) => round(left + ((value - edges[0]) / (edges[edges.length - 1] - edges[0])) * (right - left));
  /** @param {number} value */
  const scaleY = (value) => round(bottom - (value / ceiling) * (bottom - top));

  const axes = [0, 0.25, 0.5, 0.75, 1].map((step) => {
    const x = scaleX(step);
    const y = scaleY(step * ceiling);
    return [
      s(step === 0 ? "line.axis" : "line.grid", { x1: left, x2: right, y1: y, y2: y }),
      s(
        "text",
        { x: left - 0.4 * rem, y: y + 0.25 * rem, "text-anchor": "end" },
        `${Math.round(step * ceiling * 100)}%`,
      ),
      s("line.axis", { x1: x, x2: x, y1: bottom, y2: bottom + 0.3 * rem }),
      s("text", { x, y: bottom + 1.15 * rem, "text-anchor": "middle" }, mark(step)),
    ];
  });
  const bars = champion.map((it, at) => {
    const [x, y] = [scaleX(edges[at]), scaleY(it)];
    const size = { width: round(scaleX(edges[at + 1]) - x), height: round(bottom - y) };
    return s("rect", { x, y, ...size, fill: `url(#${id}-hatch)` });
  });
  const steps = challenger.map((it, at) => `V${scaleY(it)}H${scaleX(edges[at + 1])}`).join("");
  const line = `M${scaleX(edges[0])} ${scaleY(0)}${steps}V${scaleY(0)}`;
  return s(
    "svg.plot",
    {
      role: "img",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "aria-labelledby": `${id}-title`,
      "aria-describedby": `${id}-words`,
    },
    hatching(`${id}-hatch`),
    axes,
    s("text.title", { x: 0, y: 0.75 * rem }, "Share of answers"),
    s("text.title", { x: (left + right) / 2, y: height - 0.4 * rem, "text-anchor": "middle" }, score),
    s("g.champion", bars),
    s("path.halo", { d: line }),
    s("path.challenger", { d: line }),
  );
}

/** @param {"champion" | "challenger"} which @param {string} id */
function swatch(which, id) {
  const bar = () => s("rect", { x: 1, y: 2, width: 26, height: 12, fill: `url(#${id})` });
  const drawn =
    which === "champion" ? [hatching(id), s("g.champion", bar())] : s("path.challenger", { d: "M1 13H10V4H19V9H27" });
  return s("svg.plot.swatch", { width: 28, height: 16, "aria-hidden": "true", focusable: "false" }, drawn);
}

/**
 * The plot with its legend, its description and its numbers.
 * @param {Scores} scores @param {Layout} layout
 */
export function drawScores(scores, layout) {
  const { id, score } = layout;
  const { edges } = scores;
  const [champion, challenger] = [sharesOf(scores.champion), sharesOf(scores.challenger)];
  const title = h("p.caption", { id: `${id}-title` }, `${score}: champion and challenger`);
  if (total(scores.champion) + total(scores.challenger) === 0) {
    return h("div", title, h("p", "No scores yet."));
  }
  /** @type {Cell[][]} */
  const rows = champion.map((_, at) => [
    binName(edges, at),
    [count(scores.champion[at]), "number"],
    [share(champion[at]), "number"],
    [count(scores.challenger[at]), "number"],
    [share(challenger[at]), "number"],
  ]);
  return h(
    "figure",
    title,
    h(
      "p.legend",
      h("span", swatch("champion", `${id}-swatch`), "champion"),
      h("span", swatch("challenger", id), "challenger"),
    ),
    drawPlot(edges, champion, challenger, layout),
    h("figcaption", { id: `${id}-words` }, inWords(edges, champion, challenger)),
    h(
      "details",
      { "data-keeps": "open" },
      h("summary", "Show as a table"),
      table({
        label: `${score} in numbers`,
        heads: ["Score", ["Champion", "number"], ["share", "number"], ["Challenger", "number"], ["share", "number"]],
        rows,
        className: "bins",
      }),
    ),
  );
}
