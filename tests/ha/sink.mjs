// A webhook of the bank's own, as its other systems would write one: it checks signatures, keeps what it is sent, and
// misbehaves on request. What it adds up knows nothing of the ledger but its events.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

import { sleep } from "./processes.mjs";

/** How long a slow sink takes, in milliseconds. */
const SLOW_MS = 150;

/** @typedef {{ id: string, type: string, subject: string, data: any }} Event */

export class Sink {
  /** @type {"well" | "slow" | "full"} */
  mode = "well";
  /** Events by id, in the order in which they arrived first. @type {Map<string, Event>} */
  events = new Map();
  /** Survives a wipe. @type {Map<string, string>} */
  #texts = new Map();
  repeated = 0;
  /** @type {string[]} */
  complaints = [];
  /** What signatures are made with, once it is known. @type {string | undefined} */
  secret;

  async start(port = 0) {
    this.server = createServer((request, response) => this.#take(request, response));
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", () => resolve(undefined)));
    ({ port: this.port } = /** @type {import("node:net").AddressInfo} */ (this.server.address()));
    this.url = `http://127.0.0.1:${this.port}/`;
  }

  /** Ends as if it was killed: connections break off. */
  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Forgets everything. */
  wipe() {
    this.events.clear();
  }

  async #take(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (this.mode === "slow") await sleep(SLOW_MS);
    if (this.mode === "full") return response.writeHead(503).end();
    if (this.secret) this.#check(request.headers, text);
    for (const event of JSON.parse(text)) this.#keep(event);
    response.writeHead(204).end();
  }

  /** @param {Event} event */
  #keep(event) {
    const text = JSON.stringify(event);
    if (this.events.has(event.id)) this.repeated += 1;
    if ((this.#texts.get(event.id) ?? text) !== text) this.complaints.push(`${event.id} is another event than before`);
    if (!this.events.has(event.id)) this.events.set(event.id, event);
    this.#texts.set(event.id, text);
  }

  #check(headers, text) {
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = headers;
    const key = Buffer.from(String(this.secret).replace("whsec_", ""), "base64");
    const wanted = createHmac("sha256", key).update(`${id}.${at}.${text}`).digest();
    const given = Buffer.from(signature.replace("v1,", ""), "base64");
    if (!timingSafeEqual(wanted, given)) this.complaints.push(`${id} is not signed`);
    if (Math.abs(Date.now() / 1000 - Number(at)) > 300) this.complaints.push(`${id} was signed at ${at}`);
  }
}

/** What the events of transfers make of each account's balance, in centavos. @param {Iterable<Event>} events */
export function balances(events) {
  /** @type {Map<string, bigint>} */
  const sums = new Map();
  const add = (account, centavos) => sums.set(account, (sums.get(account) ?? 0n) + centavos);
  for (const { type, data } of events) {
    if (!type.startsWith("mx.caudal.transfer.")) continue;
    const amount = BigInt(Math.round(data.amount * 100));
    const isFirst = data.ordinal === 0;
    if (isFirst) add(data.debitAccountId, -amount);
    if (data.status === "completed") add(data.creditAccountId, amount);
    if (data.status === "failed") add(data.debitAccountId, isFirst ? 0n : amount);
  }
  return sums;
}

/** Where the order of an account's events differs from the feed's. @param {Event[]} feed @param {Iterable<Event>} arrived */
export function disorder(feed, arrived) {
  const place = new Map(feed.map((event, index) => [event.id, index]));
  /** @type {Map<string, number>} */
  const last = new Map();
  const found = [];
  for (const { id, subject, data } of arrived) {
    for (const account of new Set([subject, data.debitAccountId, data.creditAccountId])) {
      const at = place.get(id) ?? -1;
      if (isOfCustomer(account) && at < (last.get(account) ?? -1)) found.push(`${id} of ${account} came too late`);
      last.set(account, at);
    }
  }
  return found;
}

/** The bank's own accounts have these ids, and no order. */
const isOfCustomer = (account) => account && !account.startsWith("00000000-0000-7000-8000-");
