// A bank that requires the acknowledgment of a high risk gets it from its page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { PAYEE, startBank } from "./bank.mjs";
import { Line } from "./line.mjs";
import { Person } from "./person.mjs";

test("a payment with a high risk that the person acknowledges is sent", async (t) => {
  const bank = await startBank(["--risk-enforcement", "enforce"]);
  t.after(() => bank.end());
  const line = await Line.to(bank.service.ledger);
  t.after(() => line.close());
  const browser = await launch(["--lang=es-MX"]);
  t.after(() => browser.close());
  const { it, api, account, payee } = await Person.signedIn({ bank, browser, line });
  await assert.rejects(api.send(account, payee, 9_000), /risk-acknowledgment-required/);
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
