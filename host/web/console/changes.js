// Every change that the console can make: its effects in plain words, and what is sent. A PUT replaces the whole
// deployment, so whatever is to stay has to be sent again.

/** @import { Canary, Change, Deployment, NumberField, Seen } from "./types.js" */
import * as api from "./api.js";
import { kindOf, SHADOWS_MAX, setbackOf } from "./kinds.js";
import { hasOther, uncompared } from "./record.js";
import { abortRollout, pauseRollout, resumeRollout, startRollout } from "./rollout-changes.js";
import { list, percent } from "./words.js";

/** A new canary starts small, and is withdrawn when one answer in ten differs. */
const PERCENT = {
  name: "percent",
  label: "Share of users",
  hint: "Percent, 1 to 99. A user always gets the same version.",
  min: 1,
  max: 99,
  value: 5,
};
const MAX_FLIP_PERCENT = {
  name: "max_flip_percent",
  label: "Withdraw above",
  hint: "Percent, 1 to 100, of answers in a different class from the champion’s.",
  min: 1,
  max: 100,
  value: 10,
};

const ON_EVERY_HOST = "on every host, once it is loaded there";
const IN_FLIGHT = "Requests in flight finish with the version they started with.";

/** @param {number} count */
const s = (count) => (count === 1 ? "" : "s");

/** The challengers besides a version. @param {Deployment} now @param {string} version */
function others(now, version) {
  return {
    canary: now.canary?.version === version ? null : now.canary,
    shadows: now.shadows.filter((shadow) => shadow !== version),
  };
}

/**
 * @param {Deployment} now @param {{ champion?: string, canary?: Canary | null, shadows?: string[] }} wanted
 * @param {string} reason
 */
function put(now, wanted, reason) {
  const { champion, canary, shadows } = { ...now, ...wanted };
  const running = now.canary?.version;
  // The effects say so.
  const ends = running && canary?.version !== running && champion !== running;
  const isInSpite = champion !== now.champion && champion !== null && setbackOf(champion, now) !== undefined;
  return api.deploy(now.kind, now.etag, {
    champion,
    canary,
    shadows,
    reason,
    ...(ends && { ends_canary: running }),
    ...(isInSpite && { despite_setback: champion }),
  });
}

/** Sentences, without those that do not apply. @param {(string | false | null)[]} lines */
const sentences = (...lines) => lines.filter((it) => typeof it === "string");

/** Whether it was compared, or answered everyone before. @param {Deployment} now @param {string} version @param {Seen} seen */
const isProven = (now, version, { past, report }) =>
  now.previous === version ||
  past.some((it) => it.champion === version || it.previous === version) ||
  report?.challengers.some((it) => it.version === version && it.compared > 0);

/** @param {Deployment} now @param {string} version @param {Seen} seen @returns {Change} */
function promote(now, version, seen, keeps = true) {
  const { request, hasCanaries } = kindOf(now.kind);
  const rest = others(now, version);
  const kept = keeps && hasCanaries && rest.shadows.length < SHADOWS_MAX ? now.champion : null;
  const setback = setbackOf(version, now);
  const isUnproven = hasCanaries && !isProven(now, version, seen);
  const scope = rest.canary ? ", except those of the canary’s users" : hasCanaries ? "" : ", for all users at once";
  return {
    title: "Promote to champion",
    verb: "Promote",
    fields: [],
    about: [version],
    setback,
    inSpite: setback
      ? `Promote ${version} anyway`
      : isUnproven
        ? `Promote ${version}, which was ${uncompared(version, now, seen.past)}`
        : undefined,
    effects: () =>
      sentences(
        `${version} will ${hasCanaries ? "answer" : "decide"} every ${request} ${ON_EVERY_HOST}${scope}.`,
        !hasCanaries &&
          "If it fails, transfers are refused until you roll back or replace it: older rules do not take over automatically.",
        now.champion &&
          (hasCanaries
            ? `${now.champion} stays warm: it answers whenever ${version} fails, and a rollback returns to it.`
            : `${now.champion} stays warm, and a rollback returns to it.`),
        now.canary?.version === version && `${version} is no longer the canary: it answers everyone.`,
        now.shadows.includes(version) && `${version} is no longer a shadow.`,
        rest.canary && `${rest.canary.version} remains the canary for ${percent(rest.canary.percent)} of users.`,
        kept && `For a day ${kept} is also a shadow: you see what it would have answered.`,
        rest.shadows.length > 0 &&
          `${list(rest.shadows)} will be compared with it, as shadow${s(rest.shadows.length)}.`,
        IN_FLIGHT,
      ),
    send: (_, reason) => {
      const shadows = kept ? [...rest.shadows, kept] : rest.shadows;
      return put(now, { champion: version, ...rest, shadows }, reason);
    },
    done: () => `${version} is the champion.`,
  };
}

