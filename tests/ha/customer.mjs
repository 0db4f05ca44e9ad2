// A customer of the bank, who notes everything that she sees.

import { token } from "./host.mjs";

/** Longest time that a client waits for an answer, in milliseconds: longer than a host may take (60 s), so that it decides. */
const ANSWER_MS = 65_000;
/** Transfers on a page. */
const PAGE = 50;
/** Statuses by which the service refuses an order for good. */
const REFUSALS = [400, 404, 422];

/** A CLABE that passes the check, and an account of the customer's own. */
const PAYEE = { name: "Luis Pérez", accountNumber: "012180004643051249", bankName: "BBVA" };
const ACCOUNT = { accountNumber: "646180110400000007", accountType: "checking" };

const centavos = (amount) => Math.round(amount * 100);

const transferFrom = (json) => ({
  id: json.id,
  account: json.fromAccountId,
  amount: centavos(json.amount),
  status: json.status,
  createdAt: json.createdAt,
});

/** @typedef {{ name: string, host: string, from: number, to: number }} Answer what was asked of whom, how it was answered, and when */

export class Customer {
  /** Amount of the next order, in centavos: no two orders have the same one. */
  #amount = 0;
  /** What she saw of transfers, each thing once: a drill's lists would fill the memory. */
  #seen = new Map();

  /**
   * @param {string} user
   * @param {import("./checker.mjs").Record[]} history where to note
   * @param {(answer: Answer) => void} observe is shown every answer
   */
  constructor(user, history, observe = () => {}) {
    this.user = user;
    this.history = history;
    this.observe = observe;
    this.headers = { authorization: `Bearer ${token(user)}`, "content-type": "application/json" };
    /** Counts responses by what was asked and how it was answered. */
    this.answers = new Map();
  }

