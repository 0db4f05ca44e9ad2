// The two ways in which a transfer that no standby has was once acknowledged, with a primary and one synchronous standby.
// In each, the primary is then lost and the standby takes over: nothing that anybody saw may be missing.
//
//   CAUDAL=target/debug/caudal node --test tests/ha/losing.test.mjs
//
// CAUDAL_LOSING_RUNS=10 repeats each. It needs Postgres only, and takes half a minute a run.

import assert from "node:assert/strict";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { test } from "node:test";

import { check } from "./checker.mjs";
import { Customer, Listener } from "./customer.mjs";
import { finalState } from "./final.mjs";
import { Host } from "./host.mjs";
import { Line } from "./line.mjs";
import { Server } from "./postgres.mjs";
import { Processes, sleep, until } from "./processes.mjs";

const RUNS = Number(process.env.CAUDAL_LOSING_RUNS ?? 1);

/**
 * How long clients ask for a transfer that no standby has, in milliseconds: longer than the 20 s that a host tries to
 * find out a command's outcome, so that its last word is heard.
 */
const ASKED_MS = 23_000;
/** Longest time that a client waits for one answer meanwhile, in milliseconds. */
const ANSWER_MS = 25_000;
/** How long the host lets requests wait for a primary: shortly, so that it answers often while nothing is confirmed. */
const FAILOVER_WAIT = "4s";
/** Pause between a reader's questions, in milliseconds. */
const PAUSE_MS = 200;
/** How long every wait for the standby is cancelled, in milliseconds: several of them. */
const CANCELLED_MS = 4_000;
/** Longest time until a host serves again after its primary was replaced, in milliseconds. */
const RECOVERY_MS = 60_000;

/** A primary, a synchronous standby, a host behind a line that can lead elsewhere, and a customer with a few transfers. */
class Bank {
  processes = new Processes();
  history = [];

  async open() {
    this.folder = await mkdtemp("/tmp/caudal-ha.");
    await chmod(this.folder, 0o755);
    this.primary = await Server.in(this.processes, this.folder, "first");
    await this.primary.create();
    await this.primary.start();
    this.standby = await this.#standby(this.primary, "second");
    this.line = await Line.to(this.primary.port);
    this.host = new Host(this.processes, this.folder, "host", this.line.port);
    await this.host.start({ env: { CAUDAL_FAILOVER_WAIT: FAILOVER_WAIT } });
    this.ana = new Customer("ana", this.history);
    await this.ana.arrive(this.host);
    this.listener = new Listener(this.ana, "events", () => this.host);
    for (let n = 0; n < 3; n += 1)
      assert.equal((await this.ana.send(this.host, "before", this.ana.order())).status, 200);
  }

