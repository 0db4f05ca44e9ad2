// A plain Postgres server on a free port, as a primary or as a copy that follows one.

import { execFile } from "node:child_process";
import { appendFile, chmod, chown, mkdir, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import { as, family, isRunning, look, signal, until } from "./processes.mjs";

const run = promisify(execFile);

/** Longest time for a server to start, stop or catch up, in milliseconds. */
const PATIENCE_MS = 30_000;
/** How long processes have to notice that their parent was killed, in milliseconds. */
const NOTICE_MS = 5_000;

const USER = "postgres";

/** Small, so that several fit on any machine; nobody gives up on a frozen peer while a test looks at it. */
const SETTINGS = `
listen_addresses = '127.0.0.1'
shared_buffers = 64MB
max_connections = 100
wal_sender_timeout = 0
wal_receiver_timeout = 0
wal_retrieve_retry_interval = 500ms
log_line_prefix = '%m [%p] %b '
`;

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The folder of Postgres' programs, the newest installed. */
export async function binaries() {
  const root = "/usr/lib/postgresql";
  const versions = (await readdir(root)).map(Number).sort((a, b) => b - a);
  return join(root, String(versions[0]), "bin");
}

/** The ids of user and group `postgres`. */
export async function account() {
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => (await run("id", [flag, USER])).stdout.trim()));
  return { uid: Number(uid), gid: Number(gid) };
}

/** Makes a folder that the servers' user owns. */
export async function ownFolder(path) {
  await mkdir(path, { recursive: true });
  if (process.getuid() !== 0) return;
  const { uid, gid } = await account();
  await chown(path, uid, gid);
  await chmod(path, 0o700);
}

export class Server {
  /** @param {import("./processes.mjs").Processes} processes */
  constructor(processes, folder, name, bin, port, address = "127.0.0.1") {
    Object.assign(this, {
      processes,
      name,
      bin,
      port,
      address,
      data: join(folder, name),
      log: join(folder, `${name}.log`),
    });
  }

  static async in(processes, folder, name) {
    return new Server(processes, folder, name, await binaries(), await freePort());
  }

  /** Runs one of Postgres' programs as its user. */
  run(program, args) {
    const [first, ...rest] = [...as(USER), join(this.bin, program), ...args];
    return run(first, rest, { cwd: "/" });
  }

  /** An empty primary. `more`: lines of its configuration. */
  async create(more = "") {
    await ownFolder(this.data);
    await this.run("initdb", ["--pgdata", this.data, "--auth=trust", "--username=postgres", "--encoding=UTF8"]);
    await appendFile(join(this.data, "postgresql.conf"), `${SETTINGS}${more}\n`);
    await appendFile(join(this.data, "pg_hba.conf"), "host replication all 127.0.0.1/32 trust\n");
  }

  /** A copy of `primary` that follows it under this server's name. */
  async follow(primary) {
    await rm(this.data, { recursive: true, force: true });
    await ownFolder(this.data);
    const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${this.name}`;
    await this.run("pg_basebackup", [
      "--pgdata",
      this.data,
      "--dbname",
      from,
      "--checkpoint=fast",
      "--write-recovery-conf",
    ]);
  }

  /** Starts the server and waits until it answers. */
  async start() {
    const args = ["-D", this.data, "-p", String(this.port), "-k", this.data];
    this.pid = this.processes.start(join(this.bin, "postgres"), args, { user: USER, log: this.log });
    await until(`${this.name} starts`, PATIENCE_MS, () => this.sql("select 1"));
  }

  /** The output of a statement, as unaligned text. */
  async sql(statement) {
    const { stdout } = await run(
      join(this.bin, "psql"),
      [
        "-XqAt",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        this.address,
        "-p",
        String(this.port),
        "-U",
        "postgres",
        "-c",
        statement,
      ],
      { cwd: "/", timeout: PATIENCE_MS, maxBuffer: 1 << 28, env: { ...process.env, PGCONNECT_TIMEOUT: "5" } },
    );
    return stdout.trim();
  }

  /** The rows of a query. */
  async rows(query) {
    return JSON.parse(await this.sql(`select coalesce(json_agg(q), '[]') from (${query}) q`));
  }

  /** This server's processes whose title contains `mark`. */
  pids(mark = "") {
    return family(this.pid)
      .filter((it) => it.title.includes(mark))
      .map((it) => it.pid);
  }

  freeze(mark) {
    signal("SIGSTOP", this.pids(mark));
  }

  thaw() {
    signal("SIGCONT", this.pids());
  }

  /**
   * `kill -9` of the postmaster only: its children notice. One that is frozen, or was thawed by the end of its parent and
   * waits for a standby that is frozen, does not, and is killed as well.
   */
  async crash() {
    const children = this.pids().filter((pid) => pid !== this.pid);
    signal("SIGKILL", [this.pid]);
    await until(`${this.name} is dead`, PATIENCE_MS, () => !isRunning(this.pid));
    const haveEnded = () => !children.some((pid) => isRunning(pid) && look(pid)?.state !== "T");
    await until(`${this.name} notices`, NOTICE_MS, haveEnded).catch(() => undefined);
    signal("SIGKILL", children.filter(isRunning));
    await until(`${this.name} has no process left`, PATIENCE_MS, () => !children.some(isRunning));
  }

  /** An orderly end: clients are cut off, and what is to be archived is archived. */
  async stop() {
    signal("SIGINT", [this.pid]);
    await until(`${this.name} stops`, PATIENCE_MS, () => !isRunning(this.pid));
  }

  /** The machine is gone: every process at once. */
  async lose() {
    const pids = this.pids();
    signal("SIGKILL", pids);
    await until(`${this.name} is gone`, PATIENCE_MS, () => !pids.some(isRunning));
  }

  /** Makes commits wait for the servers `names`. */
  async require(names) {
    await this.sql(`alter system set synchronous_standby_names = '${names}'`);
    await this.sql("select pg_reload_conf()");
  }

  /** Waits until `name` follows as a synchronous standby. */
  async isFollowedBy(name) {
    const query = `select 1 from pg_stat_replication where application_name = '${name}' and sync_state in ('sync', 'quorum')`;
    await until(`${name} follows ${this.name}`, PATIENCE_MS, () => this.sql(query));
  }

  /** The backends that wait for a standby's confirmation. */
  async waiting() {
    const pids = await this.sql("select pid from pg_stat_activity where wait_event = 'SyncRep'");
    return pids.split("\n").filter(Boolean).map(Number);
  }

  async promote() {
    await this.sql("select pg_promote()");
    await until(`${this.name} leads`, PATIENCE_MS, async () => (await this.sql("select pg_is_in_recovery()")) === "f");
  }
}
