// Where the lab's machines are: in network namespaces of their own, joined by a bridge, or all on loopback.
//
// The bridge is in the namespace that the lab itself was started in by with-own-network.sh, so nothing of it is seen from
// outside, and nothing is left when the lab ends.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { freePort } from "./postgres.mjs";
import { look, until } from "./processes.mjs";

const run = promisify(execFile);
const ip = (...args) => run("ip", args);

const BRIDGE = "caudal";
const HUB = "10.77.0.254";

/** Whether the lab has a network of its own. */
export const hasOwnNetwork = process.env.CAUDAL_HA_NETWORK === "own";

/** The address of the hosts and clients. */
export const hub = hasOwnNetwork ? HUB : "127.0.0.1";

export async function makeHub() {
  if (!hasOwnNetwork) return;
  await ip("link", "set", "lo", "up");
  await ip("link", "add", BRIDGE, "type", "bridge");
  await ip("addr", "add", `${HUB}/24`, "dev", BRIDGE);
  await ip("link", "set", BRIDGE, "up");
}

/** A machine's place in the network. */
export class Place {
  static async make(processes, number) {
    const place = new Place();
    place.link = `caudal${number}`;
    place.address = hasOwnNetwork ? `10.77.0.${number}` : "127.0.0.1";
    if (hasOwnNetwork) await place.#join(processes);
    return place;
  }

  /** A process that sleeps holds the namespace. */
  async #join(processes) {
    this.holder = processes.start("unshare", ["--net", "sleep", "infinity"]);
    await until("the namespace is there", 5_000, () => look(this.holder)?.title.startsWith("sleep"));
    const holder = String(this.holder);
    await ip("link", "add", this.link, "type", "veth", "peer", "name", "eth0", "netns", holder);
    await ip("link", "set", this.link, "master", BRIDGE, "up");
    for (const args of [
      ["addr", "add", `${this.address}/24`, "dev", "eth0"],
      ["link", "set", "eth0", "up"],
      ["link", "set", "lo", "up"],
    ])
      await run(this.prefix[0], [...this.prefix.slice(1), "ip", ...args]);
  }

  /** What a command is started with to run here. */
  get prefix() {
    return this.holder ? ["nsenter", "-t", String(this.holder), "--net", "--"] : [];
  }

  /** A port that nothing listens on. */
  port() {
    return freePort();
  }

  /** Nothing gets in or out. */
  cut() {
    return ip("link", "set", this.link, "down");
  }

  restore() {
    return ip("link", "set", this.link, "up");
  }
}
