// A single Postgres that is killed, paused, out of connections, out of disk or slow, under a steady load, and a host that
// nobody restarts: every request is answered in time, nothing acknowledged is lost, and all is well once the fault is over.
//
//   CAUDAL=target/debug/caudal node --test tests/ha/postgres-faults.test.mjs
//
// CAUDAL_POSTGRES_FAULT_SECONDS=70 makes each fault last longer than any deadline, CAUDAL_HA_ONLY=paused,slow picks faults by
// name. It needs Postgres, and root for the disk.

import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { test } from "node:test";

import { check } from "./checker.mjs";
import { Crowd } from "./crowd.mjs";
import { Disk } from "./disk.mjs";
import { finalState } from "./final.mjs";
import { Host } from "./host.mjs";
import { Line } from "./line.mjs";
import { Load } from "./load.mjs";
import { Server } from "./postgres.mjs";
import { isRunning, Processes, signal, sleep, until } from "./processes.mjs";
import { Watch } from "./watch.mjs";

/** How long a fault lasts at least, in milliseconds. */
const HELD_MS = Number(process.env.CAUDAL_POSTGRES_FAULT_SECONDS ?? 0) * 1_000;
/** How long a fault lasts that nobody notices before a request has waited 5 s for a connection, in milliseconds. */
const UNNOTICED_MS = 8_000;
/** How long after the beginning of a burst of questions it stops, in milliseconds. */
const BURST_MS = 20;
/** How long others last, in milliseconds. */
const NOTICED_MS = 4_000;
/** Parts of the names of the faults to try. */
const ONLY = (process.env.CAUDAL_HA_ONLY ?? "").split(",");
/** How long the load runs undisturbed before each fault, in milliseconds. */
const CALM_MS = 1_000;
/** Longest time until all is well after a fault, in milliseconds: what was under way may take until its deadline. */
const RECOVERY_MS = 30_000;
/** Longest time for any answer, in milliseconds: the host's `REQUEST_TIME_MAX`, and how late a busy machine may be. */
const ANSWER_MS = 60_000 + 2_000;
/**
 * Longest time for the answer to an order, in milliseconds: it waits for its turn (`QUEUE_TIME_MAX`), for a reply
 * (`REPLY_TIME_MAX`) and to learn what became of the commit (`RECOVERY_TIME_MAX`).
 */
const ORDER_MS = 15_000 + 12_000 + 20_000 + 2_000;
/** How often it vanishes: each time, some of the host's 16 connections are in use. */
const VANISHED = 2;
/** How slow a slow Postgres is in each direction, in milliseconds. */
const DELAY_MS = 150;
/** Connections that Postgres takes, few so that all can be taken. */
const CONNECTIONS = 40;
/** Lines of the configuration, so that everything fits on a small disk. */
const SMALL = `max_connections = ${CONNECTIONS}\nmin_wal_size = 32MB\nmax_wal_size = 48MB`;
const DISK_MB = 160;

/** Answers that tell a client to try again, and success. */
const ALLOWED = /^\w+ (20\d|503)$/;

const hold = (ms) => sleep(Math.max(ms, HELD_MS));

/** A Postgres, a host behind a line to it, and its customers. */
class Bank {
  processes = new Processes();

  async open() {
    this.folder = await mkdtemp("/tmp/caudal-ha.");
    await chmod(this.folder, 0o755);
    this.disk = await Disk.in(this.processes, this.folder, DISK_MB);
    this.server = await Server.in(this.processes, this.disk?.path ?? this.folder, "postgres");
    await this.server.create(SMALL);
    await this.server.start();
    this.line = await Line.to(this.server.port);
    this.host = new Host(this.processes, this.folder, "host", this.line.port);
    await this.host.start();
    this.answers = [];
    this.load = new Load(
      () => [this.host],
      (answer) => this.answers.push(answer),
    );
    await this.load.start();
    this.watch = new Watch(this.host);
  }

  /** What a supervisor does. */
  async restart() {
    if (!isRunning(this.server.pid)) await this.server.start();
  }

  /** Waits until the host is ready and an order that was sent after `start` is acknowledged. */
  async isWell(start) {
    const isReady = () => this.watch.answers.some((it) => it.what === "ready" && it.from > start && it.status === 200);
    await until("the host is ready", RECOVERY_MS, isReady);
    const isDone = (it) => it.type === "order" && it.from > start && it.outcome === "done";
    await until("an order is acknowledged", RECOVERY_MS, () => this.load.history.some(isDone));
  }

