// Starts processes and ends them again. A signal goes to a process id that this program started or found below one.

import { spawn } from "node:child_process";
import { openSync, readdirSync, readFileSync } from "node:fs";

/** Interval at which a condition is looked at again, in milliseconds. */
const LOOK_MS = 50;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `condition` returns something; an error counts as nothing, and is named when the time is up. */
export async function until(what, limitMs, condition) {
  const end = Date.now() + limitMs;
  let last = "";
  for (;;) {
    try {
      const found = await condition();
      if (found) return found;
    } catch (error) {
      last = `: ${error.message ?? error}`;
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${limitMs / 1000} s${last}`);
    await sleep(LOOK_MS);
  }
}

/** The state letter, parent and title of a process, or nothing if it is gone. */
export function look(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const title = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { pid, state, parent: Number(parent), title };
  } catch {
    return undefined;
  }
}

/** Whether a process runs; one that only waits to be reaped does not. */
export const isRunning = (pid) => !["Z", "X", undefined].includes(look(pid)?.state);

/** A process and everything below it, the parent first. */
export function family(pid) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => look(Number(name)))
    .filter((it) => it !== undefined);
  const found = all.filter((it) => it.pid === pid);
  for (const it of found) found.push(...all.filter((child) => child.parent === it.pid));
  return found;
}

/** Sends a signal to processes; one that has ended meanwhile is no error. */
export function signal(name, pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

/** The prefix of a command that runs as another user, and dies with this process. */
export function as(user) {
  const account = process.getuid() === 0 && user ? [`--reuid=${user}`, `--regid=${user}`, "--init-groups"] : [];
  return ["setpriv", "--pdeathsig=KILL", ...account, "--"];
}

/** Whether a process is a child of this one: a number may have passed on to somebody else's. */
const isMine = (pid) => look(pid)?.parent === process.pid;

/** Everything that one lab started, in order. */
export class Processes {
  #all = [];

  /** Starts a command, its output appended to the file `log`. */
  start(command, args, { user, log, env = process.env, prefix = [] } = {}) {
    const output = log ? openSync(log, "a") : "ignore";
    const [first, ...rest] = [...prefix, ...as(user), command, ...args];
    const child = spawn(first, rest, { cwd: "/", env, stdio: ["ignore", output, output] });
    child.on("error", (error) => process.stderr.write(`${command}: ${error.message}\n`));
    this.#all.push(child.pid);
    return child.pid;
  }

  /** Kills everything that was started and all that is below it, the latest first, and the processes `more`. */
  async end(more = []) {
    const mine = this.#all.reverse().filter(isMine);
    const pids = [...mine.flatMap((pid) => family(pid).map((it) => it.pid)), ...more];
    this.#all = [];
    signal("SIGKILL", pids);
    await until("processes end", 10_000, () => !pids.some(isRunning)).catch((error) => console.error(error.message));
  }
}
