// Backups of a server with pgBackRest: WAL archiving, a full backup, and the way back to a moment.

import { execFile } from "node:child_process";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { ownFolder } from "./postgres.mjs";
import { as } from "./processes.mjs";

const run = promisify(execFile);

const PROGRAM = "/usr/bin/pgbackrest";
const STANZA = "caudal";
/** Longest time for one command of pgBackRest, in milliseconds. */
const COMMAND_MS = 120_000;

export class Backup {
  /** A repository for `server` in `folder`. @param {import("./postgres.mjs").Server} server */
  static async of(server, folder) {
    const backup = new Backup();
    backup.server = server;
    backup.config = join(folder, "pgbackrest.conf");
    const places = {};
    for (const name of ["repo", "log", "lock", "spool"]) {
      places[name] = join(folder, `pgbackrest-${name}`);
      await ownFolder(places[name]);
    }
    await mkdir(folder, { recursive: true });
    const config = `
[global]
repo1-path=${places.repo}
repo1-retention-full=2
log-path=${places.log}
lock-path=${places.lock}
spool-path=${places.spool}
log-level-console=warn
start-fast=y
[${STANZA}]
pg1-path=${server.data}
pg1-port=${server.port}
pg1-socket-path=${server.data}
pg1-user=postgres
`;
    await writeFile(backup.config, config, { mode: 0o644 });
    return backup;
  }

  /** What the server's configuration needs. */
  get settings() {
    const command = `${PROGRAM} --config=${this.config} --stanza=${STANZA} archive-push %p`;
    return `archive_mode = on\narchive_command = '${command}'\n`;
  }

  /** Runs a command of pgBackRest as the server's user; returns what it printed. */
  async run(command, ...options) {
    const [first, ...rest] = [...as("postgres"), PROGRAM, `--config=${this.config}`, `--stanza=${STANZA}`];
    const { stdout } = await run(first, [...rest, ...options, command], { cwd: "/", timeout: COMMAND_MS });
    return stdout.trim();
  }

  /** Prepares the repository of a running server and makes its first backup. */
  async first() {
    await this.run("stanza-create");
    await this.run("check");
    await this.run("backup", "--type=full");
  }

  /** Puts the stopped server's folder aside and restores what it held at `time`; the server leads once it started. */
  async restore(time) {
    await rename(this.server.data, `${this.server.data}.lost`);
    await ownFolder(this.server.data);
    await this.run("restore", "--type=time", `--target=${time}`, "--target-action=promote");
  }
}
