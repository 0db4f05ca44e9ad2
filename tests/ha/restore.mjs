// The restore drill: a backup is restored to a moment T while payments are on their way. Then `caudal verify` has to name
// what is missing, hosts have to refuse until `caudal accept-loss`, payments that were pending at T have to be settled once,
// under the tracking keys that the rail knows, and `caudal reconcile` has to find those that the ledger forgot: they are
// booked, and retries pay nothing twice. The rail is a stand-in for STP that outlives the hosts.
//
//   make restore-drill

import assert from "node:assert/strict";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";

import { Backup } from "./backup.mjs";
import { check } from "./checker.mjs";
import { Customer, Listener } from "./customer.mjs";
import { finalState } from "./final.mjs";
import { Host } from "./host.mjs";
import { Server } from "./postgres.mjs";
import { Processes, sleep, until } from "./processes.mjs";
import { accepted as acceptedIn, batches, missing as missingIn, payments, places, ranges } from "./restored.mjs";
import { Stp } from "./stp.mjs";

/** Orders before T and after it, by each customer. */
const ORDERS = 15;
/** Pause between two orders, in milliseconds. */
const PAUSE_MS = 100;
/** Pause after T, in milliseconds, so that what follows is later by any clock. */
const AFTER_MS = 100;
/** Longest time that the rail takes before T, so that payments are pending there, and after the restore, in milliseconds. */
const SLOW_MS = 20_000;
const FAST_MS = 2_000;
/** An account whose number the bank assigns. */
const ACCOUNT = { accountType: "checking" };
/** Longest time until what is awaited of a host has happened, in milliseconds: a late payment takes ten times as long. */
const PATIENCE_MS = 90_000;
/** Lines of a list that are printed. */
const SHOWN = 5;

const folder = String(process.env.CAUDAL_HA_FOLDER);
const processes = new Processes();
const history = [];
/** Every acknowledged order: what was answered, and when. */
const acknowledged = [];
/** What a program has processed that reads with `caudal events`, by transaction and ordinal, and where it is. */
const processed = new Set();
let cursor = "0";

let hosts;
const stp = new Stp();
let listener;
let server;

const show = (lines) => {
  for (const line of lines.slice(0, SHOWN)) console.log(`    ${line}`);
  if (lines.length > SHOWN) console.log(`    and ${lines.length - SHOWN} more`);
};

/** Sends an order until it is acknowledged. */
async function send(customer, host, order) {
  const { outcome, answer } = await customer.send(host, `sender of ${customer.user}`, order);
  assert.equal(outcome, "done", JSON.stringify(answer));
  const { id, speiReference: key } = answer;
  acknowledged.push({ customer, order, id, key, at: Date.now() });
  return { id, key };
}

/** Everybody sends some orders, each through another host than the one before. */
async function work(customers) {
  for (let n = 0; n < ORDERS; n += 1) {
    for (const [index, customer] of customers.entries())
      await send(customer, hosts[(n + index) % hosts.length], customer.order());
    await sleep(PAUSE_MS);
  }
}

async function arrive(user, host) {
  const customer = new Customer(user, history);
  await customer.arrive(host, ACCOUNT);
  return customer;
}

async function startHosts(delayMs) {
  stp.delayMs = delayMs;
  for (const host of hosts) await host.start();
}

/** The chains in a file of heads. */
const chainsIn = async (file) => JSON.parse(JSON.parse(await readFile(file, "utf8")).signed).chains;

/** Waits until each host's file of heads reaches the batches that are in the ledger now. */
async function recorded() {
  const ends = ranges(await places(server));
  for (const host of hosts)
    await until(`${host.name} records the heads`, PATIENCE_MS, async () => {
      const heads = await chainsIn(join(host.data, "ledger-heads.json"));
      return [...ends].every(([chain, { to }]) => (heads[chain]?.at(-1)?.[0] ?? -1) >= to);
    });
}

/** Until T, T, and after it; returns what was known when everything stopped. */
async function lose(backup) {
  const ana = await arrive("ana", hosts[0]);
  const bruno = await arrive("bruno", hosts[1]);
  listener = new Listener(ana, "events of ana", () => hosts[Date.now() % hosts.length]);
  await backup.first();
  console.log("a full backup is made");
  await work([ana, bruno]);
  const instant = Date.now();
  const time = await server.sql("select clock_timestamp()");
  await sleep(AFTER_MS);
  const before = acknowledged.length;
  // A new customer's account and payee are forgotten as well.
  const carla = await arrive("carla", hosts[0]);
  await work([ana, bruno, carla]);
  await recorded();
  const saved = join(folder, "saved-heads.json");
  await copyFile(join(hosts[0].data, "ledger-heads.json"), saved);
  // What no file of heads knows: hosts write theirs every ten seconds.
  for (const [index, host] of hosts.entries()) await send([ana, bruno][index], host, [ana, bruno][index].order());
  for (const host of hosts) await host.stop();
  await consume();
  const lost = { places: await places(server), payments: await payments(server), batches: await batches(server) };
  await server.stop();
  console.log(`T is ${time}; acknowledged until then: ${before}, after it: ${acknowledged.length - before}`);
  return { instant, time, carla, saved, lost };
}