/** Returns to the champion before, and promotes no challenger. @param {Deployment} now @param {string} _ @param {Seen} seen @returns {Change} */
function rollBack(now, _, { past }) {
  const { request, hasCanaries } = kindOf(now.kind);
  const { champion, rollback_to: target } = now;
  const removed = now.shadows.filter((it) => it !== target);
  const isOnlyTrial = target === champion;
  const setback = isOnlyTrial || !target ? undefined : setbackOf(target, now);
  return {
    title: "Roll back",
    verb: "Roll back",
    fields: [],
    // What it returns to, and what it leaves.
    about: isOnlyTrial ? [champion, now.canary?.version] : [target, champion],
    setback,
    inSpite: setback && `Return to ${target} anyway`,
    effects: () =>
      sentences(
        isOnlyTrial
          ? `${champion} goes on answering everyone${hasOther(now, past) ? "" : ", because no other version served before it"}.`
          : `${target} will ${hasCanaries ? "answer" : "decide"} every ${request} ${ON_EVERY_HOST}.`,
        !isOnlyTrial && `${champion} stays warm, but does not answer if ${target} fails.`,
        !isOnlyTrial && now.canary && `To end only the canary, and keep ${champion}, stop the canary instead.`,
        now.canary && `The canary ${now.canary.version} ends: it answers nobody and is not promoted.`,
        removed.length > 0 &&
          `The shadow${s(removed.length)} ${list(removed)} ${removed.length === 1 ? "is" : "are"} removed.`,
        IN_FLIGHT,
      ),
    send: (_, reason) => {
      const named = { from: champion, to: target, reason };
      return api.rollBack(now.kind, now.etag, setback && target ? { ...named, despite_setback: target } : named);
    },
    done: () =>
      isOnlyTrial
        ? `The trial has ended: ${champion} answers everyone.`
        : `Rolled back: ${target} is the champion again.`,
  };
}

/** Starts a canary or changes its share. @param {Deployment} now @param {string} version @returns {Change} */
function canary(now, version) {
  const { request } = kindOf(now.kind);
  const current = now.canary?.version === version ? now.canary : null;
  const rest = others(now, version);
  /** @param {NumberField} field @param {number | null | undefined} value */
  const withValue = (field, value) => ({ ...field, value: value ?? field.value });
  return {
    title: current ? "Change the canary" : "Start a canary",
    verb: current ? "Change canary" : "Start canary",
    fields: [withValue(PERCENT, current?.percent), withValue(MAX_FLIP_PERCENT, current?.max_flip_percent)],
    setback: current ? undefined : setbackOf(version, now),
    effects: ({ percent: share, max_flip_percent: limit }) =>
      sentences(
        `${version} will answer the ${request}s of ${share ? percent(share) : "some"} of users ${ON_EVERY_HOST}${
          current ? `, instead of the current ${percent(current.percent)}` : ""
        }.`,
        `${now.champion} continues to answer all other users.`,
        `${version} is withdrawn automatically, and ${now.champion} answers everyone, if it fails for three users, or if ${
          limit ? `significantly more than ${percent(limit)}` : "too many"
        } of at least 200 answers fall into a different class from the champion’s.`,
        rest.canary && `${rest.canary.version} is no longer the canary and serves no traffic.`,
        now.shadows.includes(version) && `${version} is no longer a shadow.`,
      ),
    send: ({ percent, max_flip_percent }, reason) =>
      put(now, { canary: { version, percent, max_flip_percent }, shadows: rest.shadows }, reason),
    done: ({ percent: share }) => `${version} answers ${percent(share)} of users.`,
  };
}

