// Asks a host, all the time, for what it can tell without a database, and whether it is ready.

import assert from "node:assert/strict";

import { sleep } from "./processes.mjs";

/** Pause between questions, in milliseconds. */
const PAUSE_MS = 200;
/** Longest time for an answer that takes no database, in milliseconds: the machine's processors run everything else too. */
const PROMPT_MS = 3_000;
/** Longest time for the answer whether the host is ready, in milliseconds: it waits 5 s for the database. */
const READY_MS = 7_000;

/** Questions of a burst: more than the host has connections. */
const BURST = 50;

/** A request to the scorer of nudges. */
const ON_SCREEN = {
  screen: "transfer",
  num_validation_errors: 0,
  time_on_screen_seconds: 0,
  num_back_navigations: 0,
  steps_total: 1,
  current_step: 1,
};

export class Watch {
  /** @type {{ what: string, from: number, to: number, status: number }[]} a status of 0 is no answer in time */
  answers = [];
  #isEnding = false;
  /** @type {Promise<void>[]} */
  #bursts = [];

  /** @param {{ url: string, assistPort: number }} host */
  constructor(host) {
    this.readiness = `${host.url}/readyz`;
    const assist = `http://127.0.0.1:${host.assistPort}`;
    const score = { method: "POST", body: JSON.stringify(ON_SCREEN), headers: { "content-type": "application/json" } };
    this.running = Promise.all([
      this.#ask("alive", `${host.url}/livez`),
      this.#ask("alive inside", `${assist}/livez`),
      this.#ask("score", `${assist}/ai/nudge`, score),
      this.#ask("ready", this.readiness),
    ]);
  }

  async #ask(what, url, request = {}) {
    while (!this.#isEnding) {
      await this.#once(what, url, request);
      await sleep(PAUSE_MS);
    }
  }

  async #once(what, url, request = {}) {
    const limitMs = what === "ready" ? READY_MS : PROMPT_MS;
    const from = Date.now();
    const asked = fetch(url, { ...request, signal: AbortSignal.timeout(limitMs) });
    const status = await asked
      .then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      })
      .catch(() => 0);
    this.answers.push({ what, from, to: Date.now(), status });
  }

  /** Asks many times at once whether the host is ready. */
  burst() {
    for (let n = 0; n < BURST; n += 1) this.#bursts.push(this.#once("ready", this.readiness));
  }

  /** Fails if the host did not answer while a fault lasted, or said that it was ready all the time, unless it `isReady`. */
  judge(begun, over, isReady = false) {
    const since = this.answers.filter((it) => it.to >= begun);
    const ready = since.filter((it) => it.what === "ready");
    const wrong = since.filter((it) => it.what !== "ready" && it.status !== 200);
    const slowest = Math.max(...since.filter((it) => it.what !== "ready").map((it) => it.to - it.from));
    const isTold = ready.some((it) => it.status === 503 && it.from <= over);
    console.log(`  slowest of what needs no database ${slowest} ms; ${isTold ? "reported as not ready" : "ready"}`);
    assert.deepEqual(wrong, [], "what needs no database is answered throughout");
    assert.deepEqual(
      ready.filter((it) => ![200, 503].includes(it.status)),
      [],
      "the readiness probe answers in time",
    );
    if (!isReady) assert.ok(isTold, "the readiness probe says that the host is not ready");
  }

  async end() {
    this.#isEnding = true;
    await Promise.all([this.running, ...this.#bursts]);
  }
}
