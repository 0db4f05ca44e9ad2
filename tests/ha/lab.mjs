// The high-availability lab: three machines with etcd, Patroni and Postgres, and two Caudal hosts, one behind HAProxy.

import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { Host } from "./host.mjs";
import { copyPatroni, Machine } from "./machine.mjs";
import { hasOwnNetwork, hub, makeHub, Place } from "./net.mjs";
import { binaries, freePort, ownFolder, Server } from "./postgres.mjs";
import { isRunning, Processes, until } from "./processes.mjs";

const run = promisify(execFile);

const MACHINES = 3;
/** Longest time for a cluster to form, in milliseconds. */
const FORM_MS = 90_000;
/** Size of each machine's disk, where it gets one of its own: room for an hour of the drill. */
const DISK = "1g";

export class Lab {
  processes = new Processes();
  /** @type {Machine[]} */
  machines = [];
  /** @type {Host[]} */
  hosts = [];

  /** Starts everything in `folder`. `tools`: where install.sh put Patroni. */
  async start(folder, tools) {
    this.folder = folder;
    await makeHub();
    const bin = await binaries();
    this.bin = bin;
    await copyPatroni(tools, this.folder);
    for (let number = 1; number <= MACHINES; number += 1) {
      const place = await Place.make(this.processes, number);
      const home = join(this.folder, `m${number}`);
      await ownFolder(home);
      if (hasOwnNetwork) await run("mount", ["-t", "tmpfs", "-o", `size=${DISK},mode=755`, "tmpfs", home]);
      await ownFolder(home);
      const machine = new Machine(this.processes, place, home, `pg${number}`);
      machine.python = join(this.folder, "python");
      await machine.choosePorts(bin);
      this.machines.push(machine);
    }
    for (const machine of this.machines) {
      machine.startEtcd(this.machines);
      await machine.configure(this.machines, bin);
    }
    for (const machine of this.machines) machine.startPatroni();
    await until("a leader with two standbys", FORM_MS, () => this.isWhole());
    await this.startProxy();
    // Both ways to find the leader. Nobody says how far a commit must get: that follows from the cluster.
    const servers = this.machines.map(({ place, port }) => `${place.address}:${port}`);
    for (const [name, addresses] of [["host-a"], ["host-b", servers]]) {
      const host = new Host(this.processes, this.folder, name, this.proxyPort, addresses);
      await mkdir(host.data);
      await host.start();
      this.hosts.push(host);
    }
  }

  /** HAProxy sends connections to the machine whose Patroni says that it leads, and cuts those to any other. */
  async startProxy() {
    this.proxyPort ??= await freePort();
    const servers = this.machines.map(
      ({ name, place, port, rest }) => `  server ${name} ${place.address}:${port} check port ${rest}`,
    );
    const config = `
defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  timeout check 2s
listen postgres
  bind 127.0.0.1:${this.proxyPort}
  option httpchk
  http-check send meth OPTIONS uri /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join("\n")}
`;
    const path = join(this.folder, "haproxy.cfg");
    await writeFile(path, config);
    this.proxy = this.processes.start("/usr/sbin/haproxy", ["-db", "-f", path], {
      log: join(this.folder, "haproxy.log"),
    });
    // Until its first checks HAProxy sends connections anywhere.
    const isLed = async () => (await this.through("select pg_is_in_recovery()")) === "f";
    await until("HAProxy finds the leader", FORM_MS, async () => {
      for (let n = 0; n < MACHINES; n += 1) if (!(await isLed())) return false;
      return true;
    });
  }

  /** The output of a statement that is sent the way the hosts send theirs. */
  through(statement) {
    return new Server(this.processes, this.folder, "proxy", this.bin, this.proxyPort).sql(statement);
  }

  /** Starts again what ended by itself, as an init system does: etcd and Patroni do when their disk is full. */
  revive() {
    for (const machine of this.machines) {
      if (!isRunning(machine.etcd)) machine.startEtcd(this.machines);
      if (!isRunning(machine.patroni)) machine.startPatroni();
    }
  }

  /** The machine that leads, if exactly one says so. */
  async leader() {
    const leading = await Promise.all(this.machines.map((it) => it.leads()));
    const [leader, ...others] = this.machines.filter((_, index) => leading[index]);
    return others.length === 0 ? leader : undefined;
  }

  async standbys() {
    const leader = await this.leader();
    return this.machines.filter((it) => it !== leader);
  }

  /** Whether one machine leads and the others confirm. */
  async isWhole() {
    const leader = await this.leader();
    if (!leader) return false;
    const others = this.machines.filter((it) => it !== leader);
    return (await Promise.all(others.map((it) => it.confirms()))).every(Boolean);
  }

  /** What an operator wants to know. */
  addresses() {
    const machines = this.machines.map(
      ({ name, place, port, rest }) =>
        `${name}  postgres ${place.address}:${port}  patroni http://${place.address}:${rest}`,
    );
    const hosts = this.hosts.map(
      ({ name, url, assistPort }) => `${name}  ${url}  http://${hub}:${assistPort}/ai/health`,
    );
    return [...machines, `haproxy  postgres 127.0.0.1:${this.proxyPort}`, ...hosts, `folder  ${this.folder}`].join(
      "\n",
    );
  }

  async end() {
    await this.processes.end((await Promise.all(this.machines.map((it) => it.postgres()))).flat());
    if (hasOwnNetwork) for (const { folder } of this.machines) await run("umount", ["--lazy", folder]).catch(() => {});
  }
}
