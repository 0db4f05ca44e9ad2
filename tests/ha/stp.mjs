// A stand-in for STP that outlives the hosts: it keeps orders by tracking key and operating date, settles or cancels each once,
// and lists those of a day. It checks no signatures.

import { createHash, generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

/** Orders on a page of the list. */
const PAGE = 50;
/** One order in so many is cancelled: which, follows from its tracking key. */
const CANCELLED = 16;

const isCancelled = (key) => createHash("sha256").update(key).digest()[0] % CANCELLED === 0;

export class Stp {
  /** How long an order takes, in milliseconds. */
  delayMs = 0;
  /** How often `registra` was called for an order that was there. */
  repeated = 0;
  #orders = new Map();

  /** Starts it on a free port of this machine; returns the settings of its hosts, with a key of this run. */
  async start(folder) {
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const part of request) text += part;
      const [status, answer] = this.#answer(request.url, JSON.parse(text));
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    server.unref();
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const file = join(folder, "stp.pem");
    await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    const url = `http://127.0.0.1:${server.address().port}`;
    const bank = ["--stp-company", "CAUDAL", "--stp-account", "646180110400000007"];
    return ["--rail", "stp", "--stp-url", url, "--stp-key-file", file, ...bank];
  }

  /** Every order, as it is listed. */
  orders() {
    return [...this.#orders.values()].map((it) => this.#shown(it));
  }

  #answer(path, body) {
    const found = this.#orders.get(`${body.claveRastreo} ${body.fechaOperacion ?? this.today}`);
    if (path.endsWith("/registra")) {
      if (found) {
        this.repeated += 1;
        return [200, { resultado: { id: -1, descripcionError: "repetida" } }];
      }
      this.today = body.fechaOperacion;
      const order = { ...body, due: Date.now() + Math.random() * this.delayMs };
      this.#orders.set(`${body.claveRastreo} ${body.fechaOperacion}`, order);
      return [200, { resultado: { id: this.#orders.size } }];
    }
    if (path.endsWith("/consultaOrden")) {
      if (!found || body.tipoOrden !== "E") return [400, { estado: 6, mensaje: "sin datos" }];
      return [200, { estado: 0, mensaje: "bien", respuesta: this.#shown(found) }];
    }
    const date = body.fechaOperacion ?? this.today;
    const all = this.orders().filter((it) => body.tipoOrden === "E" && String(it.fechaOperacion) === date);
    if (all.length === 0) return [400, { estado: 6, mensaje: "sin datos" }];
    const datos = all.slice(body.page * PAGE, (body.page + 1) * PAGE);
    return [200, { estado: 0, mensaje: "bien", total: all.length, datos }];
  }

  #shown({ due, ...order }) {
    const end = isCancelled(order.claveRastreo) ? "CN" : "LQ";
    const estado = Date.now() < due ? "A" : end;
    return { ...order, fechaOperacion: Number(order.fechaOperacion), estado, causaDevolucion: null };
  }
}
