// The drill: faults in an order that a seed decides, under load, until every one has been recovered from; then everything
// that any client saw is compared with the ledger.
//
//   CAUDAL_HA_FAULTS  number of faults
//   CAUDAL_HA_SEED    repeats an order
//   CAUDAL_HA_ONLY    only faults whose name contains one of these, separated by commas
//   CAUDAL_HA_LOGS    folder to copy the lab's logs to

import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Chance } from "./chance.mjs";
import { check } from "./checker.mjs";
import { FAULTS } from "./faults.mjs";
import { finalState } from "./final.mjs";
import { Lab } from "./lab.mjs";
import { Load } from "./load.mjs";
import { sleep, until } from "./processes.mjs";

/** Longest time from the end of a fault until both hosts serve and the cluster is whole, in milliseconds. */
const RECOVERY_MS = 120_000;
/** How long the load runs undisturbed before and after each fault, in milliseconds. */
const CALM_MS = 1_500;
/** Pause between two questions whether a host is ready, in milliseconds. */
const WATCH_PAUSE_MS = 500;
/** An order that takes longer without success shows that its host was not ready, in milliseconds. */
const LIE_MS = 5_000;
/** Findings that are shown. */
const SHOWN = 20;

const count = Number(process.env.CAUDAL_HA_FAULTS ?? 30);
const seed = process.env.CAUDAL_HA_SEED ?? String(Math.floor(Math.random() * 1e9));
const only = (process.env.CAUDAL_HA_ONLY ?? "").split(",");

const chance = new Chance(seed);
const lab = new Lab();
const unacknowledged = [];
const load = new Load(
  () => lab.hosts,
  (answer) => answer.name.startsWith("send") && answer.name !== "send 200" && unacknowledged.push(answer),
);
/** What each host said of itself. @type {{ host: string, at: number, isReady: boolean }[]} */
const readiness = [];

/** Asks a host again and again whether it is ready. */
async function watch(host) {
  for (;;) {
    const at = Date.now();
    const { isReady } = await host.readiness().catch(() => ({ isReady: false }));
    readiness.push({ host: host.name, at, isReady });
    await sleep(WATCH_PAUSE_MS);
  }
}

/** Orders that got no acknowledgement although their host said all the while that it is ready. */
function lies() {
  const isReady = ({ host, from, to }) =>
    readiness.filter((it) => it.host === host && it.at >= from && it.at <= to).every((it) => it.isReady);
  return unacknowledged.filter((it) => it.to - it.from >= LIE_MS && isReady(it));
}

/** The faults that this machine can have, and a loud line for each that it cannot. */
function possible() {
  const wanted = FAULTS.filter((it) => only.some((part) => it.name.includes(part)));
  for (const { name, lacks } of wanted) if (lacks?.()) console.log(`=== LEFT OUT, no ${lacks()} here: ${name} ===`);
  return wanted.filter((it) => !it.lacks?.());
}

/** Each kind once before any comes again. */
function* order(faults) {
  for (let deck = []; ; ) {
    if (deck.length === 0) deck = chance.shuffled(faults);
    yield deck.pop();
  }
}

/** Waits until every host acknowledges transfers and the cluster is whole again. */
async function recovered() {
  lab.revive();
  const start = Date.now();
  for (const host of lab.hosts) await host.serves(RECOVERY_MS);
  await until("the cluster is whole", RECOVERY_MS, () => lab.isWhole());
  await until("transfers are acknowledged", RECOVERY_MS, () => load.acknowledgedSince(start).length >= 3);
}