/** @param {Deployment} now @returns {Change} */
function stopCanary(now) {
  const { request } = kindOf(now.kind);
  return {
    title: "Stop the canary",
    verb: "Stop canary",
    fields: [],
    effects: () => [
      `${now.canary?.version} will no longer answer anyone; it stays registered.`,
      `${now.champion} will answer every ${request} on every host within about a second.`,
    ],
    send: (_, reason) => put(now, { canary: null }, reason),
    done: () => `The canary is stopped: ${now.champion} answers everyone.`,
  };
}

/** @param {Deployment} now @param {string} version @returns {Change} */
function addShadow(now, version) {
  const { request, hasCanaries } = kindOf(now.kind);
  const rest = others(now, version);
  return {
    title: "Add a shadow",
    verb: "Add shadow",
    fields: [],
    effects: () =>
      sentences(
        `${version} will ${hasCanaries ? "score" : "decide"} every ${request} too, after it has been answered. Its answers are only compared, never used.`,
        "Under load, some comparisons are dropped and counted; answers never wait for them.",
        now.canary?.version === version && `${version} is no longer the canary: ${now.champion} answers everyone.`,
      ),
    send: (_, reason) => put(now, { canary: rest.canary, shadows: [...rest.shadows, version] }, reason),
    done: () => `${version} is a shadow.`,
  };
}

/** @param {Deployment} now @param {string} version @returns {Change} */
function removeShadow(now, version) {
  return {
    title: "Remove a shadow",
    verb: "Remove shadow",
    fields: [],
    effects: () => [`${version} will no longer be compared; it stays registered.`, "Nothing changes for users."],
    send: (_, reason) => put(now, { shadows: others(now, version).shadows }, reason),
    done: () => `${version} is no longer a shadow.`,
  };
}

/** A version has one role, and a rollout makes it the canary. @param {Deployment} now @param {string} version @param {Seen} seen @returns {Change} */
function rollOut(now, version, seen) {
  if (!now.shadows.includes(version)) return startRollout(now, version, seen);
  const first = removeShadow(now, version);
  const effects = () => [...first.effects({}), "Then you choose the steps of its rollout, in another change."];
  return { ...first, title: "Before the rollout: remove the shadow", effects, next: "rollout" };
}

/**
 * The effects of what somebody proposed, in the words that they read.
 * @param {{ versions?: any, rollout?: any }} action @param {Deployment} now @param {Seen} seen
 */
export function effectsOf({ versions, rollout }, now, seen) {
  if (rollout) {
    // The last step is everyone.
    const values = { steps: rollout.steps.slice(0, -1), max_flip_percent: rollout.maxFlipPercent };
    return startRollout(now, rollout.canary, seen).effects(values);
  }
  const { champion, canary, shadows, endsCanary, cutOffs } = versions;
  const levels = cutOffs
    ? [
        `A risk is medium from ${cutOffs.after.medium_from} and high from ${cutOffs.after.high_from}, whichever version answers.`,
      ]
    : [];
  if (champion === now.champion) {
    const isTrial = canary && !(cutOffs && canary.version === now.canary?.version);
    return [...levels, ...(isTrial ? CHANGES.canary(now, canary.version, seen).effects(canary) : [])];
  }
  const others = shadows.filter((/** @type {string} */ it) => it !== now.champion);
  const isKept = others.length < shadows.length;
  const promoted = promote({ ...now, canary, shadows: others }, champion, seen, isKept).effects({});
  return [
    ...promoted,
    ...levels,
    ...sentences(endsCanary && `${endsCanary} is no longer the canary and serves no traffic.`),
  ];
}

/** By the name that a button carries. @type {Record<string, (now: Deployment, version: string, seen: Seen) => Change>} */
export const CHANGES = {
  promote,
  "roll-back": rollBack,
  canary,
  "stop-canary": stopCanary,
  "add-shadow": addShadow,
  "remove-shadow": removeShadow,
  rollout: rollOut,
  "pause-rollout": pauseRollout,
  "resume-rollout": resumeRollout,
  "abort-rollout": abortRollout,
};
