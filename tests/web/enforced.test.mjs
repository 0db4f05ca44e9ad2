// A bank that requires the acknowledgment of a high risk gets it from its page.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { PAYEE, settled, startBank } from "./bank.mjs";

import { Line } from "./line.mjs";
import { Person } from "./person.mjs";

let bank;
let browser;
let line;

before(async () => {
  bank = await startBank(["--risk-enforcement", "enforce"]);
  line = await Line.to(bank.service.ledger);
  browser = await launch(["--lang=es-MX"]);
});

after(async () => {
  await browser?.close();
  await line?.close();
  await bank?.end();
});

test("a payment with a high risk that the person acknowledges is sent", async () => {
  const { api, user, account, payee } = await settled(bank);
  await assert.rejects(api.send(account, payee, 9_000), /risk-acknowledgment-required/);
  const it = await Person.at(browser, line.url);
  await it.signsIn(user);
  await it.reviews({ payee: PAYEE.name, amount: "9,000" });
  await it.answers("Le pago a alguien que conozco");
  await it.tabsTo("checkbox", "Entiendo");
  await it.press("Space");
  const from = line.requests.length;
  await it.activates("button", "Enviar $9,000.00");
  await it.arrives("Transferencia enviada");
  assert.equal((await api.transfers()).length, 1);
  const [{ body }] = line.seen("POST", "/api/ledger/transactions", from);
  assert.ok(JSON.parse(body).acknowledgmentToken);
  await it.leaves();
});
