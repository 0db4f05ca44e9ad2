// How a visit is going: seconds on a screen, errors, steps back, requests for help. These counts stay in memory, feed the
// nudge and accessibility scorers in this page, and are never sent.

const SECOND_MS = 1_000;

/** @param {() => number} now milliseconds */
export function observe(now = () => performance.now()) {
  /** @type {{ name: string, step: number, steps: number } | null} */
  let screen = null;
  let since = 0;
  let seenMs = 0;
  let isHidden = false;
  let errors = 0;
  /** @type {Map<string, number>} */
  const backs = new Map();
  const total = { screens: 0, ms: 0, errors: 0, help: 0 };

  // Time counts only while the page is visible.
  const msHere = () => seenMs + (isHidden || screen === null ? 0 : now() - since);

  return {
    /** @param {{ name: string, step?: number, steps?: number, wentBack?: boolean }} entered */
    enter({ name, step = 1, steps = 1, wentBack = false }) {
      this.leave();
      screen = { name, step, steps };
      since = now();
      seenMs = 0;
      errors = 0;
      total.screens += 1;
      if (wentBack) backs.set(name, (backs.get(name) ?? 0) + 1);
    },
    leave() {
      total.ms += msHere();
      screen = null;
      seenMs = 0;
    },
    hidden() {
      if (!isHidden) seenMs = msHere();
      isHidden = true;
    },
    visible() {
      if (isHidden) since = now();
      isHidden = false;
    },
    /** @param {number} count */
    failed(count) {
      errors += count;
      total.errors += count;
    },
    askedForHelp() {
      total.help += 1;
    },
    /** The facts for the nudge scorer, or null between screens. */
    screenFacts() {
      if (screen === null) return null;
      return {
        screen: screen.name,
        num_validation_errors: errors,
        time_on_screen_seconds: Math.floor(msHere() / SECOND_MS),
        num_back_navigations: backs.get(screen.name) ?? 0,
        steps_total: screen.steps,
        current_step: screen.step,
      };
    },
    /** The facts of the whole visit for the accessibility scorer. */
    visitFacts() {
      const ms = total.ms + msHere();
      return {
        avg_time_per_screen_seconds: Math.floor(ms / SECOND_MS / Math.max(1, total.screens)),
        total_validation_errors: total.errors,
        requested_help_count: total.help,
      };
    },
    forget() {
      backs.clear();
      Object.assign(total, { screens: screen === null ? 0 : 1, ms: 0, errors: 0, help: 0 });
    },
  };
}

export const behaviour = observe();
