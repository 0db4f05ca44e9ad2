// Scores many times in its own Node process and records its memory, for memory.test.mjs:
// node --expose-gc calls.mjs CALLS

import { load } from "../../components/js/lib/src/node.js";
import { SOUND, textOf } from "./hostile.mjs";

/** Calls between two measurements. */
const SAMPLES = 20;

const calls = Number(process.argv[2]);
const scorers = [await load("risk"), await load("nudge"), await load("accessibility")];
const texts = [textOf(SOUND.risk), textOf(SOUND.nudge), textOf(SOUND.accessibility)];

let made = 0;
let refused = 0;
const begin = performance.now();
const samples = [];
for (let sample = 0; sample < SAMPLES; sample += 1) {
  for (; made < (calls * (sample + 1)) / SAMPLES; made += 1) {
    const index = made % scorers.length;
    // One in ten is refused, which must not leak either.
    const isSound = made % 10 !== 0;
    try {
      scorers[index].assessText(isSound ? texts[index] : "{}");
    } catch {
      refused += 1;
    }
  }
  // Finalizers of instances run between turns.
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  samples.push({ rss, heapUsed, external });
}
const seconds = (performance.now() - begin) / 1000;
console.log(JSON.stringify({ made, refused, seconds, samples }));
