// The way from the hosts to the primary: a port that stays the same while the server behind it changes.

import { connect, createServer } from "node:net";

export class Line {
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
      from.pipe(to);
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

  end() {
    this.turnTo(this.target);
    this.server.close();
  }
}