/** `verify` names every recorded head that is gone, and nothing else. */
async function verifyNames(saved, missing) {
  const heads = await chainsIn(saved);
  const { isDone, text } = await hosts[0].command("verify", "--heads", saved);
  assert.ok(!isDone, "verify fails");
  const broken = text.split("\n").filter((line) => line.includes("BROKEN"));
  assert.equal(broken.length, 1, `nothing but the heads is wrong: ${broken.join("; ")}`);
  const expected = Object.entries(heads)
    .map(([chain, all]) => [chain, all.at(-1)[0]])
    .filter(([chain, seq]) => missing.has(`${chain} ${seq}`))
    .map((it) => it.join(" "));
  assert.deepEqual(missingIn(text), new Set(expected));
  console.log(`verify --heads names the ends of ${expected.length} chains, as it should:`);
  show(text.split("\n").filter((line) => line.includes("missing or was replaced")));
}

/** Neither hosts nor commands go on. */
async function refuse() {
  for (const host of hosts) {
    const said = await host.refuse();
    assert.match(said, /history was shortened or rewritten.*caudal accept-loss/);
  }
  const { isDone, text } = await hosts[0].command("replay");
  assert.ok(!isDone, text);
  console.log("both hosts refuse to start, and so does a command that opens the ledger");
}

/** What is accepted are the missing batches, as far as heads were recorded of them. */
async function accept(missing) {
  const accepted = new Map();
  for (const host of hosts) {
    const { isDone, text } = await host.command("accept-loss", "--reason", "restored a backup", "--by", "drill");
    assert.ok(isDone, text);
    for (const [chain, range] of acceptedIn(text)) {
      const { from, to } = accepted.get(chain) ?? range;
      accepted.set(chain, { from: Math.min(from, range.from), to: Math.max(to, range.to) });
    }
    console.log(`accept-loss with the data folder of ${host.name}:`);
    show(text.split("\n"));
  }
  const unrecorded = [];
  for (const [chain, { from, to }] of ranges(missing)) {
    assert.equal(accepted.get(chain)?.from, from, `the loss of ${chain} begins where it did`);
    assert.ok(accepted.get(chain).to <= to, `the loss of ${chain} ends where it did`);
    if (accepted.get(chain).to < to) unrecorded.push(`${to - accepted.get(chain).to} of chain ${chain}`);
    accepted.delete(chain);
  }
  assert.equal(accepted.size, 0, "nothing is accepted that is not lost");
  console.log(`lost without a recorded head, younger than the last recording: ${unrecorded.join(", ") || "none"}`);
}

/** Reads the events after the cursor. */
async function consume() {
  const { isDone, text } = await hosts[0].command("events", "--from", cursor);
  assert.ok(isDone, text);
  for (const line of text.split("\n").map((it) => JSON.parse(it))) {
    for (const { transactionId, ordinal } of line.events) processed.add(`${transactionId} ${ordinal}`);
    cursor = line.cursor;
  }
}

/** A consumer that is ahead gets an error and starts again, as OPERATING.md says. Neither it nor a stream skips an event. */
async function catchUp() {
  const { isDone, text } = await hosts[0].command("events", "--from", cursor);
  assert.ok(!isDone && text.includes("read again with --from 0"), text);
  cursor = "0";
  await consume();
  const now = await server.rows("select transfer_id as id, ordinal from transfer_event");
  assert.deepEqual(
    now.filter(({ id, ordinal }) => !processed.has(`${id} ${ordinal}`)),
    [],
  );
  console.log(`a consumer of events skipped none, and has ${processed.size - now.length} to undo`);
  await until("the stream has reported everything", PATIENCE_MS, async () => {
    const { session } = listener;
    const isHeard = session.endsWith("again") && history.some((it) => it.type === "event" && it.session === session);
    const findings = check(history, await finalState(server, [session]));
    return isHeard && !findings.some((it) => it.rule === "event-missed");
  });
  await listener.end();
}

/** What a tracking key has after its date, which another one may have if midnight has passed. @param {string} key */
const withoutDate = (key) => key.slice("CAUD20261122".length);

