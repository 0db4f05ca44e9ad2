// A small disk that can be filled. It is in the mount namespace of a process that sleeps, so it goes with it; others reach it
// through that process' root.

import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { account, ownFolder } from "./postgres.mjs";
import { look, until } from "./processes.mjs";

/** Longest time until it is there, in milliseconds. */
const MOUNTED_MS = 5_000;

const BLOCK = Buffer.alloc(1 << 20);

export class Disk {
  /** Nothing where there may be no such disk. */
  static async in(processes, folder, megabytes) {
    if (process.getuid() !== 0) return undefined;
    const place = join(folder, "disk");
    await ownFolder(place);
    const { uid, gid } = await account();
    const mount = `mount -t tmpfs -o size=${megabytes}m,uid=${uid},gid=${gid},mode=755 tmpfs ${place}`;
    // As the servers' user, who may look at its own processes only.
    const sleeper = `exec setpriv --reuid=${uid} --regid=${gid} --init-groups sleep infinity`;
    const holder = processes.start("unshare", ["--mount", "sh", "-c", `${mount} && ${sleeper}`]);
    const isThere = () => look(holder)?.title.startsWith("sleep");
    if (!(await until("the disk is there", MOUNTED_MS, isThere).catch(() => false))) return undefined;
    return new Disk(`/proc/${holder}/root${place}`);
  }

  constructor(path) {
    this.path = path;
    this.filler = join(path, "filler");
  }

  /** Until nothing more fits. */
  async fill() {
    await writeFile(this.filler, "");
    await chmod(this.filler, 0o600);
    for (let block = BLOCK; ; ) {
      try {
        await writeFile(this.filler, block, { flag: "a" });
      } catch (error) {
        if (error.code !== "ENOSPC") throw error;
        // What is left is less than a block.
        if (block.length <= 4096) return;
        block = block.subarray(0, block.length / 2);
      }
    }
  }

  empty() {
    return rm(this.filler, { force: true });
  }
}
