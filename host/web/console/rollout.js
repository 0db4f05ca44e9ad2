// A rollout: which share of the users its canary answers, what was seen of it, and what keeps it from the next step.

/** @import { Child } from "../shared/dom.js" */
/** @import { Loaded, Rollout } from "./types.js" */
import { h } from "../shared/dom.js";
import { badge } from "./kinds.js";
import { drawFailure } from "./problems.js";
import { changeButton } from "./service.js";
import { fact, note, table } from "./table.js";
import { count, duration, interval, percent, sentence, version, when } from "./words.js";

/** @type {Record<string, string>} */
const STATES = {
  running: "● running",
  paused: "❚❚ paused",
  waiting: "● waiting for a second operator",
  completed: "✓ completed",
  stopped: "✕ stopped",
  aborted: "✕ aborted by an operator",
  replaced: "✕ replaced by another deployment",
};

/** @param {Rollout | undefined} it */
export const isOpen = (it) => it !== undefined && ["running", "paused", "waiting"].includes(it.state);

/** Each step by its share, and in words whether it is over. @param {Rollout} it */
function drawSteps(it) {
  const steps = it.steps.map((share, at) => {
    const isNow = at === it.step;
    const word = at < it.step || it.state === "completed" ? "done" : isNow ? "now" : "to come";
    return h(
      "li",
      { class: word.split(" ")[0], "aria-current": isNow && isOpen(it) ? "step" : null },
      h("strong", percent(share)),
      ` ${word}`,
    );
  });
  return h("ol.steps", { "aria-label": "Steps" }, steps);
}

/** @param {Rollout} it @param {boolean} mayChange */
function drawOpen(it, mayChange) {
  const { evidence: seen, canary } = it;
  const name = canary ?? "";
  return h(
    "div.rollout",
    h("p.named", badge("canary"), version(name), h("strong.state", STATES[it.state])),
    drawSteps(it),
    seen &&
      h(
        "dl.facts",
        fact("Decisions at this step", count(seen.decisions), note(`of ${count(it.step_decisions)}, one of each user`)),
        fact("Failed", interval(seen.failures), note(`at most ${percent(it.max_failure_percent)}`)),
        fact("Changed class", interval(seen.flips), note(`at most ${percent(it.max_flip_percent)}`)),
        it.kind === "risk" && [
          fact("To a lower class", interval(seen.lowered), note(`at most ${percent(it.max_flip_percent / 2)}`)),
          fact("From high to low", interval(seen.high_to_low), note(`at most ${percent(it.max_flip_percent / 4)}`)),
        ],
        fact("At this step", ["since ", when(it.step_at)], note(`at least ${duration(it.step_seconds)}`)),
      ),
    it.state === "running" &&
      h("p", seen?.waits_for ? ["Waiting: ", seen.waits_for, "."] : "Ready: the next step is under way."),
    it.state === "paused" &&
      h(
        "p.notice",
        ["Paused ", it.changed_by === "rollout" ? "automatically" : ["by ", h("strong", it.changed_by)], " since "],
        [when(it.changed_at), ": ", sentence(it.detail)],
      ),
    it.state === "waiting" && h("p.notice", sentence(it.detail)),
    mayChange &&
      h(
        "div.acts",
        it.state === "running" && changeButton("pause-rollout", "Pause rollout", name),
        it.state === "paused" && changeButton("resume-rollout", "Resume rollout", name),
        changeButton("abort-rollout", "Abort rollout", name, { isDangerous: true }),
      ),
  );
}

/** @param {Rollout[]} rollouts */
function drawPast(rollouts) {
  const rows = rollouts.map((it) => [
    version(it.canary ?? "–"),
    [STATES[it.state], `outcome ${it.state}`],
    [`${percent(it.steps[it.step])} (steps: ${it.steps.map(percent).join(", ")})`, "words"],
    [when(it.changed_at), "time"],
    it.changed_by,
    [sentence(it.detail), "words"],
  ]);
  return h(
    "details",
    { "data-keeps": "open", "data-key": "past-rollouts" },
    h("summary", `Earlier rollouts (${rollouts.length})`),
    table({
      label: "Earlier rollouts",
      heads: ["Canary", "State", "Reached", "Ended", "By", "Why"],
      rows,
      keys: rollouts.map((it) => it.rollout_id),
      className: "rollouts",
    }),
  );
}

/** @param {Loaded<Rollout[]> | undefined} part @param {boolean} mayChange */
export function drawRollout(part, mayChange) {
  if (part?.failure) return h("div.notice.bad", drawFailure(part.failure));
  if (!part?.data) return h("p", "Loading…");
  const [latest, ...rest] = part.data;
  if (!latest) return h("p", "No rollouts yet. To start one, press Roll out next to a version below.");
  const past = isOpen(latest) ? rest : part.data;
  return [
    isOpen(latest) && drawOpen(latest, mayChange),
    latest.state === "stopped" &&
      h(
        "div.notice.bad",
        h("p.title", `The rollout stopped at ${percent(latest.steps[latest.step])} of users`),
        h("p", version(latest.canary ?? "–"), " no longer answers anyone: ", sentence(latest.detail), "."),
      ),
    latest.state !== "stopped" && !isOpen(latest) && h("p", "No rollout is under way."),
    past.length > 0 && drawPast(past),
  ];
}