/** The first final status. A return may follow it. @param {string[]} statuses */
const decision = (statuses) => statuses.find((it) => it === "completed" || it === "failed");

/** Waits until the rail has decided on every payment; returns all of them. */
async function decided() {
  await until("every payment is decided on", PATIENCE_MS, async () => {
    return (await server.sql("select count(*) from rail_payment")) === "0";
  });
  return payments(server);
}

/** Payments that were pending at T: decided on once, under the same tracking key, as before the loss. */
async function settle(pending, lost) {
  await until("payments are handed over", PATIENCE_MS, async () => {
    const now = await server.rows("select transfer_id as id, attempts from rail_payment");
    return pending.every(({ id, attempts }) => (now.find((it) => it.id === id)?.attempts ?? Infinity) > attempts);
  });
  const now = await decided();
  const counts = { completed: 0, failed: 0 };
  let isAgain = 0;
  for (const { id, key } of pending) {
    const { key: same, statuses } = now.get(id);
    assert.equal(same, key, "the tracking key stays");
    const finals = statuses.filter((it) => it === "completed" || it === "failed");
    assert.equal(finals.length, 1, `${id} is decided on once: ${statuses}`);
    counts[finals[0]] += 1;
    const earlier = decision(lost.payments.get(id).statuses);
    if (!earlier) continue;
    isAgain += 1;
    assert.equal(finals[0], earlier, `${id} ends as it had before`);
  }
  const isUnsent = pending.filter((it) => it.attempts === 0).length;
  console.log(
    `${pending.length} payments were pending at T and handed over again under their old keys; ${counts.completed} settled ` +
      `once, ${counts.failed} were rejected once. ${isAgain} had been decided on after T, and ended the same way again; ` +
      `${isUnsent} were not yet handed over at T`,
  );
}

/** Runs an operator's command against a host; returns what it printed. */
async function operate(...args) {
  const { text } = await hosts[0].command(...args, "--admin-url", `http://127.0.0.1:${hosts[0].assistPort}`);
  return text;
}

/** Compares the day with the rail; returns its differences. */
async function reconcile() {
  const date = stp.today.replace(/(....)(..)(..)/, "$1-$2-$3");
  const text = await operate("reconcile", "--date", date, "--format", "json");
  // What follows the report says that the command failed, as it does if a person has to decide.
  const report = JSON.parse(text.slice(0, text.lastIndexOf("\n}") + 2));
  const { matched, missingHere, missingThere, different, duplicated } = report;
  console.log(
    `reconciled ${date}: ${matched} matched, ${missingHere} missing here, ${missingThere} missing at the rail, ` +
      `${different} different, ${duplicated} duplicated`,
  );
  assert.deepEqual([missingThere, duplicated], [0, 0]);
  return report.differences;
}

/** An operator books the payments that the ledger forgot and the rail has settled; returns their tracking keys. */
async function book(forgotten, carla) {
  await until("the rail is through with every order", PATIENCE_MS, () => stp.orders().every((it) => it.estado !== "A"));
  const settled = new Map(stp.orders().map((it) => [it.claveRastreo, it.estado === "LQ"]));
  const atRail = forgotten.filter((it) => settled.has(it.key));
  const missing = (await reconcile()).filter((it) => it.finding === "missing-here").map((it) => it.trackingKey);
  assert.deepEqual(new Set(missing), new Set(atRail.map((it) => it.key)), "what is missing here was forgotten");
  const booked = new Set();
  for (const { id, difference } of JSON.parse(await operate("payments", "cases", "--json")).cases) {
    const { customer, key } = forgotten.find((it) => it.key === difference.trackingKey);
    assert.ok(settled.get(key), "only what has settled is a case");
    const said = await operate("payments", "book", "--case", id, "--reason", "lost in the restore");
    if (customer === carla) {
      assert.match(said, /name the account/, "nobody else is debited");
      assert.match(await operate("payments", "close", "--case", id, "--reason", "no such customer any more"), /closed/);
    } else {
      assert.match(said, /booked as/);
      booked.add(key);
    }
  }
  assert.ok(booked.size > 0);
  const owed = atRail.filter((it) => it.customer !== carla && settled.get(it.key)).map((it) => it.key);
  assert.deepEqual(booked, new Set(owed), "every payment that was paid is booked");
  const left = (await reconcile()).filter((it) => it.remedy === "decision").map((it) => it.trackingKey);
  assert.deepEqual(
    new Set(left),
    new Set(atRail.filter((it) => it.customer === carla && settled.get(it.key)).map((it) => it.key)),
  );
  console.log(`${booked.size} forgotten payments were booked`);
  return booked;
}

