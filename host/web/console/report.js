// How challengers compare with the champion, and how far what the models are asked has moved.

import { h, table } from "./dom.js";
import { badge, kindOf } from "./kinds.js";
import { drawScores } from "./plot.js";
import { drawProblem } from "./problems.js";
import { count, drift, figure, micros, percent, share, version, when } from "./words.js";

const NO_CHALLENGERS =
  "There are no challengers. Start a canary or add a shadow at a version below, and it is compared here.";

/** A plot wider than this shows no more. */
const PLOT_REM_MAX = 38;
/** Pixels: less is not a plot, and scrolls. */
const PLOT_WIDTH_MIN = 240;
/** What the figures need beside a plot, gap included; `.compared.wide` in the style sheet has the same. */
const FIGURES_REM = 24;
const WIDE_REM = 50;

/** How a challenger is laid out in `width` pixels. Text may be larger than usual, so rem decides. */
function roomIn(width) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const isWide = width >= WIDE_REM * rem;
  const left = Math.floor(isWide ? width - FIGURES_REM * rem : width);
  return { isWide, rem, plot: Math.max(PLOT_WIDTH_MIN, Math.min(PLOT_REM_MAX * rem, left)) };
}

function fact(term, value, note) {
  return h("div", null, h("dt", null, term), h("dd", null, value, note && h("span", { class: "note" }, note)));
}

function psi(value) {
  return typeof value === "number" ? value.toFixed(3) : "–";
}

/** Champion's classes as rows, challenger's as columns; what agrees lies on the diagonal. */
function drawFlips({ classes, flips }) {
  const rows = flips.map((row, champion) => [
    classes[champion],
    ...row.map((it, challenger) => {
      const changed = champion !== challenger && it > 0;
      return [changed ? h("strong", null, count(it)) : count(it), champion === challenger ? "number same" : "number"];
    }),
  ]);
  return table({
    label: "Classes of the champion against classes of the challenger",
    caption: "Class: champion down, challenger across",
    heads: ["Champion", ...classes.map((name) => [name, "number"])],
    rows,
    className: "flips",
  });
}

function drawLatency({ champion, challenger }) {
  const row = (name, it) => [name, [micros(it?.p50), "number"], [micros(it?.p99), "number"]];
  return table({
    label: "Time for one answer",
    caption: "Time for one answer",
    heads: ["Of", ["p50", "number"], ["p99", "number"]],
    rows: [row("champion", champion), row("challenger", challenger)],
    className: "latency",
  });
}

function drawDifference({ mean, p50, p99, largest }) {
  return table({
    label: "Difference of scores",
    caption: "Score, challenger less champion",
    // The last three are of its size: a mean near 0 may hide large differences in both directions.
    heads: ["mean", "± p50", "± p99", "± largest"].map((name) => [name, "number"]),
    rows: [
      [
        [figure(mean, { signed: true }), "number"],
        [figure(p50), "number"],
        [figure(p99), "number"],
        [figure(largest), "number"],
      ],
    ],
    className: "difference",
  });
}

function drawFailed({ trapped = 0, timed_out: late = 0, bad_answer: bad = 0 }) {
  const all = trapped + late + bad;
  const parts = [
    [trapped, "trapped"],
    [late, "timed out"],
    [bad, "gave a bad answer"],
  ].filter(([it]) => it > 0);
  // Of one sort only, the number stands there already.
  const told = parts.length === 1 ? parts[0][1] : parts.map(([it, how]) => `${count(it)} ${how}`).join(", ");
  return fact("Failed", count(all), told);
}

function drawChallenger(it, score, room, at) {
  const isCanary = it.role === "canary";
  return h(
    "section",
    { class: "challenger", "data-key": it.version },
    h(
      "h4",
      null,
      badge(it.role),
      version(it.version),
      isCanary && it.percent !== null && h("span", { class: "note" }, `${percent(it.percent)} of users`),
    ),
    // The reason of the change that ended it: its own failures, or an operator.
    it.withdrawn &&
      h(
        "div",
        { class: "notice bad" },
        h("p", { class: "title" }, isCanary ? "It is the canary no longer" : "It is compared no longer"),
        h("p", null, it.withdrawn),
      ),
    h(
      "dl",
      { class: "facts" },
      fact("Compared", count(it.compared)),
      drawFailed(it.failed ?? {}),
      fact("Other class", share(it.flip_share)),
      fact("Drift of the score", psi(it.score_psi), `PSI, ${drift(it.score_psi)}`),
    ),
    it.compared > 0 &&
      h(
        "div",
        { class: room.isWide ? "compared wide" : "compared" },
        h(
          "div",
          { class: "figures" },
          drawFlips(it),
          drawDifference(it.difference ?? {}),
          drawLatency(it.latency_us ?? {}),
        ),
        it.scores && drawScores(it.scores, { id: `scores-${at}`, width: room.plot, rem: room.rem, score }),
      ),
  );
}

function drawFeatures(features) {
  if (features.length === 0) return null;
  const rows = features.map((it) => {
    const word = drift(it.psi);
    return [
      h("code", null, it.feature),
      [psi(it.psi), "number"],
      [word, `drift ${word.split(" ")[0]}`],
      [count(it.observed), "number"],
    ];
  });
  return [
    h("h4", null, "Drift of what is asked"),
    h(
      "p",
      { class: "hint" },
      "How far each fact has moved from what the built-in model was trained on. PSI below 0.1: none; to 0.25: moderate; above: major.",
    ),
    table({
      label: "Drift of what is asked",
      heads: ["Fact", ["PSI", "number"], "Drift", ["Observed", "number"]],
      rows,
      keys: features.map((it) => it.feature),
      className: "features",
    }),
  ];
}

/** The part of the page; `found` is {report} or {problem}, `epoch` that of what serves. */
export function drawReport(kind, epoch, found, widthThere) {
  if (!found) return h("p", null, "Loading…");
  if (found.problem?.code === "nothing-deployed") return h("p", null, NO_CHALLENGERS);
  if (found.problem) return h("div", { class: "notice bad" }, drawProblem(found.problem));
  const { score } = kindOf(kind);
  const { report } = found;
  const room = roomIn(widthThere);
  if (report.challengers.length === 0) return [h("p", null, NO_CHALLENGERS), drawFeatures(report.features)];
  const dropped = report.dropped > 0 && ` ${count(report.dropped)} more were not, because too many waited.`;
  // Challengers that have ended are still worth reading; which deployment they belong to has to be said.
  const isPast = report.epoch !== epoch;
  return [
    isPast &&
      h(
        "p",
        { class: "notice" },
        `There are no challengers now. These were the last: they ended after change ${report.epoch}.`,
      ),
    h(
      "p",
      null,
      count(report.observed),
      " requests were compared ",
      isPast ? ["in the time of change ", String(report.epoch), ", made "] : "since ",
      when(report.since),
      ".",
      dropped,
    ),
    report.challengers.map((it, at) => drawChallenger(it, score, room, at)),
    drawFeatures(report.features),
  ];
}
