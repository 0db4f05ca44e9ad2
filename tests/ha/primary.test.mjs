// Three servers, all in DATABASE_URL, and a primary that is replaced without knowing it: it goes on committing, because
// a standby still follows it. What it alone has is lost, so nobody may see it. The host is not informed how far a
// commit must get; that follows from the servers.
//
//   CAUDAL=target/debug/caudal node --test tests/ha/primary.test.mjs

import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { test } from "node:test";

import { check } from "./checker.mjs";
import { Customer } from "./customer.mjs";
import { finalState } from "./final.mjs";
import { Host } from "./host.mjs";
import { Server } from "./postgres.mjs";
import { isRunning, Processes, sleep, until } from "./processes.mjs";
import { Watch } from "./watch.mjs";

/** How long orders are sent while nothing can be confirmed, in milliseconds: longer than the old primary's commits take. */
const ASKED_MS = 8_000;
/** Longest time that a client waits for one answer, in milliseconds. */
const ANSWER_MS = 10_000;
/** How long the host lets requests wait for a primary: shortly, so that it answers often while nothing is confirmed. */
const FAILOVER_WAIT = "4s";
/** Longest time until a host notices what its servers say, in milliseconds. */
const NOTICE_MS = 15_000;
/** Longest time until a host serves again once a standby follows the new primary, in milliseconds. */
const SERVICE_MS = 35_000;
/** Pause between orders, in milliseconds. */
const PAUSE_MS = 100;

const processes = new Processes();
const folder = await mkdtemp("/tmp/caudal-ha.");

/** Makes `standby` a copy of `primary` that follows it. */
async function copy(standby, primary) {
  await standby.follow(primary);
  await standby.start();
}

async function lab() {
  await chmod(folder, 0o755);
  const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => Server.in(processes, folder, name)));
  await a.create();
  await a.start();
  const servers = [a, b, c].map(({ port }) => `127.0.0.1:${port}`);
  const host = new Host(processes, folder, "host", a.port, servers);
  await host.start({ env: { CAUDAL_FAILOVER_WAIT: FAILOVER_WAIT } });
  await copy(b, a);
  await copy(c, a);
  return { a, b, c, host };
}

test("a primary that was replaced confirms nothing", async () => {
  let watch;
  try {
    const { a, b, c, host } = await lab();
    await a.require("ANY 1 (b, c)");
    for (const name of ["b", "c"]) await a.isFollowedBy(name);
    await until("the host, which does not wait for replicas, ends", NOTICE_MS, () => !isRunning(host.pid));
    assert.match(await readFile(host.log, "utf8"), /Postgres has synchronous replicas now: start again/);
    await host.start({ env: { CAUDAL_FAILOVER_WAIT: FAILOVER_WAIT } });
    assert.equal(await a.sql("select content from policy where part = 'replicas'"), "replicated");
    const history = [];
    const ana = new Customer("ana", history);
    await ana.arrive(host);
    for (let n = 0; n < 3; n += 1) assert.equal((await ana.send(host, "before", ana.order())).status, 200);

    watch = new Watch(host);
    const begun = Date.now();
    await b.promote();
    // The new primary has no standby yet, and the old one still has c.
    await b.require("c");
    const orders = [];
    const repeat = async (once) => {
      for (; Date.now() < begun + ASKED_MS; await sleep(PAUSE_MS)) await once();
    };
    const order = () => {
      orders.push(ana.order());
      return ana.send(host, "meanwhile", orders.at(-1), ANSWER_MS);
    };
    const reads = ana.reads.map((read, index) => repeat(() => read(host, `read ${index}`, ANSWER_MS)));
    await Promise.all([repeat(order), ...reads]);
    const told = history.filter((it) => it.type === "order" && it.outcome === "done" && it.from > begun);
    console.log(`  ${orders.length} orders while nothing could be confirmed, ${told.length} answered as done`);
    await until("the host says that it is not ready", NOTICE_MS, async () => !(await host.readiness()).isReady);
    watch.judge(begun, Date.now());

    const follows = Date.now();
    await c.lose();
    await copy(c, b);
    await b.isFollowedBy("c");
    await host.serves(SERVICE_MS);
    const isDone = async (order) => (await ana.send(host, "after", order, ANSWER_MS)).status === 200;
    for (const order of [...orders, ana.order()]) await until("the order is done", SERVICE_MS, () => isDone(order));
    console.log(`  service ${((Date.now() - follows) / 1000).toFixed(1)} s after a standby follows the new primary`);
    for (const read of ana.reads) await read(host, "after", ANSWER_MS);
    const findings = check(history, await finalState(b));
    for (const { rule, detail } of findings.slice(0, 10)) console.log(`  ${rule}: ${detail}`);
    assert.deepEqual(findings, [], "nothing that was seen is missing");

    await b.require("");
    const weak = await until("the host says what is wrong", NOTICE_MS, async () => {
      const { isReady, detail } = await host.readiness();
      return !isReady && detail;
    });
    assert.match(weak, /set synchronous_standby_names in Postgres, or ask for --durability local/);
    const last = ana.order();
    assert.equal((await ana.send(host, "weakened", last, ANSWER_MS)).outcome, "unknown");
    const saved = await fetch(`${host.url}/api/ledger/beneficiaries`, {
      method: "POST",
      headers: ana.headers,
      body: JSON.stringify({ name: "Eva", accountNumber: "012180004643051249", bankName: "BBVA" }),
    });
    assert.equal((await saved.json()).code, "outcome-unknown", "what was done is not reported as undone");
    await watch.end();
    await host.stop();
    assert.match(await host.refuse(), /set synchronous_standby_names in Postgres, or ask for --durability local/);
    host.options = ["--durability", "local"];
    await host.start();
    assert.ok(await isDone(last), "what was asked for is done");
    const verified = await host.verify();
    assert.ok(verified.isSound, verified.text);
  } finally {
    await watch?.end();
    await processes.end();
    await rm(folder, { recursive: true, force: true });
  }
});
