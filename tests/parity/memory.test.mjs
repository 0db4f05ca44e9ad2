// Many calls leak nothing: memory is flat in Node, in Chromium and in workerd.
//
// Short, unless CAUDAL_SOAK_SECONDS is set: then a million calls in Node, a hundred thousand in Chromium and half of
// that in workerd.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Edge } from "../edge/workerd.mjs";
import { launch, open, servePage } from "./chromium.mjs";
import { SOUND, textOf } from "./hostile.mjs";

const IS_LONG = process.env.CAUDAL_SOAK_SECONDS !== undefined;

const CALLS = IS_LONG
  ? { node: 1_000_000, chromium: 100_000, workerd: 50_000 }
  : { node: 20_000, chromium: 5_000, workerd: 2_000 };

/** Number of memory samples. The first half is warm-up. */
const SAMPLES = 20;

/** Growth that is noise, in bytes: of what a garbage collector counts, and of a whole process. */
const HEAP_GROWTH_MAX = 1 << 20;
const PROCESS_GROWTH_MAX = 24 << 20;

const run = promisify(execFile);

const mib = (bytes) => (bytes / (1 << 20)).toFixed(1);
const mean = (numbers) => numbers.reduce((sum, it) => sum + it, 0) / numbers.length;

/** Growth from the third quarter of the samples to the fourth; a leak grows in every quarter. */
function growth(samples) {
  const quarter = samples.length / 4;
  return mean(samples.slice(3 * quarter)) - mean(samples.slice(2 * quarter, 3 * quarter));
}

function report(where, calls, seconds, figures) {
  const parts = Object.entries(figures).map(([name, samples]) => {
    const [first, middle, last] = [samples[0], samples[samples.length >> 1], samples.at(-1)].map(mib);
    return `${name} ${first} -> ${middle} -> ${last} MiB`;
  });
  const time = ((seconds / calls) * 1e6).toFixed(0);
  console.log(`${where}: ${calls} calls in ${seconds.toFixed(1)} s, ${time} µs each; ${parts.join(", ")}`);
}

/** Resident memory of a process in bytes. */
async function resident(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) * 1024;
}

test("Node", async () => {
  const program = fileURLToPath(new URL("calls.mjs", import.meta.url));
  const { stdout } = await run(process.execPath, ["--expose-gc", program, String(CALLS.node)]);
  const { made, refused, seconds, samples } = JSON.parse(stdout);
  assert.equal(made, CALLS.node);
  assert.equal(refused, CALLS.node / 10);
  const of = (name) => samples.map((it) => it[name]);
  report("Node", made, seconds, { process: of("rss"), heap: of("heapUsed"), external: of("external") });
  assert.ok(growth(of("heapUsed")) < HEAP_GROWTH_MAX);
  // Memories of instances count here until a later collection.
  assert.ok(growth(of("external")) < PROCESS_GROWTH_MAX);
  assert.ok(growth(of("rss")) < PROCESS_GROWTH_MAX);
});

test("Chromium", async () => {
  const server = await servePage({ folder: "lib/" });
  const browser = await launch();
  const { page, faults } = await open(browser, server.url);
  const devtools = await page.createCDPSession();
  const { processInfo } = await (await browser.target().createCDPSession()).send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter((it) => it.type === "renderer").map((it) => it.id);
  await page.evaluate(
    async (texts) => {
      globalThis.texts = texts;
      const { load } = globalThis.scorers;
      globalThis.loaded = [await load("risk"), await load("nudge"), await load("accessibility")];
    },
    [textOf(SOUND.risk), textOf(SOUND.nudge), textOf(SOUND.accessibility)],
  );
  const heap = [];
  const rss = [];
  let seconds = 0;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    seconds += await page.evaluate((calls) => {
      const begin = performance.now();
      for (let made = 0; made < calls; made += 1) {
        globalThis.loaded[made % 3].assessText(globalThis.texts[made % 3]);
      }
      return (performance.now() - begin) / 1000;
    }, CALLS.chromium / SAMPLES);
    await devtools.send("HeapProfiler.collectGarbage");
    heap.push((await devtools.send("Runtime.getHeapUsage")).usedSize);
    rss.push((await Promise.all(renderers.map(resident))).reduce((sum, it) => sum + it, 0));
  }
  await browser.close();
  await server.close();
  report("Chromium", CALLS.chromium, seconds, { renderers: rss, heap });
  assert.deepEqual(faults, []);
  assert.ok(growth(heap) < HEAP_GROWTH_MAX);
  assert.ok(growth(rss) < PROCESS_GROWTH_MAX);
});

test("workerd", async () => {
  const edge = await Edge.start();
  const rss = [];
  const begin = performance.now();
  const post = async (kind) => {
    const response = await edge.post(`/ai/${kind}`, textOf(SOUND[kind]));
    assert.equal(response.status, 200);
    await response.arrayBuffer();
  };
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    for (let made = 0; made < CALLS.workerd / SAMPLES; made += 4) {
      await Promise.all([post("risk"), post("nudge"), post("accessibility"), post("risk")]);
    }
    rss.push(await resident(edge.process.pid));
  }
  const seconds = (performance.now() - begin) / 1000;
  await edge.end();
  report("workerd", CALLS.workerd, seconds, { process: rss });
  assert.ok(growth(rss) < PROCESS_GROWTH_MAX);
});
