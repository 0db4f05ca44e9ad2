// How challengers compare with the champion, and how far the requests have drifted.

/** @import { Child } from "../shared/dom.js" */
/** @import { Cell, Challenger, Deployment, Feature, Latency, Loaded, Report } from "./types.js" */
import { h } from "../shared/dom.js";
import { badge, kindOf } from "./kinds.js";
import { drawScores } from "./plot.js";
import { drawFailure } from "./problems.js";
import { formerIn, sinceFormer } from "./record.js";
import { fact, note, table } from "./table.js";
import {
  count,
  drift,
  failuresIn,
  figure,
  interval,
  micros,
  percent,
  sentence,
  share,
  version,
  when,
} from "./words.js";

const NO_CHALLENGERS = "There are no challengers. Start a canary or add a shadow below to compare it here.";

/** A wider plot would show no more. */
const PLOT_REM_MAX = 38;
/** In pixels; below this the plot scrolls. */
const PLOT_WIDTH_MIN = 240;
/** Room for the figures beside a plot, gap included; `.compared.wide` in the style sheet has the same. */
const FIGURES_REM = 24;
const WIDE_REM = 50;

/** The layout of a challenger; in rem, because text may be larger than usual. @param {number} width in pixels */
function roomIn(width) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const isWide = width >= WIDE_REM * rem;
  const left = Math.floor(isWide ? width - FIGURES_REM * rem : width);
  return { isWide, rem, plot: Math.max(PLOT_WIDTH_MIN, Math.min(PLOT_REM_MAX * rem, left)) };
}

/** @param {number | null | undefined} value */
function psi(value) {
  return typeof value === "number" ? value.toFixed(3) : "–";
}

/** The names without their digests, if they differ. @param {Challenger} it @param {Report} report */
function namesOf({ version, role }, { champion }) {
  const [one, two] = [champion, version].map((it) => it.split("+")[0]);
  return one === two ? { champion, challenger: version, role } : { champion: one, challenger: two, role };
}

/**
 * Champion's classes as rows, challenger's as columns; agreement is on the diagonal.
 * @param {Challenger} challenger @param {ReturnType<typeof namesOf>} names
 */
function drawFlips({ classes, flips }, names) {
  const rows = flips.map((row, champion) => [
    classes[champion],
    ...row.map((it, challenger) => {
      const changed = champion !== challenger && it > 0;
      return [changed ? h("strong", count(it)) : count(it), champion === challenger ? "number same" : "number"];
    }),
  ]);
  return table({
    label: "Classes: champion against challenger",
    caption: `Rows: class by ${names.champion}. Columns: by the ${names.role} ${names.challenger}.`,
    heads: [`champion: ${names.champion}`, ...classes.map((name) => [name, "number"])],
    rows,
    className: "flips",
  });
}

/** @param {NonNullable<Challenger["latency_us"]>} latency */
function drawLatency({ champion, challenger }) {
  /** @param {string} name @param {Latency | undefined} it @returns {Cell[]} */
  const row = (name, it) => [name, [micros(it?.p50), "number"], [micros(it?.p99), "number"]];
  return table({
    label: "Time per answer",
    caption: "Time per answer",
    heads: ["Version", ["p50", "number"], ["p99", "number"]],
    rows: [row("champion", champion), row("challenger", challenger)],
    className: "latency",
  });
}

/** @param {NonNullable<Challenger["difference"]>} difference @param {ReturnType<typeof namesOf>} names @param {boolean} isFormer */
function drawDifference({ mean, p50, p99, largest }, { champion, challenger }, isFormer) {
  return table({
    label: "Difference of scores",
    caption: `Score, ${isFormer ? `${champion} minus ${challenger}` : "challenger minus champion"}`,
    // The last three are absolute: a mean near 0 may hide large differences in both directions.
    heads: ["mean", "± p50", "± p99", "± largest"].map((name) => [name, "number"]),
    rows: [
      [
        [figure(isFormer ? -mean : mean, { signed: true }), "number"],
        [figure(p50), "number"],
        [figure(p99), "number"],
        [figure(largest), "number"],
      ],
    ],
    className: "difference",
  });
}

/** @param {Challenger} it */
function drawFailed({ failed, failure }) {
  const { all, note: causes } = failuresIn(failed);
  const [known, of] = [failure && failure.of > 0, count(failure?.of)];
  return fact("Failed", count(all), note([known && `of ${of}: ${interval(failure)}`, known && causes && "; ", causes]));
}

/** A canary is compared on its own users' requests, a shadow on all. @param {Challenger} it @param {number} observed */
function drawCompared(it, observed) {
  const whose = it.role === "canary" ? ", from its own users only" : "";
  return fact("Compared", count(it.compared), note(`of ${count(observed)} observed${whose}`));
}