  /** A new copy of `primary`, which waits for it from now on. */
  async #standby(primary, name) {
    const standby = await Server.in(this.processes, this.folder, name);
    await standby.follow(primary);
    await standby.start();
    await primary.require(name);
    await primary.isFollowedBy(name);
    return standby;
  }

  /** Asks in every way for what happened to an order until the time is up. */
  ask(order, limitMs) {
    const end = Date.now() + limitMs;
    const repeat = async (once) => {
      while (Date.now() < end) {
        await once();
        await sleep(PAUSE_MS);
      }
    };
    const { ana, host } = this;
    return [
      repeat(() => ana.send(host, "retry", order, ANSWER_MS)),
      ...ana.reads.map((read, index) => repeat(() => read(host, `read ${index}`, ANSWER_MS))),
    ];
  }

  /** The records since `start` that show an order: its transfer, or a balance without its money. */
  tellings(order, start) {
    const before = 1_000_000 - ((order.amount - 1) * order.amount) / 2;
    return this.history.slice(start).filter((it) => {
      if (it.type === "order") return it.outcome === "done";
      if (it.type === "event") return it.transfer.amount === order.amount;
      if (it.type === "list") return it.transfers.some((transfer) => transfer.amount === order.amount);
      if (it.type === "entries") return it.entries.some((entry) => entry.amount === -order.amount);
      return it.balance !== before;
    });
  }

  /** The primary is gone; the standby leads, and a new one follows it. Returns the findings once the order is through. */
  async failOver(order) {
    await this.primary.lose();
    this.standby.thaw();
    await until("the standby answers", RECOVERY_MS, () => this.standby.sql("select 1"));
    await this.standby.promote();
    const findings = check(this.history, await finalState(this.standby)).filter((it) => it.rule !== "event-missed");
    const third = await this.#standby(this.standby, "third");
    this.primary = this.standby;
    this.standby = third;
    this.line.turnTo(this.primary.port);
    const retry = () => this.ana.send(this.host, "after", order, ANSWER_MS);
    await until("the order is done", RECOVERY_MS, async () => (await retry()).status === 200);
    const next = this.ana.order();
    assert.equal((await this.ana.send(this.host, "after", next)).status, 200);
    const isHeard = () => this.history.some((it) => it.type === "event" && it.transfer.amount === next.amount);
    await until("the events arrive", RECOVERY_MS, isHeard);
    for (const read of this.ana.reads) await read(this.host, "after", ANSWER_MS);
    return [...findings, ...check(this.history, await finalState(this.primary, ["events"]))];
  }

  async close() {
    await this.listener?.end();
    this.line?.end();
    await this.processes.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Prints what clients saw, and fails if anything was seen too early, is missing, or broke the books. */
async function judge(bank, order, start) {
  const early = bank.tellings(order, start);
  const counts = {};
  for (const { type } of early) counts[type] = (counts[type] ?? 0) + 1;
  const answers = [...bank.ana.answers].map(([name, count]) => `${name}: ${count}`).join(", ");
  console.log(`  seen before a standby had it: ${JSON.stringify(counts)}; all answers: ${answers}`);
  const findings = await bank.failOver(order).catch((error) => [{ rule: "recovery", detail: error.message }]);
  for (const { rule, detail } of findings.slice(0, 10)) console.log(`  ${rule}: ${detail}`);
  const verified = await bank.host.verify();
  if (!verified.isSound) console.log(`  verify: ${verified.text}`);
  assert.deepEqual(counts, {}, "nothing is seen before a standby has it");
  assert.deepEqual(findings, [], "nothing that was seen is missing");
  assert.ok(verified.isSound, "caudal verify accepts the ledger");
}

/** @param {(bank: Bank) => Promise<void>} sequence */
async function inBank(sequence) {
  const bank = new Bank();
  try {
    await bank.open();
    await sequence(bank);
  } finally {
    await bank.close();
  }
}

/** A transfer that no standby has yet, and what is asked about it. */
async function waiting(bank) {
  const { primary, ana } = bank;
  const order = ana.order();
  const start = bank.history.length;
  primary.freeze("walsender");
  const asked = bank.ask(order, ASKED_MS);
  await until("the transfer waits for the standby", 10_000, async () => (await primary.waiting()).length > 0);
  return { order, start, asked };
}

for (let run = 1; run <= RUNS; run += 1) {
  test(`a crash before the standby had the transfer, run ${run}`, () =>
    inBank(async (bank) => {
      const { primary, standby } = bank;
      const { order, start, asked } = await waiting(bank);
      standby.freeze();
      await primary.crash();
      await primary.start();
      await Promise.all(asked);
      await judge(bank, order, start);
    }));

  test(`cancelled waits for the standby, run ${run}`, () =>
    inBank(async (bank) => {
      const { primary, standby } = bank;
      const { order, start, asked } = await waiting(bank);
      const end = Date.now() + CANCELLED_MS;
      while (Date.now() < end) {
        await primary.sql("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
        await sleep(PAUSE_MS);
      }
      await Promise.all(asked);
      standby.freeze();
      await judge(bank, order, start);
    }));
}
