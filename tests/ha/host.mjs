// A Caudal host on a database that others provide.

import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { freePort } from "./postgres.mjs";
import { isRunning, signal, until } from "./processes.mjs";

const run = promisify(execFile);

/** Longest time for a host to start, in milliseconds: it compiles components when its cache is empty. */
const START_MS = 60_000;
/** Longest time for an answer whether it is ready, in milliseconds: it waits 5 s for its database. */
const READY_MS = 7_000;
/** Longest time for a host to finish what it is doing and end, in milliseconds. */
const STOP_MS = 30_000;
/** Longest time for `caudal verify`, in milliseconds: over a million transfers on a busy machine. */
const VERIFY_MS = 900_000;

/** Shared by all hosts of a lab; it guards nothing outside of it. */
const LEDGER_KEY = "the ledger key of the high-availability lab, 32 bytes";

/** The binary. */
export function program() {
  const path = process.env.CAUDAL;
  if (!path) throw new Error("set CAUDAL to the path of the caudal binary");
  return path;
}

/** A token for a user of this lab, valid for a day: longer than any drill. @param {string} [scope] an operator's */
export function token(user, scope) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ sub: user, scope, exp: Math.floor(Date.now() / 1000) + 86_400 })}`;
  const secret = createHmac("sha256", LEDGER_KEY).update("caudal sandbox token 1").digest();
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

export class Host {
  /** More arguments of `caudal serve`. @type {string[]} */
  options = [];

  /**
   * @param {import("./processes.mjs").Processes} processes
   * @param {number} databasePort on this machine
   * @param {string[]} [servers] more than one address, in place of the port
   */
  constructor(processes, folder, name, databasePort, servers = [`127.0.0.1:${databasePort}`]) {
    Object.assign(this, { processes, name, data: join(folder, name), log: join(folder, `${name}.log`) });
    this.database = `postgres://postgres@${servers.join(",")}/postgres`;
  }

  environment() {
    const { DATABASE_URL, ...rest } = process.env;
    return {
      ...rest,
      CAUDAL_DATA_DIR: this.data,
      CAUDAL_LEDGER_KEY: LEDGER_KEY,
      CAUDAL_LOG: "info,sqlx=warn",
      DATABASE_URL: this.database,
    };
  }

  /** Starts the host and waits until it serves. `wrapper`: a command to start it with, such as one that changes its clock. */
  async start({ wrapper = [], env = {}, waits = true, isSandbox = true } = {}) {
    this.port ??= await freePort();
    this.assistPort ??= await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    const addresses = ["--ledger-addr", `127.0.0.1:${this.port}`, "--assist-addr", `127.0.0.1:${this.assistPort}`];
    const [command, ...args] = [
      ...wrapper,
      program(),
      "serve",
      ...(isSandbox ? ["--sandbox"] : []),
      ...addresses,
      ...this.options,
    ];
    this.pid = this.processes.start(command, args, { log: this.log, env: { ...this.environment(), ...env } });
    if (waits) await this.serves();
  }

  /** Whether the host says that it is ready, and what it says about its database if not. */
  async readiness() {
    const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(READY_MS) });
    return { isReady: answer.ok, ...(await answer.json()) };
  }

  /** Waits until the host serves. */
  async serves(limitMs = START_MS) {
    const isReady = async () => (await this.readiness()).isReady;
    await until(`${this.name} serves (${this.log})`, limitMs, isReady);
  }

  kill() {
    signal("SIGKILL", [this.pid]);
  }

  /** Ends the host as an init system does: what it has begun is finished. */
  async stop() {
    signal("SIGTERM", [this.pid]);
    await until(`${this.name} ends`, STOP_MS, () => !isRunning(this.pid));
  }

  /** Starts the host where it has to refuse; returns what it says. */
  async refuse() {
    const said = () => readFile(this.log, "utf8").catch(() => "");
    const before = await said();
    await this.start({ waits: false });
    await until(`${this.name} refuses to start`, START_MS, () => !isRunning(this.pid));
    return (await said()).slice(before.length);
  }

  /** Runs a command with this host's data folder; returns whether it succeeded, and what it printed. */
  async command(...args) {
    try {
      const { stdout } = await run(program(), args, { env: this.environment(), timeout: VERIFY_MS });
      return { isDone: true, text: stdout.trim() };
    } catch (error) {
      return { isDone: false, text: `${error.stdout ?? ""}${error.stderr || error.message}`.trim() };
    }
  }

  /** Compares the books with the heads that this host recorded; returns whether they are in order, and why not. */
  async verify() {
    const { isDone, text } = await this.command("verify");
    return { isSound: isDone, text };
  }
}
