// Customers who pay each other through any host, and what is read as an operator.

import { token } from "./host.mjs";
import { sleep } from "./processes.mjs";

export const CUSTOMERS = 8;
/** Transfers of one request. */
const BULK = 100;

/** Asks one of the hosts, and the next one if there is no answer, until something is done. */
export async function ask(hosts, as, path, body, limitMs = 30_000) {
  const end = Date.now() + limitMs;
  for (let turn = 0; ; turn += 1) {
    const host = hosts[turn % hosts.length];
    const url = path.startsWith("/admin") ? `http://127.0.0.1:${host.assistPort}` : `${host.url}/api/ledger`;
    const headers = { authorization: `Bearer ${as}`, "content-type": "application/json" };
    try {
      const answer = await fetch(url + path, {
        method: body ? "POST" : "GET",
        headers,
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.ok) return answer.status === 204 ? {} : await answer.json();
      if (answer.status !== 503 && answer.status !== 429) throw new Error(`${path}: ${await answer.text()}`);
    } catch (error) {
      if (!(error instanceof TypeError) && error.name !== "TimeoutError") throw error;
    }
    if (Date.now() > end) throw new Error(`${path}: no host answers`);
    await sleep(50);
  }
}

/** The whole feed. */
export async function feed(hosts, as) {
  const events = [];
  for (let cursor = "", isEnd = false; !isEnd; ) {
    const page = await ask(hosts, as, `/admin/events?from=${cursor}`);
    for (const event of page.events) events.push(event);
    ({ cursor, isEnd } = page);
  }
  return events;
}

/** Customers who pay each other, and others outside of the bank. */
export async function arrive(hosts) {
  const customers = Array.from({ length: CUSTOMERS }, (_, index) => ({ token: token(`customer-${index}`) }));
  for (const it of customers) {
    const { id, accountNumber } = await ask(hosts, it.token, "/accounts", { accountType: "checking" });
    Object.assign(it, { id, accountNumber });
  }
  const pay = async (it, name, accountNumber) =>
    (await ask(hosts, it.token, "/beneficiaries", { name, accountNumber, bankName: "Banco" })).id;
  for (const [index, it] of customers.entries()) {
    const next = customers[(index + 1) % CUSTOMERS].accountNumber;
    it.payees = [await pay(it, "Next", next), await pay(it, "Luis", "012180004643051249")];
  }
  return customers;
}

/** Sends until all transfers are made; each request is repeated until it is answered. */
export async function load(hosts, customers, count) {
  let made = 0;
  const send = async (it, index) => {
    for (let part = 0; made < count; part += 1) {
      made += BULK;
      const transfers = Array.from({ length: BULK }, (_, number) => ({
        idempotencyKey: `${index}-${part}-${number}`,
        fromAccountId: it.id,
        toBeneficiaryId: it.payees[number % 5 === 0 ? 1 : 0],
        amount: 0.01,
      }));
      const mine = part % 2 === 0 ? hosts : [...hosts].reverse();
      const isOpen = async () => {
        const { results } = await ask(mine, it.token, "/transactions/bulk", { transfers }, 120_000);
        return results.some((result) => result.status >= 429);
      };
      while (await isOpen()) await sleep(100);
    }
  };
  await Promise.all(customers.map(send));
}
