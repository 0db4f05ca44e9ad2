// Two distributions of scores in one plot: the champion as hatched bars, the challenger as a bold line of
// steps, so that they differ without colour. Drawn from counts, at the width that there is: text that
// shrinks with a picture cannot be read on a narrow screen.

import { h, s, table } from "./dom.js";
import { count, share } from "./words.js";

/** In rem: text in the picture grows with all other text. */
const HEIGHT = 15.4;
const EDGE = { left: 2.9, right: 0.75, top: 1.75, bottom: 2.75 };
/** Shares at which the upper end of the axis may stand; it has four steps. */
const CEILINGS = [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1];

const total = (counts) => counts.reduce((sum, it) => sum + it, 0);

function sharesOf(counts) {
  const all = total(counts);
  return counts.map((it) => (all > 0 ? it / all : 0));
}

const mark = (value) => String(Number(value.toFixed(2)));
const binName = (edges, at) => `${mark(edges[at])} to ${mark(edges[at + 1])}`;

/** The bin that holds the median. */
function medianBin(shares) {
  let sum = 0;
  for (const [bin, share] of shares.entries()) {
    sum += share;
    if (sum >= 0.5) return bin;
  }
  return 0;
}

/** What the picture shows, in words. */
function inWords(edges, champion, challenger) {
  const told = (name, shares) => {
    const peak = shares.indexOf(Math.max(...shares));
    return `${name}: the median lies in ${binName(edges, medianBin(shares))}, the largest share, ${share(shares[peak])}, in ${binName(
      edges,
      peak,
    )}.`;
  };
  const gaps = champion.map((it, at) => Math.abs(challenger[at] - it));
  const widest = gaps.indexOf(Math.max(...gaps));
  const gap =
    gaps[widest] === 0
      ? "Both distributions are the same."
      : `They differ most in ${binName(edges, widest)}: ${share(champion[widest])} of the champion’s scores, ${share(
          challenger[widest],
        )} of the challenger’s.`;
  return `${told("Champion", champion)} ${told("Challenger", challenger)} ${gap}`;
}

function drawAxes({ scaleX, scaleY, ceiling, edge, width, height, rem, score }) {
  const bottom = scaleY(0);
  const steps = [0, 0.25, 0.5, 0.75, 1];
  const lines = steps.map((step) => [
    s("line", {
      class: step === 0 ? "axis" : "grid",
      x1: edge.left,
      x2: width - edge.right,
      y1: scaleY(step * ceiling),
      y2: scaleY(step * ceiling),
    }),
    s(
      "text",
      { x: edge.left - 0.4 * rem, y: scaleY(step * ceiling) + 0.25 * rem, "text-anchor": "end" },
      `${Math.round(step * ceiling * 100)} %`,
    ),
  ]);
  const marks = steps.map((step) => [
    s("line", { class: "axis", x1: scaleX(step), x2: scaleX(step), y1: bottom, y2: bottom + 0.3 * rem }),
    s("text", { x: scaleX(step), y: bottom + 1.15 * rem, "text-anchor": "middle" }, mark(step)),
  ]);
  return [
    lines,
    marks,
    s("text", { class: "title", x: 0, y: 0.75 * rem }, "Share of answers"),
    s(
      "text",
      { class: "title", x: (edge.left + width - edge.right) / 2, y: height - 0.4 * rem, "text-anchor": "middle" },
      score,
    ),
  ];
}

function draw(edges, champion, challenger, { id, width, rem, score }) {
  const edge = Object.fromEntries(Object.entries(EDGE).map(([side, it]) => [side, it * rem]));
  const height = Math.round(HEIGHT * rem);
  const inner = { width: width - edge.left - edge.right, height: height - edge.top - edge.bottom };
  const highest = Math.max(...champion, ...challenger);
  const ceiling = CEILINGS.find((it) => it >= highest) ?? 1;
  const round = (value) => Math.round(value * 10) / 10;
  const scaleX = (value) => round(edge.left + ((value - edges[0]) / (edges.at(-1) - edges[0])) * inner.width);
  const scaleY = (value) => round(edge.top + (1 - value / ceiling) * inner.height);

  const hatch = `${id}-hatch`;
  const bars = champion.map((it, at) => {
    const box = {
      x: scaleX(edges[at]),
      y: scaleY(it),
      width: round(scaleX(edges[at + 1]) - scaleX(edges[at])),
      height: round(scaleY(0) - scaleY(it)),
    };
    return s("rect", { ...box, fill: `url(#${hatch})` });
  });
  const steps = challenger.map((it, at) => `V${scaleY(it)}H${scaleX(edges[at + 1])}`).join("");
  const line = `M${scaleX(edges[0])} ${scaleY(0)}${steps}V${scaleY(0)}`;
  return s(
    "svg",
    {
      class: "plot",
      role: "img",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "aria-labelledby": `${id}-title`,
      "aria-describedby": `${id}-words`,
    },
    s(
      "defs",
      null,
      s(
        "pattern",
        { id: hatch, width: 5, height: 5, patternUnits: "userSpaceOnUse" },
        s("path", { class: "hatch", d: "M-1 1l2-2M0 5l5-5M4 6l2-2" }),
      ),
    ),
    drawAxes({ scaleX, scaleY, ceiling, edge, width, height, rem, score }),
    s("g", { class: "champion" }, bars),
    s("path", { class: "halo", d: line }),
    s("path", { class: "challenger", d: line }),
  );
}

function swatch(which) {
  const drawn =
    which === "champion"
      ? [
          s(
            "defs",
            null,
            s(
              "pattern",
              { id: "swatch-hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse" },
              s("path", { class: "hatch", d: "M-1 1l2-2M0 5l5-5M4 6l2-2" }),
            ),
          ),
          s("g", { class: "champion" }, s("rect", { x: 1, y: 2, width: 26, height: 12, fill: "url(#swatch-hatch)" })),
        ]
      : s("path", { class: "challenger", d: "M1 13H10V4H19V9H27" });
  return s("svg", { class: "plot swatch", width: 28, height: 16, "aria-hidden": "true", focusable: "false" }, drawn);
}

/** The plot with its legend, its words and its numbers. `id` tells plots on one page apart. */
export function drawScores(scores, { id, width, rem, score }) {
  const { edges } = scores;
  const [champion, challenger] = [sharesOf(scores.champion), sharesOf(scores.challenger)];
  const title = h("p", { class: "caption", id: `${id}-title` }, `${score}: champion and challenger`);
  if (total(scores.champion) + total(scores.challenger) === 0) {
    return h("div", null, title, h("p", null, "There are no scores to show yet."));
  }
  const rows = champion.map((_, at) => [
    binName(edges, at),
    ...["champion", "challenger"].flatMap((who) => [
      [count(scores[who][at]), "number"],
      [share((who === "champion" ? champion : challenger)[at]), "number"],
    ]),
  ]);
  return h(
    "figure",
    null,
    title,
    h(
      "p",
      { class: "legend" },
      h("span", null, swatch("champion"), "champion"),
      h("span", null, swatch("challenger"), "challenger"),
    ),
    draw(edges, champion, challenger, { id, width, rem, score }),
    h("figcaption", { id: `${id}-words` }, inWords(edges, champion, challenger)),
    h(
      "details",
      { "data-keeps": "open" },
      h("summary", null, "The same in numbers"),
      table({
        label: `${score} in numbers`,
        heads: ["Score", ["Champion", "number"], ["share", "number"], ["Challenger", "number"], ["share", "number"]],
        rows,
        className: "bins",
      }),
    ),
  );
}
