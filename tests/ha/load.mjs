// Customers at work: each sends orders through either host, retries what got no answer under the same key, reads, and
// listens.

import { Customer, Listener } from "./customer.mjs";
import { sleep, until } from "./processes.mjs";

const CUSTOMERS = 4;
/** Pause after an order and between reads, in milliseconds: the machine's two processors run the whole lab. */
const ORDER_PAUSE_MS = 100;
const READ_PAUSE_MS = 300;
/** Pause before an order is sent again, in milliseconds. */
const RETRY_PAUSE_MS = 300;
/** Orders of a customer before another takes her place: with the opening credit, their sum in centavos is covered. */
const ORDERS_MAX = 1_000;
/** Longest time until every stream has reported everything once all is well, in milliseconds. */
const DRAIN_MS = 60_000;

export class Load {
  /** @type {import("./checker.mjs").Record[]} */
  history = [];
  /** @type {Customer[]} */
  customers = [];
  /** @type {Listener[]} */
  #listeners = [];
  #isStopping = false;
  #running = [];
  #count = 0;

  /**
   * @param {() => { url: string }[]} hosts those to send requests to
   * @param {(answer: import("./customer.mjs").Answer) => void} [observe] is shown every answer
   */
  constructor(hosts, observe) {
    this.hosts = hosts;
    this.observe = observe;
  }

  async start() {
    const seats = await Promise.all(Array.from({ length: CUSTOMERS }, () => this.#arrive()));
    this.#running = seats.map((customer) => this.#seat(customer));
  }

  async #arrive() {
    this.#count += 1;
    const customer = new Customer(`customer-${this.#count}`, this.history, this.observe);
    // Until it is well: the lab may be in the middle of a fault.
    await until("a customer arrives", DRAIN_MS, async () => {
      await customer.arrive(this.#host(this.#count));
      return true;
    });
    this.customers.push(customer);
    let turn = this.#count;
    const next = () => {
      turn += 1;
      return this.#host(turn);
    };
    this.#listeners.push(new Listener(customer, `events of ${customer.user}`, next));
    return customer;
  }

  #host(turn) {
    const hosts = this.hosts();
    return hosts[turn % hosts.length];
  }

  /** One customer after the other. */
  async #seat(first) {
    for (let customer = first; !this.#isStopping; ) {
      const done = { isDone: false };
      const reading = this.hosts().map((_, index) => this.#read(customer, index, done));
      await this.#order(customer);
      done.isDone = true;
      await Promise.all(reading);
      if (this.#isStopping) break;
      const next = await this.#arrive().catch(() => undefined);
      if (!next) break;
      customer = next;
    }
  }

  async #order(customer) {
    for (let n = 0; n < ORDERS_MAX && !this.#isStopping; n += 1) {
      const order = customer.order();
      for (let attempt = n; ; attempt += 1) {
        const { outcome } = await customer.send(this.#host(attempt), `sender of ${customer.user}`, order);
        // When the load stops, the last order is left as it is.
        if (outcome !== "unknown" || this.#isStopping) break;
        await sleep(RETRY_PAUSE_MS);
      }
      await sleep(ORDER_PAUSE_MS);
    }
  }

  async #read(customer, index, done) {
    for (let n = 0; !done.isDone; n += 1) {
      await customer.reads[n % customer.reads.length](this.#host(index), `reader ${index} of ${customer.user}`);
      await sleep(READ_PAUSE_MS);
    }
  }

  /** Counts of all answers so far. */
  answers() {
    const sum = new Map();
    for (const { answers } of this.customers)
      for (const [name, count] of answers) sum.set(name, (sum.get(name) ?? 0) + count);
    return sum;
  }

  /** Times at which a transfer was acknowledged, since `from`. */
  acknowledgedSince(from) {
    const times = [];
    for (let n = this.history.length - 1; n >= 0 && this.history[n].to >= from - DRAIN_MS; n -= 1) {
      const record = this.history[n];
      if (record.type === "order" && record.outcome === "done" && record.to >= from) times.push(record.to);
    }
    return times.sort((a, b) => a - b);
  }

  /** Ends the work; the streams are read until they have reported `final`'s transfers. Returns those that did. */
  async stop() {
    this.#isStopping = true;
    await Promise.all(this.#running);
    const last = this.history.length;
    let quiet = last;
    // Everything has been reported when nothing new has come for a while.
    const end = Date.now() + DRAIN_MS;
    for (let calm = 0; calm < 10 && Date.now() < end; ) {
      await sleep(500);
      calm = this.history.length === quiet ? calm + 1 : 0;
      quiet = this.history.length;
    }
    await Promise.all(this.#listeners.map((it) => it.end()));
    return this.#listeners.map((it) => it.session);
  }
}
