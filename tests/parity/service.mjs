// Runs the program under test, `$CAUDAL`, on free ports with a temporary data folder.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Longest time that a start or a stop may take, in milliseconds. */
const PATIENCE_MS = 60_000;

/** The binary. */
export function program() {
  const path = process.env.CAUDAL;
  if (!path) throw new Error("set CAUDAL to the path of the caudal binary");
  return path;
}

/** The test run's own settings do not reach the service. */
const environment = () => {
  const { DATABASE_URL, ...rest } = process.env;
  return { ...rest, CAUDAL_LOG: "warn" };
};

export class Service {
  /** In the sandbox, or with a policy and the roles that production has. */
  static async start(more = [], policy = []) {
    // Short, because a socket's path is; open to the user that the database runs as when this is root.
    const folder = await mkdtemp("/tmp/caudal-js.");
    await chmod(folder, 0o711);
    const service = new Service();
    service.folder = folder;
    try {
      const database = policy.length > 0 ? await service.#withRoles(policy) : {};
      await service.#serve([...(policy.length > 0 ? [] : ["--sandbox"]), ...more], database);
    } catch (error) {
      await service.end();
      throw error;
    }
    return service;
  }

  /** Starts a Postgres with roles, tables and a policy; returns what a host needs to use it. */
  async #withRoles(policy) {
    const lasting = ["postgres", "--", "sh", "-c", 'echo "$DATABASE_URL"; read -r _ || true'];
    // As in production, where a server waits for its disk.
    const { CAUDAL_POSTGRES_BIN, ...durable } = environment();
    this.postgres = spawn(program(), ["--data-dir", this.folder, ...lasting], {
      env: durable,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { value: url } = await createInterface(this.postgres.stdout)[Symbol.asyncIterator]().next();
    const as = (role) => ({ DATABASE_URL: url.replace("user=caudal", `user=${role}`) });
    const caudal = (role, ...args) =>
      run(program(), ["--data-dir", this.folder, ...args], { env: { ...environment(), ...as(role) } });
    await run("psql", ["-Xq", "-v", "ON_ERROR_STOP=1", url, "-c", (await caudal("caudal", "roles")).stdout]);
    await caudal("caudal_owner", "policy", "set", "--create", "--by", "a test", ...policy);
    return as("caudal_serve");
  }

  async #serve(more, database) {
    const addresses = ["--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    const args = ["--data-dir", this.folder, "serve", ...addresses, ...more];
    this.process = spawn(program(), args, {
      env: { ...environment(), ...database },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const patience = setTimeout(() => this.process.kill(), PATIENCE_MS);
    const lines = [];
    for await (const line of createInterface(this.process.stdout)) {
      lines.push(line);
      if (line.includes("assistance API")) break;
    }
    clearTimeout(patience);
    this.process.stdout.resume();
    const after = (mark) => {
      const line = lines.find((it) => it.includes(mark));
      if (!line) throw new Error(`no "${mark}" in ${lines.join("\n")}`);
      return line.split(mark)[1].trim().split(/\s/)[0];
    };
    this.ledger = after("ledger API");
    this.assist = after("assistance API");
  }

  /** Stops the service as an operator does; its folder stays until `end`. */
  async stop() {
    const { process } = this;
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, "exit");
    process.kill("SIGTERM");
    await ended;
  }

  async end() {
    await this.stop();
    if (this.postgres) {
      const ended = once(this.postgres, "exit");
      this.postgres.stdin.end();
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Posts a body, given as text or bytes. */
  post(path, body, headers = {}) {
    const all = { "content-type": "application/json", ...headers };
    return fetch(`${this.assist}${path}`, { method: "POST", body, headers: all });
  }

  async #admin(method, path, { headers, body } = {}) {
    if (!this.token) {
      const args = ["--data-dir", this.folder, "token", "--user", "ops", "--scope", "models:admin"];
      this.token = (await run(program(), args, { env: environment() })).stdout.trim();
    }
    const all = { authorization: `Bearer ${this.token}`, ...headers };
    const response = await fetch(`${this.assist}/admin/models${path}`, { method, headers: all, body });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return { answer, etag: response.headers.get("etag") };
  }

  /** The registered version whose name starts like this. */
  async version(start) {
    const { answer } = await this.#admin("GET", "");
    return answer.models.flatMap((it) => it.versions).find((it) => it.model_version.startsWith(start));
  }

  /** Registers a component file. */
  push(file) {
    const args = ["--data-dir", this.folder, "models", "push", "--admin-url", this.assist, file];
    return run(program(), args, { env: environment() });
  }

  /** Deploys the version whose name starts like this; resolves to its name. */
  async deploy(kind, start) {
    const { model_version: champion } = await this.version(start);
    const { etag } = await this.#admin("GET", `/${kind}/deployment`);
    const headers = { "content-type": "application/json", "if-match": etag };
    const body = JSON.stringify({ champion, reason: "parity" });
    await this.#admin("PUT", `/${kind}/deployment`, { headers, body });
    // A host follows within a second.
    for (;;) {
      const { models } = await (await fetch(`${this.assist}/ai/health`)).json();
      if (models[kind].version === champion) return champion;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
