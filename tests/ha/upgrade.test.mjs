// A rolling upgrade and the way back, under load: two hosts on one database are replaced one after the other, first by
// "release N+1", then by this one again. The next release is this program on tables that a migration unknown to it has
// expanded.
//
//   CAUDAL=target/debug/caudal node --test tests/ha/upgrade.test.mjs
//
// The hosts serve as the role that may not rewrite history. It needs Postgres only, and takes half a minute.

import assert from "node:assert/strict";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { test } from "node:test";

import { check } from "./checker.mjs";
import { finalState } from "./final.mjs";
import { Host } from "./host.mjs";
import { Load } from "./load.mjs";
import { Server } from "./postgres.mjs";
import { Processes, sleep } from "./processes.mjs";

/** How long the load runs undisturbed before and after each restart, in milliseconds. */
const CALM_MS = 1_500;

/** What the next release's `caudal migrate` does: its migration only adds. */
const EXPAND = `
begin;
insert into _sqlx_migrations (version, description, success, checksum, execution_time)
    values (900, 'next release', true, '', 0);
alter table transfer add column channel text not null default 'app';
commit`;

/** What a later release does, once nobody goes back any more. */
const CONTRACT = "update schema_compatibility set oldest_migration = 900";

/**
 * What a client gets from a host that is being replaced, besides success; it then asks the other one. The last three are a
 * connection, kept from an earlier request or not yet accepted, that the host closed as the request was on its way.
 */
const MEANWHILE = /^\w+ (20\d|503|ECONNREFUSED|UND_ERR_SOCKET|ECONNRESET|EPIPE)$/;
const SUCCESS = /^\w+ 20\d$/;

/** The answers since `before` that do not match. @param {Map<string, number>} before */
function others(load, before, allowed) {
  return [...load.answers()]
    .map(([name, count]) => [name, count - (before.get(name) ?? 0)])
    .filter(([name, count]) => count > 0 && !allowed.test(name));
}

/**
 * Attempts at an order that got no answer and made the transfer all the same: a host that is stopped answers what it has
 * begun. @param {import("./checker.mjs").Record[]} history @param {import("./checker.mjs").Final} final
 */
function unanswered(history, final) {
  const made = new Map(final.transfers.map((it) => [`${it.account} ${it.amount}`, Date.parse(it.createdAt)]));
  return history.filter(
    (it) => it.type === "order" && it.outcome === "unknown" && made.get(`${it.account} ${it.amount}`) <= it.to,
  );
}

/** Replaces a host; returns the longest time without an acknowledged transfer. */
async function replace(load, host, migrate) {
  const calm = load.answers();
  await sleep(CALM_MS);
  assert.deepEqual(others(load, calm, SUCCESS), [], "while no host restarts, every request succeeds");
  const before = load.answers();
  const start = Date.now();
  await host.stop();
  const stopped = Date.now();
  await migrate?.();
  await host.start();
  const end = Date.now();
  const failed = others(load, before, SUCCESS).map(([name, count]) => `${count} x ${name}`);
  assert.deepEqual(others(load, before, MEANWHILE), [], "clients are asked to try again, or do not reach the host");
  const times = [start, ...load.acknowledgedSince(start), end];
  const pause = Math.max(...times.slice(1).map((time, index) => time - times[index]));
  const seen = failed.length > 0 ? failed.join(", ") : "no request failed";
  console.log(
    `  ${host.name}: ended in ${stopped - start} ms, served again after ${end - start} ms; ` +
      `at most ${pause} ms between acknowledged transfers; ${seen}`,
  );
}

test("a rolling upgrade and the way back lose nothing", async () => {
  const processes = new Processes();
  const folder = await mkdtemp("/tmp/caudal-ha.");
  let load;
  let drained;
  try {
    await chmod(folder, 0o755);
    const server = await Server.in(processes, folder, "postgres");
    await server.create();
    await server.start();
    const owner = new Host(processes, folder, "owner", server.port);
    await server.sql((await owner.command("roles", "--owner", "postgres")).text);
    const migrated = await owner.command("migrate");
    assert.ok(migrated.isDone, migrated.text);
    const hosts = ["a", "b"].map((name) => new Host(processes, folder, name, server.port));
    for (const host of hosts) {
      host.database = host.database.replace("postgres@", "caudal_serve@");
      await host.start();
    }
    load = new Load(() => hosts);
    await load.start();

    console.log("  to the next release");
    await replace(load, hosts[0], () => server.sql(EXPAND));
    await replace(load, hosts[1]);
    console.log("  and back");
    await replace(load, hosts[0]);
    await replace(load, hosts[1]);
    await sleep(CALM_MS);

    drained = await load.stop();
    const final = await finalState(server, drained);
    console.log(`  ${load.history.length} things seen, ${final.transfers.length} transfers in the ledger`);
    assert.deepEqual(check(load.history, final), [], "nothing is lost, doubled or wrong");
    assert.deepEqual(unanswered(load.history, final), [], "a host that stops answers what it has begun");
    for (const host of hosts) {
      const { isSound, text } = await host.verify();
      assert.ok(isSound, text);
      await host.stop();
    }

    await server.sql(CONTRACT);
    const said = await hosts[0].refuse();
    assert.match(said, /only programs that know migration 900 may use it.*start the newer release/);
  } finally {
    if (!drained) await load?.stop();
    await processes.end();
    await rm(folder, { recursive: true, force: true });
  }
});
