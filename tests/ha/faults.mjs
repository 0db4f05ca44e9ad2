// What the drill does to the lab. Each fault happens, lasts for a while and is undone; then the lab has to recover by itself.

import { existsSync, readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Customer } from "./customer.mjs";
import { hasOwnNetwork } from "./net.mjs";
import { isRunning, look, signal, sleep, until } from "./processes.mjs";

/** Longest time for another leader, in milliseconds: Patroni's `ttl`, an election and a promotion. */
const FAIL_OVER_MS = 60_000;
/** Longest time without service, in milliseconds. */
const SERVICE_MS = 35_000;
/** How long an operator waits for a leader before he promotes one, in milliseconds: longer than Patroni needs for it. */
const OPERATOR_MS = 35_000;
/** How long short faults last, in milliseconds. */
const MOMENT_MS = 5_000;
const DAY_MS = 86_400_000;
/** How long waits are cancelled, and how often, in milliseconds. */
const CANCEL_MS = 4_000;
const CANCEL_PAUSE_MS = 200;

const pidsOf = async (machines, mark) => (await Promise.all(machines.map((it) => it.postgres(mark)))).flat();

const led = (lab) => until("there is a leader", FAIL_OVER_MS, () => lab.leader());

/** Freezes processes for a while. */
async function frozen(pids, work) {
  signal("SIGSTOP", pids);
  try {
    await work();
  } finally {
    signal("SIGCONT", pids);
  }
}

/** Waits until another machine than `old` leads. */
const replaced = (lab, old, limitMs = FAIL_OVER_MS) =>
  until(`${old.name} is replaced`, limitMs, async () => {
    const leading = await Promise.all(lab.machines.filter((it) => it !== old).map((it) => it.leads()));
    return leading.some(Boolean);
  });

/**
 * What an operator does when the leader is gone for good after it had counted out every standby: Patroni promotes none of
 * them by itself, because it cannot know that none confirmed anything since. The one that has more is promoted.
 */
async function promoteByHand(standbys) {
  const received = await Promise.all(standbys.map((it) => it.server.sql("select pg_last_wal_receive_lsn() - '0/0'")));
  const candidate = Number(received[0]) >= Number(received[1]) ? standbys[0] : standbys[1];
  console.log(`   nobody leads: ${candidate.name} is promoted by hand`);
  const answer = await candidate.ask("/failover", "POST", { candidate: candidate.name });
  await until(`${candidate.name} leads (${answer.status})`, FAIL_OVER_MS, () => candidate.leads());
}

/** `kill -9` of a postmaster; its frozen children, who cannot notice, are killed as well. */
async function crash(machine) {
  const pids = await machine.postgres();
  const [postmaster, ...children] = pids;
  signal("SIGKILL", [postmaster]);
  await until(`${machine.name} crashed`, FAIL_OVER_MS, () => !isRunning(postmaster));
  signal(
    "SIGKILL",
    children.filter((pid) => look(pid)?.state === "T"),
  );
}

/** Processes of Postgres on the leader that wait for a standby's confirmation. */
async function waiting(leader) {
  return (await leader.postgres("waiting for")).length;
}

const libfaketime = () =>
  readdirSync("/usr/lib")
    .map((name) => join("/usr/lib", name, "faketime/libfaketime.so.1"))
    .find((path) => existsSync(path));

/** Fills a machine's disk until nothing more fits. */
async function fill(machine) {
  const path = join(machine.folder, "filler");
  const block = Buffer.alloc(1 << 20);
  await writeFile(path, "");
  for (;;) {
    try {
      await writeFile(path, block, { flag: "a" });
    } catch (error) {
      if (error.code === "ENOSPC") return () => rm(path, { force: true });
      throw error;
    }
  }
}

async function fullDisk(machine) {
  const empty = await fill(machine);
  await sleep(2 * MOMENT_MS);
  await empty();
}

/** Ends a host and starts it again. */
async function restart(host, how = {}) {
  host.kill();
  await until(`${host.name} ended`, MOMENT_MS, () => !isRunning(host.pid));
  await host.start(how);
}

/** Restarts a host with a clock that `set` moves by an offset, such as `+1h`. */
async function withClock(host, offset, waits) {
  const file = join(host.data, "clock");
  const set = (value) => writeFile(file, value);
  await set(offset);
  const fake = { FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: "1", DONT_FAKE_MONOTONIC: "1" };
  await restart(host, { env: { LD_PRELOAD: libfaketime(), ...fake }, waits });
  return set;
}

