// What an operator can do with a rollout: its effects in plain words, and what is sent.

/** @import { Change, Deployment, Seen } from "./types.js" */
import * as api from "./api.js";
import { kindOf, setbackOf } from "./kinds.js";
import { interval, percent } from "./words.js";

const FIELDS = [
  {
    name: "steps",
    label: "Shares of users",
    hint: "Percent, each larger than the one before; at 0 it is compared on all requests and answers nobody. Up to ten steps; the last one is everyone.",
    min: 0,
    max: 99,
    value: "0,5,25",
    isSteps: true,
  },
  {
    name: "step_decisions",
    label: "Decisions per step",
    hint: "Minimum decisions by the canary before the next step, one of each user.",
    min: 1,
    max: 10_000_000,
    value: 500,
    unit: "",
  },
  {
    name: "minutes",
    label: "Time per step",
    hint: "Minimum time before the next step, up to 30 days.",
    min: 0,
    max: 43_200,
    value: 10,
    unit: "min",
  },
  {
    name: "max_failure_percent",
    label: "Max failed",
    hint: "Percent of the canary’s decisions that may fail.",
    min: 1,
    max: 100,
    value: 1,
  },
  {
    name: "max_flip_percent",
    label: "Max changed class",
    hint: "Percent of compared answers that may differ in class from the champion’s. Of a risk, half as many may be in a lower class, and a quarter go from high to low.",
    min: 1,
    max: 100,
    value: 10,
  },
];

/** What was measured so far, if it is worse than the bound. @param {Seen} seen @param {string} version @param {number} limit */
function warning({ report }, version, limit) {
  const flip = report?.challengers.find((it) => it.version === version && it.compared > 0)?.flip;
  if (!flip || !(flip.share * 100 > limit)) return [];
  const outcome = flip.low * 100 > limit ? "the rollout will stop" : "the rollout may stop";
  return [`So far ${interval(flip)} of its answers changed class, above the ${percent(limit)} allowed: ${outcome}.`];
}

/** @param {Deployment} now @param {string} version @param {Seen} seen @returns {Change} */
export function startRollout(now, version, seen) {
  const { request } = kindOf(now.kind);
  const running = now.canary && now.canary.version !== version ? now.canary.version : null;
  const setback = setbackOf(version, now);
  return {
    title: "Roll out",
    verb: "Start rollout",
    fields: FIELDS,
    about: [version],
    setback,
    inSpite: setback && `Roll ${version} out to everyone anyway`,
    effects: ({ steps, max_flip_percent: limit }) => [
      ...warning(seen, version, limit),
      ...(steps?.[0] === 0
        ? [`At first, ${version} is compared on every ${request}, after it has been answered.`]
        : []),
      `${version} will answer the ${request}s of ${
        steps
          ?.filter((/** @type {number} */ it) => it > 0)
          .map(percent)
          .join(", then of ") || "some"
      } of users, then of everyone. It then becomes the champion with no further confirmation.`,
      "Each step ends only after enough decisions and time, and once failures and flips are certainly below the bounds.",
      `If a bound is violated, ${version} is withdrawn from all users, and ${now.champion} answers everyone.`,
      ...(now.kind === "risk" ? ["Where two operators are required, the last step waits for an approval."] : []),
      ...(running ? [`${running} is no longer the canary and serves no traffic.`] : []),
    ],
    send: ({ steps, minutes, ...bounds }, reason) =>
      api.startRollout(now.kind, now.etag, {
        canary: version,
        steps: [...steps, 100],
        step_seconds: minutes * 60,
        ...bounds,
        reason,
        ...(running && { ends_canary: running }),
        ...(setback && { despite_setback: version }),
      }),
    done: ({ steps }) =>
      `The rollout has begun: ${version} ${steps[0] === 0 ? "is compared" : `answers ${percent(steps[0])} of users`}.`,
  };
}

/** @param {Deployment} now @param {string} version @returns {Change} */
export function pauseRollout(now, version) {
  const share = now.canary?.percent;
  return {
    title: "Pause the rollout",
    verb: "Pause rollout",
    fields: [],
    keepsDeployment: true,
    effects: () => [
      `${version} stays at ${percent(share)} of users until you resume.`,
      "If a bound is violated in the meantime, the canary is still withdrawn, unless the rollout only pauses.",
    ],
    send: (_, reason) => api.orderRollout(now.kind, "pause", reason),
    done: () => `The rollout is paused at ${percent(share)} of users.`,
  };
}

/** @param {Deployment} now @param {string} version @returns {Change} */
export function resumeRollout(now, version) {
  return {
    title: "Resume the rollout",
    verb: "Resume rollout",
    fields: [],
    keepsDeployment: true,
    effects: () => [
      `${version} will move on to more users as soon as the evidence supports it.`,
      "Evidence gathered during the pause counts.",
    ],
    send: (_, reason) => api.orderRollout(now.kind, "resume", reason),
    done: () => "The rollout has resumed.",
  };
}

/** @param {Deployment} now @param {string} version @returns {Change} */
export function abortRollout(now, version) {
  return {
    title: "Abort the rollout",
    verb: "Abort rollout",
    fields: [],
    effects: () => [
      `${version} will no longer answer anyone; it stays registered.`,
      `${now.champion} will answer everyone, on every host within about a second.`,
    ],
    send: (_, reason) => api.orderRollout(now.kind, "abort", reason),
    done: () => `The rollout is aborted: ${now.champion} answers everyone.`,
  };
}
