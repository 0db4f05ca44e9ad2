// A machine of the lab: a member of etcd, Patroni, and the Postgres that Patroni runs.

import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Server } from "./postgres.mjs";
import { family, isRunning, look, signal, until } from "./processes.mjs";

const USER = "postgres";
const START_MS = 30_000;

/** Milliseconds. Above the defaults, because all machines of the lab share the processors of one. */
const ETCD_HEARTBEAT = 250;
const ETCD_ELECTION = 2_500;

/** Seconds. The shortest that Patroni takes for `ttl`; a leader that is gone is replaced after it. */
const TTL = 20;
const LOOP_WAIT = 2;
const RETRY_TIMEOUT = 5;

export class Machine {
  /** @param {import("./processes.mjs").Processes} processes @param {import("./net.mjs").Place} place */
  constructor(processes, place, folder, name) {
    Object.assign(this, { processes, place, folder, name });
    this.data = join(folder, name);
  }

  async choosePorts(bin) {
    const ports = await Promise.all([1, 2, 3, 4].map(() => this.place.port()));
    [this.client, this.peer, this.rest, this.port] = ports;
    this.server = new Server(this.processes, this.folder, this.name, bin, this.port, this.place.address);
  }

  #start(name, command, args, env) {
    const options = { log: join(this.folder, `${this.name}-${name}.log`), user: USER, prefix: this.place.prefix, env };
    return this.processes.start(command, args, options);
  }

  startEtcd(members) {
    const { address, client, peer } = { ...this, address: this.place.address };
    const cluster = members.map((it) => `${it.name}=http://${it.place.address}:${it.peer}`).join(",");
    const args = {
      name: this.name,
      "data-dir": join(this.folder, `${this.name}-etcd`),
      "listen-client-urls": `http://${address}:${client}`,
      "advertise-client-urls": `http://${address}:${client}`,
      "listen-peer-urls": `http://${address}:${peer}`,
      "initial-advertise-peer-urls": `http://${address}:${peer}`,
      "initial-cluster": cluster,
      "heartbeat-interval": ETCD_HEARTBEAT,
      "election-timeout": ETCD_ELECTION,
    };
    this.etcd = this.#start(
      "etcd",
      "etcd",
      Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]),
    );
  }

  async configure(members, bin) {
    const { address } = this.place;
    const login = { username: "postgres", password: "postgres" };
    const config = {
      scope: "caudal",
      name: this.name,
      restapi: { listen: `${address}:${this.rest}`, connect_address: `${address}:${this.rest}` },
      etcd3: { hosts: members.map((it) => `${it.place.address}:${it.client}`) },
      bootstrap: {
        dcs: {
          ttl: TTL,
          loop_wait: LOOP_WAIT,
          retry_timeout: RETRY_TIMEOUT,
          // Commits wait for one of the other two, always.
          synchronous_mode: "quorum",
          synchronous_mode_strict: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: { wal_keep_size: "64MB", max_connections: 100, wal_log_hints: "on" },
          },
        },
        initdb: [{ encoding: "UTF8" }, "data-checksums"],
      },
      postgresql: {
        listen: `${address}:${this.port}`,
        connect_address: `${address}:${this.port}`,
        data_dir: this.data,
        bin_dir: bin,
        pgpass: join(this.folder, `${this.name}-pgpass`),
        authentication: { superuser: login, replication: login, rewind: login },
        pg_hba: ["local all all trust", "host all all all trust", "host replication all all trust"],
        parameters: {
          unix_socket_directories: this.folder,
          shared_buffers: "64MB",
          max_wal_size: "128MB",
          log_line_prefix: "%m [%p] %b ",
          // A peer whose machine is gone is noticed by these, and by what Patroni does.
          wal_sender_timeout: "10s",
          wal_receiver_timeout: "10s",
          tcp_keepalives_idle: 5,
          tcp_keepalives_interval: 2,
          tcp_keepalives_count: 3,
        },
      },
    };
    this.config = join(this.folder, `${this.name}.json`);
    await writeFile(this.config, JSON.stringify(config, null, 2));
  }

  startPatroni() {
    const env = { ...process.env, PYTHONPATH: this.python };
    this.patroni = this.#start("patroni", "/usr/bin/python3", ["-m", "patroni", this.config], env);
  }

  /** The postmaster, which Patroni starts as a process of nobody. */
  async postmaster() {
    const text = await readFile(join(this.data, "postmaster.pid"), "utf8").catch(() => "");
    const pid = Number(text.split("\n")[0]);
    return pid > 0 && look(pid)?.title.includes(this.data) ? pid : undefined;
  }

  /** Postgres' processes whose title contains `mark`. */
  async postgres(mark = "") {
    const pid = await this.postmaster();
    return pid
      ? family(pid)
          .filter((it) => it.title.includes(mark))
          .map((it) => it.pid)
      : [];
  }

  /** Everything that runs on this machine, or all but etcd. */
  async all({ etcd = true } = {}) {
    const patroni = [this.patroni, ...(etcd ? [this.etcd] : [])].flatMap((pid) => family(pid).map((it) => it.pid));
    return [...patroni, ...(await this.postgres())];
  }

  /** Kills Postgres and Patroni here. */
  async lose() {
    const pids = await this.all({ etcd: false });
    // Patroni first, or it starts Postgres again.
    signal("SIGKILL", pids);
    await until(`${this.name} is gone`, START_MS, () => !pids.some(isRunning));
    this.patroni = undefined;
  }

  /** Answer of Patroni's API. */
  async ask(path, method = "GET", body = undefined) {
    const url = `http://${this.place.address}:${this.rest}${path}`;
    const headers = { "content-type": "application/json" };
    return fetch(url, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(5_000) });
  }

  async leads() {
    return this.ask("/primary").then(
      (it) => it.ok,
      () => false,
    );
  }

  /** Whether this is a standby whose confirmation counts. */
  async confirms() {
    return this.ask("/quorum").then(
      (it) => it.ok,
      () => false,
    );
  }
}

/** Makes Patroni readable for the servers' user. */
export async function copyPatroni(from, folder) {
  const [lib] = await readdir(join(from, "venv/lib"));
  await cp(join(from, "venv/lib", lib, "site-packages"), join(folder, "python"), { recursive: true });
}