/** Clients repeat what the ledger forgot: they get what was booked, or another transfer with the tracking key that it had. */
async function repeat(forgotten, carla, booked) {
  const before = stp.orders().length;
  const news = forgotten.filter((it) => !stp.orders().some((order) => order.claveRastreo === it.key));
  for (const { customer, order, id, key } of forgotten.filter((it) => it.customer !== carla)) {
    const now = await send(customer, hosts[0], order);
    assert.notEqual(now.id, id, "a forgotten transfer is a new one");
    assert.equal(withoutDate(now.key), withoutDate(key), "the rail knows it again");
    if (booked.has(key)) assert.equal(now.key, key, "it is the booked one");
  }
  await decided();
  const more = stp.orders().length - before;
  assert.equal(more, news.filter((it) => it.customer !== carla).length, "nothing is paid twice");
  console.log(`repeated under the same keys, ${more} orders that had not gone out were paid, and none twice`);
  const { outcome, answer } = await carla.send(
    hosts[0],
    "carla again",
    forgotten.find((it) => it.customer === carla).order,
  );
  assert.equal(outcome, "refused", "a forgotten account is not there");
  console.log(`a client whose account is forgotten gets: ${answer.status} ${answer.code}`);
}

async function drill() {
  server = await Server.in(processes, folder, "postgres");
  const backup = await Backup.of(server, folder);
  await server.create(backup.settings);
  await server.start();
  hosts = ["a", "b"].map((name) => new Host(processes, folder, name, server.port));
  const options = await stp.start(folder);
  for (const host of hosts) host.options = options;
  await startHosts(SLOW_MS);
  const { instant, time, carla, saved, lost } = await lose(backup);

  const start = Date.now();
  await backup.restore(time);
  await server.start();
  await until("the server leads", PATIENCE_MS, async () => (await server.sql("select pg_is_in_recovery()")) === "f");
  await backup.run("check");
  console.log(`restored to T and promoted in ${((Date.now() - start) / 1000).toFixed(1)} s; archiving goes on`);

  const kept = await places(server);
  const missing = new Set([...lost.places].filter((place) => !kept.has(place)));
  assert.ok([...kept].every((place) => lost.places.has(place)));
  const known = await payments(server);
  const forgotten = acknowledged.filter((it) => it.at > instant);
  const survivors = acknowledged.filter((it) => it.at <= instant);
  assert.ok(survivors.every((it) => known.has(it.id)) && !forgotten.some((it) => known.has(it.id)));
  const told = new Set(forgotten.map((it) => it.id));
  const inBatches = [...missing].flatMap((place) => lost.batches.get(place) ?? []);
  assert.ok(
    [...told].every((id) => inBatches.includes(id)),
    "each forgotten transfer is in a missing batch",
  );
  const pending = [...known].filter(([, it]) => it.pending).map(([id, it]) => ({ id, ...it }));
  console.log(
    `missing: ${missing.size} batches and audit records, ${forgotten.length} acknowledged transfers among them`,
  );

  await verifyNames(saved, missing);
  await refuse();
  assert.deepEqual(await places(server), kept, "nothing was written meanwhile");
  await accept(missing);
  await startHosts(FAST_MS);
  await settle(pending, lost);
  await repeat(forgotten, carla, await book(forgotten, carla));
  await work(survivors.slice(-2).map((it) => it.customer));
  const now = await decided();
  await catchUp();
  for (const host of hosts) await host.stop();
  const keys = [...now.values()].map((it) => it.key);
  assert.equal(new Set(keys).size, keys.length);

  const final = await finalState(server);
  const findings = check(history, final);
  const gone = new Set(findings.filter((it) => it.rule === "lost").map((it) => it.detail.split(",")[0]));
  assert.deepEqual(gone, told, "the checker misses what was seen after T, and nothing else");
  const lasting = history.filter((it) => !(it.transfer && told.has(it.transfer.id)));
  assert.deepEqual(check(lasting, final), [], "everything else is kept");
  for (const [host, ...args] of [[hosts[0]], [hosts[1]], [hosts[0], "--heads", saved]]) {
    const { isDone, text } = await host.command("verify", ...args);
    assert.ok(isDone && text.includes("LOST    batches"), text);
  }
  console.log(`verify passes and says LOST; ${final.transfers.length} transfers are in the ledger`);
}

let isGood = false;
try {
  await drill();
  isGood = true;
} catch (error) {
  console.error(`the drill broke off: ${error.stack}`);
}
console.log(`\nrestore drill: ${isGood ? "what was lost is known, the rest is kept" : "FAILED"}`);
await processes.end();
process.exit(isGood ? 0 : 1);
