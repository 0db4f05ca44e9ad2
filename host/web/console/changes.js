// Every change that can be made here: what it does in plain words, and what is sent. No drawing.
//
// A change is {title, verb, fields, says(values), send(values, reason), done(values)}. `says` gives the
// sentences that the operator confirms, so each must be true of what `send` sends. A PUT replaces all of
// a deployment: whatever is to stay has to be sent again.

import * as api from "./api.js";
import { kindOf } from "./kinds.js";
import { list, percent } from "./words.js";

const PERCENT = {
  name: "percent",
  label: "Share of users",
  hint: "Percent, 1 to 99. The same user always gets the same version.",
  min: 1,
  max: 99,
};
const MAX_FLIP_PERCENT = {
  name: "max_flip_percent",
  label: "Withdraw it by itself above",
  hint: "Percent of its answers, 1 to 100, that fall into another class than the champion’s.",
  min: 1,
  max: 100,
};
/** Proposed for a new canary: few people at first, and gone when one answer in ten differs. */
const FIRST_PERCENT = 5;
const FIRST_MAX_FLIP_PERCENT = 10;

const everyHost = "on every host within about a second";

function others(now, version) {
  return {
    canary: now.canary && now.canary.version !== version ? now.canary : null,
    shadows: now.shadows.filter((shadow) => shadow !== version),
  };
}

function put(now, wanted, reason) {
  const { champion, canary, shadows } = { ...now, ...wanted };
  return api.deploy(now.kind, now.etag, { champion, canary, shadows, reason });
}

const plural = (shadows) => (shadows.length > 1 ? "s" : "");

/** A version becomes champion. */
function promote(now, version) {
  const { request, hasChallengers } = kindOf(now.kind);
  const rest = others(now, version);
  const says = () => {
    const lines = [];
    if (rest.canary) {
      lines.push(`${version} will answer every ${request} ${everyHost}, but for the canary’s users.`);
    } else if (hasChallengers) {
      lines.push(`${version} will answer every ${request} ${everyHost}.`);
    } else {
      lines.push(`${version} will decide every ${request} ${everyHost}, for everybody at once.`);
      lines.push("If it fails, transfers are refused until it is mended: no older rules step in by themselves.");
    }
    if (now.champion && hasChallengers) {
      lines.push(`${now.champion} stays warm: it answers where ${version} fails, and a rollback returns to it.`);
    } else if (now.champion) {
      lines.push(`${now.champion} stays warm, and a rollback returns to it.`);
    }
    if (now.canary?.version === version) lines.push(`${version} is the canary no longer: it answers everybody.`);
    if (now.shadows.includes(version)) lines.push(`${version} is a shadow no longer.`);
    if (rest.canary) {
      lines.push(`${rest.canary.version} goes on as the canary for ${percent(rest.canary.percent)} of users.`);
    }
    if (rest.shadows.length > 0)
      lines.push(`${list(rest.shadows)} will be compared with it, as shadow${plural(rest.shadows)}.`);
    lines.push("Requests under way finish with the version that they began with.");
    return lines;
  };
  return {
    title: "Promote to champion",
    verb: "Promote",
    fields: [],
    says,
    send: (_, reason) => put(now, { champion: version, ...rest }, reason),
    done: () => `${version} is the champion.`,
  };
}

/** Champion and previous change places. */
function rollBack(now) {
  const { request, hasChallengers } = kindOf(now.kind);
  const ending = [];
  if (now.canary) ending.push(`The canary ${now.canary.version} ends.`);
  if (now.shadows.length > 0)
    ending.push(`The shadow${plural(now.shadows)} ${list(now.shadows)} end${now.shadows.length > 1 ? "" : "s"}.`);
  return {
    title: "Roll back",
    verb: "Roll back",
    fields: [],
    says: () => [
      `${now.previous} will ${hasChallengers ? "answer" : "decide"} every ${request} ${everyHost}.`,
      `${now.champion} stays warm, and another rollback returns to it.`,
      ...ending,
      "Requests under way finish with the version that they began with.",
    ],
    send: (_, reason) => api.rollBack(now.kind, now.etag, reason),
    done: () => `Rolled back: ${now.previous} is the champion again.`,
  };
}

/** A version answers some users, or another share of them. */
function canary(now, version) {
  const { request } = kindOf(now.kind);
  const present = now.canary?.version === version ? now.canary : null;
  const rest = others(now, version);
  const says = ({ percent: some, max_flip_percent: limit }) => {
    const lines = [
      `${version} will answer the ${request}s of ${some ? percent(some) : "some"} of users ${everyHost}${
        present ? `, instead of ${percent(present.percent)} as now` : ""
      }.`,
      `${now.champion} goes on answering everybody else.`,
      `${version} is withdrawn by itself, and ${now.champion} answers everybody, when it fails three times, or when ${
        limit ? `more than ${percent(limit)}` : "too many"
      } of at least 200 answers fall into another class than the champion’s.`,
    ];
    if (rest.canary) lines.push(`${rest.canary.version} is the canary no longer, and answers nobody.`);
    if (now.shadows.includes(version)) lines.push(`${version} is a shadow no longer.`);
    return lines;
  };
  return {
    title: present ? "Change the canary" : "Start a canary",
    verb: present ? "Change canary" : "Start canary",
    fields: [
      { ...PERCENT, value: present?.percent ?? FIRST_PERCENT },
      { ...MAX_FLIP_PERCENT, value: present?.max_flip_percent ?? FIRST_MAX_FLIP_PERCENT },
    ],
    says,
    send: (values, reason) => put(now, { canary: { version, ...values }, shadows: rest.shadows }, reason),
    done: (values) => `${version} answers ${percent(values.percent)} of users.`,
  };
}

/** The canary answers nobody. */
function stopCanary(now) {
  const { request } = kindOf(now.kind);
  return {
    title: "Stop the canary",
    verb: "Stop canary",
    fields: [],
    says: () => [
      `${now.canary.version} will answer nobody any more; it stays registered.`,
      `${now.champion} will answer every ${request} ${everyHost}.`,
    ],
    send: (_, reason) => put(now, { canary: null }, reason),
    done: () => `The canary is stopped: ${now.champion} answers everybody.`,
  };
}

/** A version is asked too, and answers nobody. */
function addShadow(now, version) {
  const { request } = kindOf(now.kind);
  const rest = others(now, version);
  const says = () => {
    const lines = [
      `${version} will be asked every ${request} too, after the answer has been given. Nobody gets its answers: they are only compared.`,
      "If there is more to compare than there is time for, comparisons are dropped and counted; answers never wait.",
    ];
    if (now.canary?.version === version)
      lines.push(`${version} is the canary no longer: ${now.champion} answers everybody.`);
    return lines;
  };
  return {
    title: "Add a shadow",
    verb: "Add shadow",
    fields: [],
    says,
    send: (_, reason) => put(now, { canary: rest.canary, shadows: [...rest.shadows, version] }, reason),
    done: () => `${version} is a shadow.`,
  };
}

/** A shadow is asked no more. */
function removeShadow(now, version) {
  return {
    title: "Remove a shadow",
    verb: "Remove shadow",
    fields: [],
    says: () => [
      `${version} will not be asked and compared any more; it stays registered.`,
      "What users get does not change.",
    ],
    send: (_, reason) => put(now, { shadows: others(now, version).shadows }, reason),
    done: () => `${version} is a shadow no longer.`,
  };
}

/** By the name that a button carries. */
export const CHANGES = {
  promote,
  "roll-back": rollBack,
  canary,
  "stop-canary": stopCanary,
  "add-shadow": addShadow,
  "remove-shadow": removeShadow,
};
