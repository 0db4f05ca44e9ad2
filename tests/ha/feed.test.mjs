// Events on their way to the bank's own systems, while those systems and the hosts fail: two hosts on one database, a
// webhook that is killed, slow, full and wiped, and hosts that are killed. No event is missing, none is another one than
// before, each account's arrive in order, and added up they give the ledger's balances.
//
//   CAUDAL=target/debug/caudal node --test tests/ha/feed.test.mjs    # CAUDAL_FEED_TRANSFERS=1000000 makes that many
//
// It needs Postgres only, and takes half a minute.

import assert from "node:assert/strict";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { test } from "node:test";

import { arrive, ask, CUSTOMERS, feed, load } from "./bank.mjs";
import { Host, token } from "./host.mjs";
import { Server } from "./postgres.mjs";
import { Processes, sleep, until } from "./processes.mjs";
import { balances, disorder, Sink } from "./sink.mjs";

const TRANSFERS = Number(process.env.CAUDAL_FEED_TRANSFERS ?? 3_000);
/** How long each fault lasts, in milliseconds. */
const FAULT_MS = 1_500;
/** Longest time until a thousand events have arrived once all is well, in milliseconds: pauses between attempts grow. */
const CATCH_UP_MS = 60_000;

test("nothing is missing, doubled or out of order, whatever fails on the way", async () => {
  const folder = await mkdtemp("/tmp/caudal-feed.");
  const processes = new Processes();
  const sink = new Sink();
  try {
    // The server's user reads it too.
    await chmod(folder, 0o755);
    const server = await Server.in(processes, folder, "postgres");
    await server.create();
    await server.start();
    const hosts = ["one", "two"].map((name) => new Host(processes, folder, name, server.port));
    for (const host of hosts) await host.start();
    const ops = token("eva", "events:read events:admin ledger:operate");
    await sink.start();
    const added = await ask(hosts, ops, "/admin/sinks", { kind: "webhook", url: sink.url, from: "" });
    sink.secret = added.secret;
    const again = () => ask(hosts, ops, `/admin/sinks/${added.id}`, { order: "resend" });
    const customers = await arrive(hosts);

    const start = Date.now();
    let isLoaded = false;
    const loaded = load(hosts, customers, TRANSFERS).finally(() => {
      isLoaded = true;
    });
    const faults = [
      async () => {
        await sink.stop();
        await sleep(FAULT_MS);
        await sink.start(sink.port);
      },
      async () => {
        sink.mode = "slow";
        await sleep(FAULT_MS);
        sink.mode = "well";
      },
      async () => {
        sink.mode = "full";
        await sleep(FAULT_MS);
        sink.mode = "well";
      },
      ...hosts.map((host) => async () => {
        host.kill();
        await sleep(FAULT_MS);
        await host.start();
      }),
    ];
    // Each once, and again while there is load.
    for (let turn = 0; turn < faults.length || !isLoaded; turn += 1) {
      await faults[turn % faults.length]();
      await sleep(FAULT_MS / 3);
    }
    await loaded;
    const seconds = (Date.now() - start) / 1_000;
    const wanted = await feed(hosts, ops);
    assert.ok(wanted.length > TRANSFERS, `${wanted.length} events`);

    /** Waits until everything arrived, and checks it. */
    const complete = async (what) => {
      const begun = Date.now();
      await again();
      const limit = CATCH_UP_MS * Math.max(1, wanted.length / 10_000);
      await until(`everything arrives ${what} (${sink.events.size})`, limit, () => sink.events.size >= wanted.length);
      const ids = new Set(wanted.map((event) => event.id));
      assert.deepEqual(
        [...sink.events.keys()].filter((id) => !ids.has(id)),
        [],
        "there is nothing else",
      );
      assert.deepEqual(disorder(wanted, sink.events.values()), [], "each account's events are in order");
      assert.deepEqual(sink.complaints, []);
      const sums = balances(sink.events.values());
      const books = await server.sql(
        "select b.account_id || ' ' || posted from account_balance b join account using (account_id) where kind = 'customer'",
      );
      const lines = books.trim().split("\n");
      assert.equal(lines.length, CUSTOMERS);
      for (const line of lines) {
        const [account, posted] = line.split(" ");
        assert.equal(sums.get(account), BigInt(posted), account);
      }
      console.log(
        `  ${what}: ${wanted.length} events after ${Date.now() - begun} ms, ${sink.repeated} repeated so far`,
      );
    };
    console.log(`  ${Math.round(TRANSFERS / seconds)} transfers a second under faults`);
    await complete("after the faults");
    sink.wipe();
    await ask(hosts, ops, `/admin/sinks/${added.id}`, { order: "resend", from: "" });
    await complete("to a sink that was wiped");
    const { isSound, text } = await hosts[0].verify();
    assert.ok(isSound, text);
  } finally {
    await sink.stop().catch(() => {});
    await processes.end();
    await rm(folder, { recursive: true, force: true });
  }
});