/** A host starts with a wrong clock; it may refuse to. */
async function wrongClock(host, offset) {
  await withClock(host, offset, false);
  await sleep(2 * MOMENT_MS);
  await restart(host);
}

/** A host's clock becomes wrong while it serves. */
async function jumpingClock(host, offset) {
  const set = await withClock(host, "+0", true);
  await set(offset);
  await sleep(2 * MOMENT_MS);
  await restart(host);
}

/** It becomes wrong by days: no occurrence of a schedule may be closed, and no payment sent for a wrong day. */
async function jumpingDays(lab, host, days) {
  const planner = new Customer(`planner-${Date.now()}`, []);
  await planner.arrive(host);
  await planner.plan(host, new Date(Date.now() + 10 * DAY_MS).toISOString().slice(0, 10));
  await jumpingClock(host, days);
  const wrong = await lab.through(`select (select count(*) from occurrence)
    + (select count(*) from rail_order where abs(operating_date - current_date) > 10)`);
  if (wrong !== "0") throw new Error(`${wrong} occurrences or orders by a wrong clock`);
}

/**
 * @typedef {import("./lab.mjs").Lab} Lab
 * @typedef {{ pick: (items: any[]) => any }} Chance
 * @typedef {{ name: string, longestPauseMs?: number, lacks?: () => string | false,
 *   run: (lab: Lab, chance: Chance) => Promise<void> }} Fault
 */

/**
 * Only Patroni fails, and its Postgres goes on without it, as a primary for clients that ask it and for the standbys until
 * they follow another one. `fail` returns how to undo it.
 */
async function unattended(lab, fail) {
  const leader = await led(lab);
  const restore = await fail(leader);
  try {
    await replaced(lab, leader);
    for (const host of lab.hosts) await host.serves(SERVICE_MS);
  } finally {
    await restore();
  }
}

