// Whether the answers became others after a change: the share of each class, and the slowest answers, before and after it.

/** @import { Deployment, Traffic } from "./types.js" */
import { micros, share } from "./words.js";

/** Fewer answers say little. */
const ANSWERS_MIN = 100;
/** In standard errors: one notice in some ten thousand is chance. */
const ERRORS_MIN = 4;
const RATIO_MIN = 1.5;
/** A class that is given often need not become half as frequent. */
const SHIFT_MIN = 0.1;
const SLOWER_MIN = 2;
/** Faster is fast enough. */
const SLOW_US_MIN = 1_000;

/** @param {Traffic} data @param {number[]} steps */
function sumOf({ versions, classes }, steps) {
  const pairs = versions.flatMap((it) => steps.map((step) => ({ it, step })));
  const counts = classes.map((_, level) => pairs.reduce((sum, { it, step }) => sum + it.classes[level][step], 0));
  const given = counts.reduce((sum, it) => sum + it, 0);
  const timed = pairs.filter(({ it, step }) => it.p99_us[step] !== null);
  const answers = timed.reduce((sum, { it, step }) => sum + it.answered[step], 0);
  const time = timed.reduce((sum, { it, step }) => sum + Number(it.p99_us[step]) * it.answered[step], 0);
  return { counts, given, p99: answers >= ANSWERS_MIN ? time / answers : null };
}

/** The latest change of what answers. @param {Deployment[]} history newest first */
function changeIn(history) {
  const answering = (/** @type {Deployment} */ it) => `${it.champion} ${it.canary?.version} ${it.canary?.percent}`;
  return history.find((it, at) => {
    const before = history[at + 1];
    return before ? answering(it) !== answering(before) : it.champion !== it.previous;
  });
}

/**
 * What jumped after the latest change, in words.
 * @param {Traffic} data @param {Deployment[]} history newest first @returns {{ change: Deployment, lines: string[] } | null}
 */
export function jumpIn(data, history) {
  const change = changeIn(history);
  if (!change?.changed_at) return null;
  const at = (Date.parse(change.changed_at) - Date.parse(data.from)) / 1_000 / data.step_seconds;
  const steps = Array.from({ length: data.steps }, (_, step) => step);
  // The step of the change itself is of both.
  const [before, after] = [steps.filter((it) => it + 1 <= at), steps.filter((it) => it > at)].map((some) =>
    sumOf(data, some),
  );
  const lines = data.classes.flatMap((name, level) => {
    if (Math.min(before.given, after.given) < ANSWERS_MIN) return [];
    const [was, is] = [before, after].map((it) => it.counts[level] / it.given);
    const all = (before.counts[level] + after.counts[level]) / (before.given + after.given);
    const error = Math.sqrt(all * (1 - all) * (1 / before.given + 1 / after.given));
    const isLarge = Math.abs(is - was) > SHIFT_MIN || Math.max(was, is) > RATIO_MIN * Math.min(was, is);
    return isLarge && Math.abs(is - was) > ERRORS_MIN * error
      ? [`“${name}”: ${share(was)} of answers before, ${share(is)} after.`]
      : [];
  });
  if (before.p99 && after.p99 && after.p99 > SLOW_US_MIN && after.p99 > SLOWER_MIN * before.p99) {
    lines.push(`Time per answer, p99: ${micros(before.p99)} before, ${micros(after.p99)} after.`);
  }
  return lines.length > 0 ? { change, lines } : null;
}