  async close() {
    await this.watch?.end();
    this.line?.end();
    await this.processes.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/**
 * @typedef {{ name: string, isReady?: boolean, lacks?: (bank: Bank) => string | false, run: (bank: Bank) => Promise<void> }} Fault
 *   `isReady`: whether the host can still serve, if not well
 */

/** @type {Fault[]} */
const FAULTS = [
  {
    name: "killed",
    run: async ({ server }) => {
      // One backend first: Postgres ends all others and recovers by itself.
      signal("SIGKILL", server.pids("caudal").slice(0, 1));
      await sleep(CALM_MS);
      await server.crash();
      await hold(NOTICED_MS);
    },
  },
  {
    name: "paused",
    run: async ({ server, watch }) => {
      // Some are between two statements when it stops.
      watch.burst();
      await sleep(BURST_MS);
      server.freeze();
      await hold(UNNOTICED_MS);
      server.thaw();
    },
  },
  {
    name: "out of connections",
    run: async ({ server }) => {
      const crowd = new Crowd(server.port, CONNECTIONS);
      await hold(UNNOTICED_MS);
      await crowd.leave();
    },
  },
  {
    name: "slow",
    isReady: true,
    run: async ({ line }) => {
      line.delayMs = DELAY_MS;
      await hold(NOTICED_MS);
      line.delayMs = 0;
    },
  },
  {
    // What waits for a reply, and the connections in use, must not wait for ever.
    name: "gone without a word, again and again",
    isReady: true,
    run: async ({ line, load }) => {
      for (let n = 0; n < VANISHED; n += 1) {
        line.swallow();
        await sleep(NOTICED_MS);
      }
      const over = Date.now();
      const reads = ({ user }) => load.history.some((it) => it.from > over && it.session === `reader 0 of ${user}`);
      await until("every customer reads again", RECOVERY_MS, () => load.customers.every(reads));
    },
  },
  {
    name: "on a full disk",
    isReady: true,
    lacks: ({ disk }) => !disk && "a disk of its own",
    run: async ({ disk }) => {
      await disk.fill();
      await hold(NOTICED_MS);
      await disk.empty();
    },
  },
];

/** Fails if an answer since `start` was wrong, late or none. */
async function judge(bank, start) {
  const since = bank.answers.filter((it) => it.to >= start);
  const counts = {};
  for (const { name } of since) counts[name] = (counts[name] ?? 0) + 1;
  const slowest = (what) => Math.max(0, ...since.filter((it) => what.test(it.name)).map((it) => it.to - it.from));
  const [order, read] = [slowest(/^send/), slowest(/^(?!send)/)];
  console.log(`  ${JSON.stringify(counts)}; slowest order ${order} ms, slowest read ${read} ms`);
  const wrong = Object.keys(counts).filter((name) => !ALLOWED.test(name));
  if (wrong.length > 0) {
    const log = (await readFile(bank.host.log, "utf8")).split("\n");
    const errors = log.filter((line) => line.includes("internal error"));
    console.log(errors.slice(-9).join("\n"));
  }
  assert.deepEqual(wrong, [], "every request is answered, with success or 503, a problem and Retry-After");
  assert.ok(order <= ORDER_MS, "every order is answered in time");
  assert.ok(read <= ANSWER_MS, "every request is answered in time");
}

/** Sends everything that was ordered once more, under the same keys. */
async function retryAll({ load, host }) {
  for (const customer of load.customers) {
    const orders = new Map();
    for (const it of load.history)
      if (it.type === "order" && it.account === customer.account)
        orders.set(it.key, { key: it.key, amount: it.amount });
    for (const order of orders.values()) {
      const { outcome } = await customer.send(host, `again ${customer.user}`, order);
      assert.equal(outcome, "done", `${order.key} is answered again`);
    }
  }
}

test("no fault of Postgres delays an answer for long, loses anything or needs a hand", async (context) => {
  const bank = new Bank();
  let isStopped = false;
  try {
    await bank.open();
    for (const fault of FAULTS.filter(({ name }) => ONLY.some((part) => name.includes(part)))) {
      await context.test(`Postgres ${fault.name}`, async () => {
        const lack = fault.lacks?.(bank);
        if (lack) {
          console.log(`NOT CHECKED: Postgres ${fault.name} (${lack} needs root)`);
          return;
        }
        await sleep(CALM_MS);
        const start = Date.now();
        await bank.isWell(start);
        const begun = Date.now();
        await fault.run(bank);
        const over = Date.now();
        await bank.restart();
        await bank.isWell(Date.now());
        console.log(`  well ${Date.now() - over} ms after it was over`);
        await judge(bank, begun);
        bank.watch.judge(begun, over, fault.isReady);
      });
    }
    const drained = await bank.load.stop();
    isStopped = true;
    await retryAll(bank);
    const final = await finalState(bank.server, drained);
    console.log(`  ${bank.load.history.length} things seen, ${final.transfers.length} transfers in the ledger`);
    assert.deepEqual(check(bank.load.history, final), [], "nothing is lost, doubled or wrong");
    const { isSound, text } = await bank.host.verify();
    assert.ok(isSound, text);
  } finally {
    if (!isStopped) await bank.load?.stop().catch(() => {});
    await bank.close();
  }
});