/** @type {Fault[]} */
export const FAULTS = [
  {
    name: "only Patroni killed on the leader",
    longestPauseMs: SERVICE_MS,
    run: (lab) =>
      unattended(lab, async (leader) => {
        signal("SIGKILL", [leader.patroni]);
        return () => leader.startPatroni();
      }),
  },
  {
    name: "only Patroni frozen on the leader",
    longestPauseMs: SERVICE_MS,
    run: (lab) =>
      unattended(lab, async ({ patroni }) => {
        signal("SIGSTOP", [patroni]);
        return () => signal("SIGCONT", [patroni]);
      }),
  },
  { name: "kill -9 of the leader's Postgres", run: async (lab) => crash(await led(lab)) },
  {
    name: "loss of the leader's machine",
    run: async (lab) => {
      const leader = await led(lab);
      await leader.lose();
      await replaced(lab, leader);
      leader.startPatroni();
    },
  },
  { name: "kill -9 of a standby's Postgres", run: async (lab, chance) => crash(chance.pick(await lab.standbys())) },
  {
    name: "kill -9 of a host",
    run: async (lab, chance) => {
      const host = chance.pick(lab.hosts);
      host.kill();
      await sleep(1_000);
      await host.start();
    },
  },
  {
    name: "kill -9 of an etcd member",
    run: async (lab, chance) => {
      const machine = chance.pick(lab.machines);
      signal("SIGKILL", [machine.etcd]);
      await sleep(MOMENT_MS);
      machine.startEtcd(lab.machines);
    },
  },
  {
    name: "leader's Postgres frozen for a moment",
    run: async (lab) => frozen(await (await led(lab)).postgres(), () => sleep(MOMENT_MS)),
  },
  {
    // It still believes that it leads when it wakes up.
    name: "leader's machine frozen until it is replaced",
    run: async (lab) => {
      const leader = await led(lab);
      await frozen(await leader.all(), () => replaced(lab, leader));
    },
  },
  {
    name: "leader's walsenders frozen",
    run: async (lab) => frozen(await (await led(lab)).postgres("walsender"), () => sleep(MOMENT_MS)),
  },
  {
    name: "standbys' walreceivers frozen",
    run: async (lab) => frozen(await pidsOf(await lab.standbys(), "walreceiver"), () => sleep(MOMENT_MS)),
  },
  {
    name: "restart of the leader's Postgres",
    run: async (lab) => void (await (await led(lab)).ask("/restart", "POST", {}).catch(() => {})),
  },
  {
    name: "planned switch-over",
    run: async (lab) => {
      const leader = await led(lab);
      await until("the cluster is whole", FAIL_OVER_MS, () => lab.isWhole());
      await leader.ask("/switchover", "POST", { leader: leader.name }).catch(() => {});
    },
  },
  {
    name: "leader cut off until it is replaced",
    lacks: () => !hasOwnNetwork && "network namespaces",
    run: async (lab) => {
      const leader = await led(lab);
      await leader.place.cut();
      await replaced(lab, leader).finally(() => leader.place.restore());
    },
  },
  {
    name: "standby cut off for a moment",
    lacks: () => !hasOwnNetwork && "network namespaces",
    run: async (lab, chance) => {
      const { place } = chance.pick(await lab.standbys());
      await place.cut();
      await sleep(2 * MOMENT_MS);
      await place.restore();
    },
  },
  {
    name: "cancelled waits for the standbys",
    run: async (lab) => {
      const leader = await led(lab);
      await frozen(await leader.postgres("walsender"), async () => {
        const end = Date.now() + CANCEL_MS;
        while (Date.now() < end) {
          // What pg_cancel_backend does, without a connection of its own.
          signal("SIGINT", await leader.postgres("waiting for"));
          await sleep(CANCEL_PAUSE_MS);
        }
      });
    },
  },
  {
    // What waits on the leader is in no standby when the leader crashes, and is lost with it afterwards.
    name: "the losing sequence",
    run: async (lab) => {
      const leader = await led(lab);
      const standbys = await lab.standbys();
      signal("SIGSTOP", await leader.postgres("walsender"));
      await until("a transfer waits", MOMENT_MS, async () => (await waiting(leader)) > 0).catch(() => {});
      const sleepers = await pidsOf(standbys, "");
      await frozen(sleepers, async () => {
        const before = await leader.postmaster();
        await crash(leader);
        const isBack = async () => {
          const pid = await leader.postmaster();
          return pid && pid !== before && (await leader.server.sql("select pg_is_in_recovery()")) === "f";
        };
        await until("the leader is back", FAIL_OVER_MS, isBack).catch(() => {});
        await sleep(2 * MOMENT_MS);
        await leader.lose();
      });
      await replaced(lab, leader, OPERATOR_MS)
        .catch(() => promoteByHand(standbys))
        .finally(() => leader.startPatroni());
    },
  },
  {
    name: "host frozen for a moment",
    run: async (lab, chance) => frozen([chance.pick(lab.hosts).pid], () => sleep(2 * MOMENT_MS)),
  },
  {
    name: "restart of HAProxy",
    run: async (lab) => {
      signal("SIGKILL", [lab.proxy]);
      await sleep(1_000);
      await lab.startProxy();
    },
  },
  {
    name: "host starts with a clock an hour behind",
    lacks: () => !libfaketime() && "libfaketime",
    run: async (lab, chance) => wrongClock(chance.pick(lab.hosts), "-1h"),
  },
  {
    name: "host's clock jumps an hour ahead",
    lacks: () => !libfaketime() && "libfaketime",
    run: async (lab, chance) => jumpingClock(chance.pick(lab.hosts), "+1h"),
  },
  {
    name: "host's clock jumps an hour back",
    lacks: () => !libfaketime() && "libfaketime",
    run: async (lab, chance) => jumpingClock(chance.pick(lab.hosts), "-1h"),
  },
  {
    name: "host's clock jumps 20 days ahead",
    lacks: () => !libfaketime() && "libfaketime",
    run: async (lab, chance) => jumpingDays(lab, chance.pick(lab.hosts), "+20d"),
  },
  {
    name: "host's clock jumps 20 days back",
    lacks: () => !libfaketime() && "libfaketime",
    run: async (lab, chance) => jumpingDays(lab, chance.pick(lab.hosts), "-20d"),
  },
  {
    name: "leader's disk full",
    lacks: () => !hasOwnNetwork && "a disk of its own",
    run: async (lab) => fullDisk(await led(lab)),
  },
  {
    name: "standby's disk full",
    lacks: () => !hasOwnNetwork && "a disk of its own",
    run: async (lab, chance) => fullDisk(chance.pick(await lab.standbys())),
  },
];
