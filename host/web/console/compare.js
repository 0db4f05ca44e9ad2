// Two versions of a kind side by side: what they are, how often they agreed, what the gate found, and their cards with the
// weights. What differs is marked by a sign and in bold, not by colour alone.

/** @import { Child } from "../shared/dom.js" */
/** @import { Cell, Deployment, GateReport, Loaded, Report, VersionDetails } from "./types.js" */
import { h } from "../shared/dom.js";
import * as api from "./api.js";
import { tablesOf } from "./card-tables.js";
import { openReading } from "./dialog.js";
import { kindOf, rolesOf } from "./kinds.js";
import { table } from "./table.js";
import { count, dateAndTime, interval, list, sentence, version } from "./words.js";

/**
 * Two cells, and a third that says whether they differ.
 * @param {string} one @param {string} two @param {string | null} [kind] @returns {Cell[]}
 */
function both(one, two, kind = null) {
  const differs = one !== two;
  const cell = (/** @type {string} */ text) => (differs ? h("strong", text) : text);
  return [
    [cell(one), kind],
    [cell(two), kind],
    [differs ? "≠ differs" : "= same", differs ? "outcome differs" : "outcome"],
  ];
}

/** @param {VersionDetails[]} pair @param {string} label @param {Cell[][]} rows @param {string} first */
function sideBySide([one, two], label, first, rows) {
  return table({
    label,
    heads: [first, version(one.model_version), version(two.model_version), "Compared"],
    rows,
    className: "side-by-side",
  });
}

/** @param {VersionDetails[]} pair @param {Deployment | undefined} now */
function drawFacts(pair, now) {
  const roles = (/** @type {VersionDetails} */ it) =>
    (now && rolesOf(it.model_version, now).join(", ")) || "registered";
  /** @type {[string, (it: VersionDetails) => string][]} */
  const facts = [
    ["Role", roles],
    ["Size", (it) => `${count(it.bytes)} bytes`],
    ["Class", (it) => it.class ?? "–"],
    ["Registered by", (it) => (it.built_in ? "built in" : (it.registered_by ?? "–"))],
    ["Registered", (it) => dateAndTime(new Date(it.registered_at))],
    ["Signed by", (it) => it.signature?.signed_by ?? "nobody"],
    ["sha256", (it) => it.sha256.slice(0, 16)],
  ];
  const heads = ["Fact", ...pair.map((it) => version(it.model_version))];
  const rows = facts.map(([name, of]) => [name, ...pair.map(of)]);
  return table({ label: "The versions", heads, rows, className: "side-by-side" });
}

/** Versions are compared with the champion of a deployment. @param {VersionDetails[]} pair @param {Report | undefined} report */
function drawAgreement(pair, report) {
  const names = pair.map((it) => it.model_version);
  const challenger = report?.challengers.find((it) => names.includes(it.version));
  if (!report || !challenger || !names.includes(report.champion) || challenger.version === report.champion) {
    return h(
      "p",
      "They were not compared in the last trial. To compare them, deploy one as champion and the other as its canary or shadow.",
    );
  }
  const { compared, flip } = challenger;
  if (compared === 0 || !flip) return h("p", "Nothing has been compared yet.");
  const same = {
    count: flip.of - flip.count,
    of: flip.of,
    share: 1 - flip.share,
    low: 1 - flip.high,
    high: 1 - flip.low,
  };
  return h(
    "p",
    `Under change ${report.epoch}, both gave the same class to `,
    h("strong", interval(same)),
    ` of ${count(compared)} requests, with the 95% confidence interval; answers in a different class: ${count(flip.count)}.`,
  );
}

/** @param {GateReport | null} report @param {string} name */
function found(report, name) {
  const check = report?.checks.find((it) => it.name === name);
  return check ? `${check.outcome}${check.detail ? `: ${check.detail}` : ""}` : "not checked";
}

/** @param {VersionDetails[]} pair */
function drawGates(pair) {
  const builtIn = pair.filter((it) => !it.report).map((it) => it.model_version);
  if (builtIn.length > 0) {
    return h("p", sentence(list(builtIn)), " passed the program’s own tests instead, so there is nothing to compare.");
  }
  const names = [...new Set(pair.flatMap((it) => it.report?.checks.map((check) => check.name ?? "") ?? []))];
  const rows = names.map((name) => [
    h("code", name),
    ...both(found(pair[0].report, name), found(pair[1].report, name), "words"),
  ]);
  return sideBySide(pair, "The gate’s checks", "Check", rows);
}

/** @param {VersionDetails[]} pair @param {string} title @param {string} column */
function drawColumn(pair, title, column) {
  const [one, two] = pair.map(
    (it) =>
      tablesOf(it.card ?? "")
        .get(title)
        ?.get(column) ?? new Map(),
  );
  const names = [...new Set([...one.keys(), ...two.keys()])];
  const rows = names.map((name) => [name, ...both(one.get(name) ?? "–", two.get(name) ?? "–", "number")]);
  const differing = names.filter((name) => one.get(name) !== two.get(name)).length;
  return [
    h("h4", column === "" ? title : `${title}: ${column}`),
    h("p.hint", `Rows that differ: ${differing} of ${names.length}.`),
    sideBySide(pair, `${title}: ${column}`, "Row", rows),
  ];
}

/** The weights first. @param {VersionDetails[]} pair */
function drawCards(pair) {
  const without = pair.filter((it) => !it.card).map((it) => it.model_version);
  if (without.length > 0) {
    return h(
      "p",
      without.map((name, at) => [at > 0 && " and ", version(name)]),
      " came without a card, so weights and results cannot be compared.",
    );
  }
  const columns = pair.map((it) =>
    [...tablesOf(it.card ?? "")].flatMap(([title, all]) => [...all.keys()].map((name) => [title, name])),
  );
  const shared = columns[0].filter(([title, name]) => columns[1].some((it) => it[0] === title && it[1] === name));
  const isWeight = (/** @type {string[]} */ [title]) => /coefficient|weight/i.test(title);
  const sorted = [...shared.filter(isWeight), ...shared.filter((it) => !isWeight(it))];
  if (sorted.length === 0) return h("p", "Their cards have no table in common.");
  return sorted.map(([title, name], at) => {
    const drawn = drawColumn(pair, title, name);
    // Weights are what people come for.
    return isWeight(sorted[at]) ? drawn : h("details", h("summary", `${title}: ${name}`), drawn);
  });
}

/**
 * @param {string} kind @param {string[]} names @param {Deployment | undefined} now @param {Loaded<Report> | undefined} part
 */
export function openComparison(kind, names, now, part) {
  openReading({ eyebrow: kindOf(kind).name, title: "Compare versions" }, async () => {
    const pair = await Promise.all(names.map((name) => api.version(kind, name)));
    return [
      drawFacts(pair, now),
      h("h3", "Agreement"),
      drawAgreement(pair, part?.data),
      h("h3", "Weights and results"),
      drawCards(pair),
      h("h3", "The gate’s report"),
      drawGates(pair),
    ];
  });
}

/** Which two to compare. @param {string[]} names */
export function drawComparisonChoice(names) {
  if (names.length < 2) return null;
  const options = () => names.map((name) => h("option", { value: name, "data-key": name }, name));
  const select = (/** @type {string} */ id, /** @type {string} */ label) => [
    h("label", { for: id }, label),
    h("select", { id }, options()),
  ];
  return h(
    "p.choose",
    select("compare-one", "Compare"),
    select("compare-two", "with"),
    h("button", { type: "button", "data-compare": true }, "Compare"),
  );
}
