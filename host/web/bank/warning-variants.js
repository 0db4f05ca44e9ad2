// Variants of the warnings, each for its share of the users: which of them keeps people from losing money is measured, not
// guessed. `caudal warnings` reports what became of each. To change a share or try something else, change this file.

import { digest } from "./device.js";

/** Another name assigns everybody anew, and counts apart. */
export const EXPERIMENT = "order-of-advice";

/**
 * `share` in percent, of all 100. `adviceFirst`: what to do now comes before why, for people who read one line.
 * @type {{ name: string, share: number, adviceFirst: boolean }[]}
 */
export const VARIANTS = [
  { name: "why-first", share: 50, adviceFirst: false },
  { name: "advice-first", share: 50, adviceFirst: true },
];

/** The same variant for a user on every device. @param {string} user */
export function variantOf(user) {
  // Twice, because names that differ in their last letter have digests that are near one another.
  let place = (Number.parseInt(digest(digest(`${EXPERIMENT} ${user}`)), 16) / 2 ** 32) * 100;
  for (const variant of VARIANTS) {
    place -= variant.share;
    if (place < 0) return variant;
  }
  return VARIANTS[0];
}
