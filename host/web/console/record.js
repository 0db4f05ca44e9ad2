// What the history says of a version: when it was the champion, what replaced it, and what it was compared with. All
// histories are newest first.

/** @import { Challenger, Deployment, Report } from "./types.js" */
import { count, share } from "./words.js";

/** As long as the service keeps a champion that was replaced as a shadow. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/** The changes with one champion up to the latest; the last of them made it the champion. @param {Deployment[]} past */
export function reign(past) {
  const end = past.findIndex((it) => it.champion !== past[0].champion);
  return end === -1 ? past : past.slice(0, end);
}

/** Whether no change is missing. @param {Deployment[]} past @param {Deployment} now */
export const isWhole = (past, now) => (past.length > 0 ? past[past.length - 1].epoch === 1 : now.epoch === 0);

/** The champion before, unless the present one came by a rollback. @param {Deployment[]} past */
function former(past) {
  const changes = reign(past);
  const promotion = changes.at(-1);
  const version = past[changes.length]?.champion ?? promotion?.previous;
  return promotion?.fallback && version && version !== promotion.champion ? { version, promotion, changes } : null;
}

/** The champion before, while the service keeps it as a shadow, and until when. @param {Deployment} now @param {Deployment[]} past */
export function keptIn(now, past) {
  const it = past[0]?.epoch === now.epoch ? former(past) : null;
  if (!it?.promotion.changed_at || !it.changes.every(({ shadows }) => shadows.includes(it.version))) return null;
  return { version: it.version, until: new Date(Date.parse(it.promotion.changed_at) + KEPT_MS).toISOString() };
}

/** The shadow of a report that was the champion before its champion. @param {Report} report @param {Deployment[]} past */
export function formerIn(report, past) {
  const then = past.filter((it) => it.epoch <= report.epoch);
  const it = then[0]?.epoch === report.epoch ? former(then) : null;
  return report.challengers.find(({ role, version }) => role === "shadow" && version === it?.version);
}

/** How the champion's answers differ from those of the champion before. @param {Challenger} it @param {Report} report */
export function sinceFormer({ version, classes, flips, flip_share: part, compared }, report) {
  if (compared === 0) return `Nothing has been compared with ${version}, the champion before, yet.`;
  const cells = flips.flatMap((row, is) => row.map((answers, was) => ({ is, was, answers })));
  const sum = (/** @type {(it: { is: number, was: number }) => boolean} */ isOf) =>
    count(cells.filter(isOf).reduce((all, { answers }) => all + answers, 0));
  const high = classes.indexOf("high");
  const risen = `: stricter ${sum(({ is, was }) => is > was)}, milder ${sum(({ is, was }) => is < was)}; ${sum(
    ({ is, was }) => was === high && is !== high,
  )} of ${sum(({ was }) => was === high)} are no longer high`;
  const since = report.current ? "Since" : "Under";
  return `${since} change ${report.epoch}, ${report.champion} gives another class than ${version} in ${share(part)}${high < 0 ? "" : risen}.`;
}

/** Whether another version than the champion ever answered everyone. @param {Deployment} now @param {Deployment[]} past */
export const hasOther = (now, past) =>
  [now, ...past].some((it) => [it.champion, it.previous].some((name) => name && name !== now.champion));

/** Why a version is no proven one. @param {string} name @param {Deployment} now @param {Deployment[]} past */
export function uncompared(name, now, past) {
  const wereCompared = past.some((it) => {
    const names = [it.champion, it.canary?.version, ...it.shadows];
    return [name, now.champion].every((one) => names.includes(one) && [name, now.champion].includes(it.champion));
  });
  return wereCompared || !isWhole(past, now)
    ? "not compared in the latest trial"
    : `never compared with ${now.champion}`;
}
