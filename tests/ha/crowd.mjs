// Clients that take every connection of a Postgres and keep those who had one out.

import { connect } from "node:net";

/** Pause before a connection that was refused is tried again, in milliseconds. */
const AGAIN_MS = 20;
/** How often others are cut off, in milliseconds. */
const CUT_MS = 250;

const NAME = "crowd";
const CUT = `select pg_terminate_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and application_name <> '${NAME}'`;

/** Protocol 3.0: a length, then what is said, as texts that end in zero. */
function message(kind, ...texts) {
  const body = Buffer.concat(texts.map((text) => (Buffer.isBuffer(text) ? text : Buffer.from(`${text}\0`))));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(kind), length, body]);
}

const VERSION = Buffer.from([0, 3, 0, 0]);
const GREETING = message("", VERSION, "user", "postgres", "database", "postgres", "application_name", NAME, "");

export class Crowd {
  #sockets = new Set();
  #isLeaving = false;

  constructor(port, size) {
    this.port = port;
    for (let n = 0; n < size; n += 1) this.#enter();
    this.cutting = setInterval(() => this.#cut(), CUT_MS);
  }

  #enter() {
    if (this.#isLeaving) return;
    const socket = connect(this.port, "127.0.0.1", () => socket.write(GREETING));
    this.#sockets.add(socket);
    // Refusals end the connection.
    socket.on("data", () => {});
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#enter(), AGAIN_MS);
    });
  }

  /** A connected client can have the server disconnect others. */
  #cut() {
    const [first] = this.#sockets;
    first?.write(message("Q", CUT));
  }

  async leave() {
    this.#isLeaving = true;
    clearInterval(this.cutting);
    const ended = [...this.#sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(ended);
  }
}
