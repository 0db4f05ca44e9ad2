// What the page itself sees of how it goes for a person: seconds on a screen, errors, going back, asking for help.
// Numbers only, in memory only; they feed the nudge and accessibility scorers in this page and are not sent.

const SECOND_MS = 1_000;

/** `now` gives milliseconds; tests bring their own. */
export function observe(now = () => performance.now()) {
  let screen = null;
  let since = 0;
  let seen = 0;
  let isAway = false;
  let errors = 0;
  const backs = new Map();
  const total = { screens: 0, ms: 0, errors: 0, help: 0 };

  // Time counts only while the page is in sight.
  const msHere = () => seen + (isAway || screen === null ? 0 : now() - since);

  return {
    /** A screen begins; `step` of `steps` where it is part of a flow. */
    enter({ name, step = 1, steps = 1, wentBack = false }) {
      this.leave();
      screen = { name, step, steps };
      since = now();
      seen = 0;
      errors = 0;
      total.screens += 1;
      if (wentBack) backs.set(name, (backs.get(name) ?? 0) + 1);
    },
    leave() {
      total.ms += msHere();
      screen = null;
      seen = 0;
    },
    away() {
      if (!isAway) seen = msHere();
      isAway = true;
    },
    returned() {
      if (isAway) since = now();
      isAway = false;
    },
    failed(count) {
      errors += count;
      total.errors += count;
    },
    askedForHelp() {
      total.help += 1;
    },
    /** The screen as the nudge scorer asks for it, or null between screens. */
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
    /** The whole visit as the accessibility scorer asks for it. */
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

/** This page's own. */
export const behaviour = observe();
