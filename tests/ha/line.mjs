// The way from the hosts to the primary: a port that stays the same while the server behind it changes.

import { connect, createServer } from "node:net";

/** One direction of a connection: what enters later never arrives earlier. */
class Lane {
  /** @type {{ at: number, pass: () => void }[]} */
  #underWay = [];

  constructor(to) {
    this.to = to;
  }

  carry(bytes, delayMs) {
    this.#enter(delayMs, () => this.to.destroyed || this.to.write(bytes));
  }

  close() {
    this.#enter(0, () => this.to.end());
  }

  #enter(delayMs, pass) {
    this.#underWay.push({ at: Date.now() + delayMs, pass });
    if (this.#underWay.length === 1) this.#pass();
  }

  #pass() {
    for (let first = this.#underWay[0]; first; first = this.#underWay[0]) {
      const waitMs = first.at - Date.now();
      if (waitMs > 0) {
        setTimeout(() => this.#pass(), waitMs);
        return;
      }
      first.pass();
      this.#underWay.shift();
    }
  }
}

export class Line {
  /** How much later everything arrives, in milliseconds. */
  delayMs = 0;
  #pairs = new Set();

  /** @param {number} port the server's */
  static async to(port) {
    const line = new Line();
    line.target = port;
    line.server = createServer((near) => line.#pass(near));
    await new Promise((resolve) => line.server.listen(0, "127.0.0.1", () => resolve(undefined)));
    line.port = line.server.address().port;
    return line;
  }

  #pass(near) {
    const far = connect(this.target, "127.0.0.1");
    const pair = { near, far };
    this.#pairs.add(pair);
    const end = () => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      from.on("error", end);
      from.on("close", end);
      const lane = new Lane(to);
      from.on("data", (bytes) => lane.carry(bytes, this.delayMs));
      from.on("end", () => lane.close());
    }
  }

  /** Leads to another server; what is connected is cut off. */
  turnTo(port) {
    this.target = port;
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** What is connected now carries nothing any more and stays open, as when a machine is gone. */
  swallow() {
    for (const { near, far } of this.#pairs)
      for (const socket of [near, far]) socket.removeAllListeners("data").resume();
  }

  end() {
    this.turnTo(this.target);
    this.server.close();
  }
}