/** Injects one fault; returns the longest time without an acknowledged transfer and the answers meanwhile. */
async function round(fault) {
  await sleep(CALM_MS);
  const before = load.answers();
  const start = Date.now();
  await fault.run(lab, chance);
  const undone = Date.now();
  await recovered();
  await sleep(CALM_MS);
  const times = [start, ...load.acknowledgedSince(start), Date.now()];
  const pause = Math.max(...times.slice(1).map((time, index) => time - times[index]));
  const answers = [...load.answers()].map(([name, n]) => [name, n - (before.get(name) ?? 0)]).filter(([, n]) => n > 0);
  return { pause, lasted: undone - start, answers };
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Answers by status, those that are no success by request. */
function summary(answers) {
  const good = answers.filter(([name]) => / 20\d$/.test(name)).reduce((sum, [, n]) => sum + n, 0);
  const bad = answers.filter(([name]) => !/ 20\d$/.test(name)).map(([name, n]) => `${n} x ${name}`);
  return [`${good} answered`, ...bad].join(", ");
}

async function drill() {
  await lab.start(String(process.env.CAUDAL_HA_FOLDER), process.argv[2]);
  console.log(lab.addresses());
  await load.start();
  for (const host of lab.hosts) watch(host);
  const pauses = new Map();
  let isExplained = true;
  let isPrompt = true;
  const faults = order(possible());
  for (let n = 1; n <= count; n += 1) {
    const fault = faults.next().value;
    process.stdout.write(`${n}. ${fault.name}: `);
    const { pause, lasted, answers } = await round(fault);
    pauses.set(fault.name, [...(pauses.get(fault.name) ?? []), pause]);
    // A host that cannot reach its database says so with 503; 500 would tell clients not to try again.
    isExplained &&= !answers.some(([name]) => / 500$/.test(name));
    isPrompt &&= pause <= (fault.longestPauseMs ?? Number.POSITIVE_INFINITY);
    console.log(`lasted ${seconds(lasted)}, pause ${seconds(pause)}; ${summary(answers)}`);
  }
  const drained = await load.stop();
  console.log("\nlongest time without an acknowledged transfer, by fault:");
  for (const [name, all] of [...pauses].sort((a, b) => Math.max(...b[1]) - Math.max(...a[1])))
    console.log(`  ${name}: ${all.map(seconds).join(", ")}`);
  if (!isExplained) console.log("\na host answered with 500 during a fault");
  if (!isPrompt) console.log("\nnothing was acknowledged for longer than a fault allows");
  const told = lies();
  for (const { name, host, from, to } of told.slice(0, SHOWN))
    console.log(`  ${host} said that it was ready: ${name} after ${seconds(to - from)}`);
  return (await judge(drained)) && isExplained && isPrompt && told.length === 0;
}

/** What `caudal verify` complains about. */
const broken = (text) =>
  text
    .split("\n")
    .filter((line) => !line.startsWith("  ok"))
    .join("\n");

async function judge(drained) {
  const leader = await until("there is a leader", RECOVERY_MS, () => lab.leader());
  const final = await finalState(leader.server, drained);
  const findings = check(load.history, final);
  const acknowledged = new Set(
    load.history.flatMap((it) => (it.type === "order" && it.transfer ? [it.transfer.id] : [])),
  );
  const known = new Set(final.transfers.map((it) => it.id));
  const lost = [...acknowledged].filter((id) => !known.has(id));
  const rules = {};
  for (const { rule } of findings) rules[rule] = (rules[rule] ?? 0) + 1;
  console.log(
    `\n${count} faults; ${load.history.length} things seen; ${acknowledged.size} transfers acknowledged, ${final.transfers.length} in the ledger`,
  );
  console.log(
    `${lost.length} acknowledged transfers lost, ${rules.doubled ?? 0} doubled; all findings: ${JSON.stringify(rules)}`,
  );
  for (const { rule, detail } of findings.slice(0, SHOWN)) console.log(`  ${rule}: ${detail}`);
  let isSound = true;
  for (const host of lab.hosts) {
    const verified = await host.verify();
    isSound &&= verified.isSound;
    console.log(`verify with the heads of ${host.name}: ${verified.isSound ? "sound" : broken(verified.text)}`);
  }
  return findings.length === 0 && isSound;
}

/** Copies logs out of the throw-away folder, if CAUDAL_HA_LOGS names another one. */
function keepLogs() {
  const to = process.env.CAUDAL_HA_LOGS;
  if (!to || !lab.folder) return;
  mkdirSync(to, { recursive: true });
  for (const folder of [lab.folder, ...lab.machines.map((it) => it.folder)])
    for (const name of readdirSync(folder)) if (name.endsWith(".log")) copyFileSync(join(folder, name), join(to, name));
}

console.log(`${count} faults under load, CAUDAL_HA_SEED=${seed}`);
let isGood = false;
try {
  isGood = await drill();
} catch (error) {
  console.error(`the drill broke off: ${error.stack}`);
  for (const host of lab.hosts) {
    const lines = readFileSync(host.log, "utf8").split("\n");
    const worth = lines.filter((line) => /WARN|ERROR/.test(line)).slice(-SHOWN);
    console.error(`the end of ${host.name}'s log:\n${worth.join("\n")}`);
  }
}
keepLogs();
console.log(`\nHA drill: ${isGood ? "nothing lost, nothing doubled, books in order" : "FAILED"}`);
await lab.end();
process.exit(isGood ? 0 : 1);
