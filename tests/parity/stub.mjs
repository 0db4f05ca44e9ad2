// A stand-in for a host's `/models` that can misbehave.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import manifest from "../../components/js/lib/dist/manifest.js";

const DIST = new URL("../../components/js/lib/dist/", import.meta.url);

/** Longest wait for anything. */
const PATIENCE_MS = 20_000;

const digestOf = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The core of one of the package's models. */
export function coreOf(name) {
  return readFileSync(new URL(manifest.models[name].core.file, DIST));
}

/** The same core under another digest: an additional custom section changes nothing else. */
export function another(core, mark) {
  const name = Buffer.from(mark);
  return Buffer.concat([core, Buffer.from([0, name.length + 1, name.length]), name]);
}

/** What a host says about a core. The component's digest is arbitrary, since there is no component here. */
export function offerOf(kind, core, { version = "1.0.0", sha256 = digestOf(digestOf(core)), contract = kind } = {}) {
  return {
    kind,
    model_version: `${kind}-${version}+${sha256.slice(0, 8)}`,
    sha256,
    abi: manifest.contracts[contract].abi,
    core: { sha256: digestOf(core), bytes: core.length, url: `/models/core/${digestOf(core)}.wasm` },
  };
}

/** What the host offers for a model of the package. */
export function offerOfPackaged(name) {
  const { kind, model_version, sha256 } = manifest.models[name];
  return offerOf(kind, coreOf(name), { version: /-([\d.]+)\+/.exec(model_version)[1], sha256 });
}

export class Stub {
  /** What is in service, by kind, and every core by its digest. */
  offers = {};
  cores = new Map();
  /** Every request as {path, status, isConditional}. */
  log = [];
  /** Awaited before each answer. */
  delay = async () => {};
  /** May answer in place of the stub: returns whether it has. */
  instead = () => false;
  /** The largest number of requests in flight. */
  most = 0;
  #underWay = 0;

  /** Puts a core into service. */
  offer(kind, core, offer = offerOf(kind, core)) {
    this.offers[kind] = offer;
    this.cores.set(offer.core.sha256, core);
    return offer;
  }

  async start() {
    this.server = createServer((request, response) => this.handle(request, response));
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  async handle(request, response) {
    const { pathname } = new URL(request.url, "http://localhost");
    this.#underWay += 1;
    this.most = Math.max(this.most, this.#underWay);
    response.once("close", () => {
      this.#underWay -= 1;
    });
    const entry = { path: pathname, isConditional: "if-none-match" in request.headers };
    this.log.push(entry);
    response.once("finish", () => (entry.status = response.statusCode));
    await this.delay(pathname);
    if (!(await this.instead(request, response, pathname))) this.#answer(request, response, pathname);
  }

  #answer(request, response, pathname) {
    const kind = /^\/models\/([a-z-]+)\/active$/.exec(pathname)?.[1];
    const core = this.cores.get(/^\/models\/core\/([0-9a-f]+)\.wasm$/.exec(pathname)?.[1]);
    if (kind && this.offers[kind]) {
      const body = JSON.stringify(this.offers[kind]);
      const etag = `"${digestOf(body)}"`;
      response.setHeader("ETag", etag);
      if (request.headers["if-none-match"] === etag) response.writeHead(304).end();
      else response.writeHead(200, { "Content-Type": "application/json" }).end(body);
    } else if (core) {
      response.writeHead(200, { "Content-Type": "application/wasm" }).end(core);
    } else {
      response.writeHead(404, { "Content-Type": "application/problem+json" }).end('{"code":"not-found"}');
    }
  }

  requests(path) {
    return this.log.filter((it) => it.path.startsWith(path));
  }

  end() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

/** Waits until something holds. */
export async function until(holds) {
  const begin = performance.now();
  while (!holds()) {
    if (performance.now() - begin > PATIENCE_MS) throw new Error("not in time");
    await sleep(5);
  }
}

/** A promise, and what resolves it. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { opened, open };
}