/** @param {Challenger} it @param {Report} report @param {Deployment[]} past @param {string | null} score null if there are none @param {ReturnType<typeof roomIn>} room @param {number} at */
function drawChallenger(it, report, past, score, room, at) {
  const isCanary = it.role === "canary";
  const isFormer = it === formerIn(report, past);
  const names = namesOf(it, report);
  return h(
    "section.challenger",
    { "data-key": it.version },
    h(
      "h4",
      badge(it.role),
      version(it.version),
      isCanary && it.percent !== null && h("span.note", `${percent(it.percent)} of users`),
    ),
    // The reason is that of the change: the version's failures, or an operator's.
    it.withdrawn &&
      h("div.notice.bad", h("p.title", isCanary ? "No longer the canary" : "No longer compared"), h("p", it.withdrawn)),
    isFormer && h("p", sentence(sinceFormer(it, report))),
    h(
      "dl.facts",
      drawCompared(it, report.observed),
      drawFailed(it),
      !isFormer && drawLost(it),
      fact(
        "Changed class",
        it.flip ? interval(it.flip) : share(it.flip_share),
        note("with the 95% confidence interval"),
      ),
      score && fact("Score drift", psi(it.score_psi), note(`PSI, ${drift(it.score_psi)}`)),
    ),
    it.compared > 0 &&
      h(
        "div",
        { class: room.isWide ? "compared wide" : "compared" },
        h(
          "div.figures",
          drawFlips(it, names),
          score && drawDifference(it.difference ?? {}, names, isFormer),
          drawLatency(it.latency_us ?? {}),
        ),
        score && it.scores && drawScores(it.scores, { id: `scores-${at}`, width: room.plot, rem: room.rem, score }),
      ),
  );
}

/** @param {Feature[]} features */
function drawFeatures(features) {
  if (features.length === 0) return null;
  const rows = features.map((it) => {
    const word = drift(it.psi);
    return [
      h("code", it.feature),
      [psi(it.psi), "number"],
      [word, `drift ${word.split(" ")[0]}`],
      [count(it.observed), "number"],
    ];
  });
  return [
    h("h4", "Feature drift"),
    h(
      "p.hint",
      "How far each feature has moved from the training data of the built-in model. PSI below 0.1: none; up to 0.25: moderate; above: major.",
    ),
    table({
      label: "Feature drift",
      heads: ["Feature", ["PSI", "number"], "Drift", ["Observed", "number"]],
      rows,
      keys: features.map((it) => it.feature),
      className: "features",
    }),
  ];
}

/**
 * Of the answers that were high for the champion, those that the challenger let pass; other kinds have no such class.
 * @param {Challenger} it
 */
export function drawLost({ classes, flips }, isBad = true) {
  const high = classes.indexOf("high");
  const of = flips[high]?.reduce((sum, it) => sum + it, 0) ?? 0;
  if (of === 0) return null;
  const lost = of - flips[high][high];
  const text = `${count(lost)} of ${count(of)}`;
  return fact("No longer high", lost > 0 && isBad ? h("strong.lost", text) : text, note(share(lost / of)));
}

/**
 * @param {string} kind @param {number} epoch that of the deployment @param {Loaded<Report> | undefined} part
 * @param {number} width in pixels @param {Deployment[]} past newest first
 */
export function drawReport(kind, epoch, part, width, past) {
  if (part?.failure?.code === "nothing-deployed") return h("p", NO_CHALLENGERS);
  if (part?.failure) return h("div.notice.bad", drawFailure(part.failure));
  if (!part?.data) return h("p", "Loading…");
  const { score, hasCanaries } = kindOf(kind);
  const scored = hasCanaries ? (score ?? "Score") : null;
  const report = part.data;
  const room = roomIn(width);
  if (report.challengers.length === 0) return [h("p", NO_CHALLENGERS), drawFeatures(report.features)];
  const dropped = report.dropped > 0 && ` Dropped under load: ${count(report.dropped)}.`;
  const isPast = report.epoch !== epoch;
  return [
    isPast && h("p.notice", `There are no challengers now. These were the last, under change ${report.epoch}.`),
    h(
      "p",
      count(report.observed),
      report.observed === 1 ? " request observed " : " requests observed ",
      isPast ? `under change ${report.epoch}, deployed ` : "since ",
      when(report.since),
      ".",
      dropped,
    ),
    report.challengers.map((it, at) => drawChallenger(it, report, past, scored, room, at)),
    drawFeatures(report.features),
  ];
}
