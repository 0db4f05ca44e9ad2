// Variants of the warnings: which of them keeps people from losing money is measured, not guessed. The bank decides who sees
// which, at any time, with `caudal warnings`, which also reports what became of each.

/** @import { WarningExperiment } from "./types.js" */
import { digest } from "./device.js";

/** By the names that the service knows. `adviceFirst`: what to do now comes before why, for people who read one line. */
const LOOKS = new Map([
  ["why-first", { adviceFirst: false }],
  ["advice-first", { adviceFirst: true }],
]);

/** While the service does not say. @type {WarningExperiment} */
export const NO_EXPERIMENT = { experiment: "none", variants: [{ variant: "why-first", percent: 100 }] };

/**
 * The same variant for a user on every device.
 * @param {string} user @param {WarningExperiment} experiment
 * @returns {{ name: string, label: string, adviceFirst: boolean }}
 */
export function variantOf(user, { experiment, variants }) {
  // Twice, because names that differ in their last letter have digests that are near one another.
  let place = (Number.parseInt(digest(digest(`${experiment} ${user}`)), 16) / 2 ** 32) * 100;
  const found = variants.find(({ percent }) => {
    place -= percent;
    return place < 0;
  });
  const name = found?.variant ?? "";
  const look = LOOKS.get(name);
  // A newer service may have variants that this page has not.
  return look ? { name, label: `${experiment}/${name}`, ...look } : variantOf(user, NO_EXPERIMENT);
}
