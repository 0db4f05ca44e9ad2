// One call of the risk component in other runtimes, in microseconds: Node and Chromium in process, workerd over HTTP.

import { SOUND, textOf } from "../parity/hostile.mjs";
import { inChromium, inNode, inWorkerd } from "../parity/runtimes.mjs";

/** Turns; the median counts. */
const TURNS = 5;

const texts = Array.from({ length: 2_000 }, () => textOf(SOUND.risk));

for (const start of [inNode, inChromium, inWorkerd]) {
  const runtime = await start({ folder: "lib/" });
  const turns = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const { median } = await runtime.ask("risk", {}, texts, { isTimed: true });
    turns.push(median);
  }
  turns.sort((a, b) => a - b);
  console.log(JSON.stringify({ runtime: runtime.name, us: turns[TURNS >> 1] }));
  await runtime.end();
}