  /** Asks a host; an answer that does not come is status 0, and counted by its cause. */
  async #ask(what, host, path, { body, headers, limitMs = ANSWER_MS } = {}) {
    const from = Date.now();
    let status = 0;
    let answer;
    let name = `${what} none`;
    let isReplay = false;
    try {
      const response = await fetch(`${host.url}/api/ledger${path}`, {
        method: body ? "POST" : "GET",
        body: body && JSON.stringify(body),
        headers: { ...this.headers, ...headers },
        signal: AbortSignal.timeout(limitMs),
      });
      answer = await response.json().catch(() => undefined);
      // A list that breaks off has nothing that can be read.
      status = response.ok && answer === undefined ? 0 : response.status;
      isReplay = response.headers.has("idempotency-replayed");
      if (status) name = `${what} ${status}`;
      if (status === 503 && !response.headers.has("retry-after")) name += " without Retry-After";
      if (status >= 400 && !response.headers.get("content-type")?.includes("problem+json"))
        name += " without a problem";
    } catch (error) {
      // The host is gone, or does not answer.
      name = `${what} ${error.cause?.code ?? error.name}`;
    }
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
    const to = Date.now();
    this.observe({ name, host: host.name, from, to });
    return { from, to, status, answer, isReplay };
  }

  /** Opens an account and saves the payee; to be called while all is well. */
  async arrive(host, account = ACCOUNT) {
    const opened = await this.#ask("open", host, "/accounts", { body: account });
    const saved = await this.#ask("payee", host, "/beneficiaries", { body: PAYEE });
    if (!opened.answer?.id || !saved.answer?.id)
      throw new Error(`${this.user}: ${JSON.stringify([opened.answer, saved.answer])}`);
    this.account = opened.answer.id;
    this.payee = saved.answer.id;
  }

  /** Schedules a transfer for a date. */
  async plan(host, firstDate) {
    const body = { fromAccountId: this.account, toBeneficiaryId: this.payee, amount: 1, recurrence: "once", firstDate };
    const planned = await this.#ask("plan", host, "/schedules", { body });
    if (planned.status !== 201) throw new Error(`${this.user}: ${JSON.stringify(planned.answer)}`);
  }

  #transfer(json) {
    const transfer = transferFrom(json);
    const name = Object.values(transfer).join(" ");
    if (!this.#seen.has(name)) this.#seen.set(name, transfer);
    return this.#seen.get(name);
  }

  /** The next order. */
  order() {
    this.#amount += 1;
    return { key: `${this.user}-${this.#amount}`, amount: this.#amount };
  }

  /** Sends an order, for the first time or again. */
  async send(host, session, { key, amount }, limitMs) {
    const body = { fromAccountId: this.account, toBeneficiaryId: this.payee, amount: amount / 100 };
    const headers = { "idempotency-key": key };
    const { from, to, status, answer } = await this.#ask("send", host, "/transactions", { body, headers, limitMs });
    const isDone = status === 200 || status === 201;
    const outcome = isDone ? "done" : REFUSALS.includes(status) ? "refused" : "unknown";
    const transfer = isDone ? this.#transfer(answer) : undefined;
    this.history.push({ type: "order", session, key, account: this.account, amount, from, to, outcome, transfer });
    return { status, outcome, answer };
  }

  async list(host, session, limitMs) {
    const { from, to, status, answer } = await this.#ask("list", host, `/transactions?limit=${PAGE}`, { limitMs });
    if (status !== 200) return;
    const transfers = answer.map((json) => this.#transfer(json));
    this.history.push({
      type: "list",
      session,
      user: this.user,
      from,
      to,
      isWhole: transfers.length < PAGE,
      transfers,
    });
  }

  async details(host, session, limitMs) {
    const { from, to, status, answer } = await this.#ask("account", host, `/accounts/${this.account}`, { limitMs });
    if (status !== 200) return;
    this.history.push({ type: "balance", session, account: this.account, from, to, balance: centavos(answer.balance) });
  }

  async balance(host, session, limitMs) {
    const { from, to, status, answer } = await this.#ask("balance", host, `/accounts/${this.account}/balance`, {
      limitMs,
    });
    if (status !== 200) return;
    this.history.push({ type: "balance", session, account: this.account, from, to, balance: centavos(answer.balance) });
  }

  async entries(host, session, limitMs) {
    const path = `/accounts/${this.account}/entries?limit=${PAGE}`;
    const { from, to, status, answer } = await this.#ask("entries", host, path, { limitMs });
    if (status !== 200) return;
    const entries = answer.map((it) => ({
      number: it.number,
      amount: centavos(it.amount),
      balance: centavos(it.balance),
      transfer: it.type === "transfer" ? it.transactionId : null,
    }));
    this.history.push({ type: "entries", session, account: this.account, from, to, entries });
  }

  /** The reads, by name. */
  get reads() {
    return [this.list, this.details, this.balance, this.entries].map((read) => read.bind(this));
  }
}

/** Listens to a customer's events from the beginning, and resumes where it was cut off. */
export class Listener {
  #cursor = "";
  #isEnded = false;
  #stop = new AbortController();

  /**
   * @param {Customer} customer
   * @param {() => { url: string }} choose the host to connect to next
   */
  constructor(customer, session, choose, pauseMs = 200) {
    Object.assign(this, { customer, session, choose, pauseMs });
    this.running = this.#run();
  }

  async #run() {
    while (!this.#isEnded) {
      await this.#listen().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    }
  }

  async #listen() {
    const { headers } = this.customer;
    const url = `${this.choose().url}/api/ledger/events?from=${encodeURIComponent(this.#cursor)}`;
    const response = await fetch(url, { headers, signal: this.#stop.signal });
    // Events were lost.
    if (response.status === 410) [this.session, this.#cursor] = [`${this.session} again`, ""];
    if (!response.ok || !response.body) return;
    let text = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        this.#note(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  #note(message) {
    const field = (name) =>
      message
        .split("\n")
        .find((line) => line.startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim();
    const data = field("data");
    if (!data) return;
    for (const json of JSON.parse(data)) {
      if (json.type !== "transfer") continue;
      const { transactionId: id, accountId: account, status, ordinal } = json;
      const transfer = { id, account, amount: centavos(json.amount), status };
      const { user, history } = this.customer;
      history.push({ type: "event", session: this.session, user, to: Date.now(), ordinal, transfer });
    }
    this.#cursor = field("id") ?? this.#cursor;
  }

  async end() {
    this.#isEnded = true;
    this.#stop.abort();
    await this.running;
  }
}
