// Signing in where tokens are bound to a key of the browser (DPoP): a real provider, Chromium and the real host.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Customer, setUp, tearDown, withAccount } from "./stage.mjs";

const ACCOUNTS = "/api/ledger/accounts";
const stage = {};

before(async () => Object.assign(stage, await setUp(["--dpop-origin", "http://127.0.0.1"])));
after(() => tearDown(stage));

test("the page's tokens are bound to a key that no script can read, and count nowhere else", async () => {
  const user = await withAccount(stage);
  const customer = await Customer.at(stage);
  await customer.signsInAs(user);
  const token = await customer.stored("caudal.token");
  const { cnf } = JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
  assert.match(cnf.jkt, /^[\w-]{43}$/);

  // What a thief has: the token, and a request with its proof.
  const answers = customer.page.waitForResponse((it) => it.url().endsWith(ACCOUNTS) && it.status() === 200);
  const [answer] = await Promise.all([answers, customer.page.reload()]);
  const { authorization, dpop } = answer.request().headers();
  assert.equal(authorization, `DPoP ${token}`);
  const replayed = await fetch(stage.service.ledger + ACCOUNTS, { headers: { authorization, dpop } });
  assert.equal(replayed.status, 401);
  assert.match(replayed.headers.get("www-authenticate"), /^DPoP error="invalid_dpop_proof"/);
  const stolen = await fetch(stage.service.ledger + ACCOUNTS, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(stolen.status, 401);

  // The browser gives the key to nobody, and keeps it for the next visit.
  const keys = await customer.page.evaluate(
    () =>
      new Promise((resolve) => {
        const opening = indexedDB.open("caudal");
        opening.onsuccess = () => {
          const found = opening.result.transaction("keys").objectStore("keys").get("tokens");
          found.onsuccess = () =>
            crypto.subtle.exportKey("jwk", found.result.privateKey).then(
              () => resolve("exported"),
              (error) => resolve(error.name),
            );
        };
      }),
  );
  assert.equal(keys, "InvalidAccessError");
  await customer.page.waitForSelector("#leave");
  assert.deepEqual(customer.faults, []);
});

test("bound tokens are renewed", async () => {
  await stage.issuer.tell("/lifetimes", { access: 8 });
  const customer = await Customer.at(stage);
  await customer.signsInAs(await withAccount(stage));
  await customer.renews();
  const { cnf } = JSON.parse(Buffer.from((await customer.stored("caudal.token")).split(".")[1], "base64url"));
  assert.match(cnf.jkt, /^[\w-]{43}$/);
  const status = await customer.page.evaluate(async (path) => {
    const api = await import("/bank/api.js");
    return (await api.accounts().catch((error) => error.status)).length ?? path;
  }, ACCOUNTS);
  assert.equal(status, 1);
});

test("the page answers a demand for a new nonce", async () => {
  const customer = await Customer.at(stage);
  await customer.signsInAs(await withAccount(stage));
  const statuses = [];
  customer.page.on("response", (it) => it.url().endsWith(ACCOUNTS) && statuses.push(it.status()));
  const accounts = await customer.page.evaluate(async () => {
    const { noteAnswer } = await import("/bank/possession.js");
    noteAnswer(new Headers({ "DPoP-Nonce": "of another time" }));
    return (await (await import("/bank/api.js")).accounts()).length;
  });
  assert.equal(accounts, 1);
  assert.deepEqual(statuses, [401, 200]);
  await customer.leaves();
});

test("bound tokens open the event stream, which receipts are kept up to date by", async () => {
  const customer = await Customer.at(stage);
  await customer.signsInAs(await withAccount(stage));
  await customer.page.bringToFront();
  const outcome = await customer.page.evaluate(async () => {
    const { follow } = await import("/bank/stream.js");
    const end = new AbortController();
    return new Promise((resolve) => {
      follow({
        signal: end.signal,
        cursorNow: () => null,
        onMessage: () => {},
        onLost: (problem) => resolve(`${problem.status} ${problem.code}`),
        onOpen: () => {
          resolve("open");
          end.abort();
        },
      });
    });
  });
  assert.equal(outcome, "open");
  await customer.leaves();
});
