// Variants of the warnings: an operator decides who sees which, while people are at the page.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { settled, startBank } from "./bank.mjs";
import { Line } from "./line.mjs";
import { Person } from "./person.mjs";

const STRANGER = { name: "Cuenta Segura", accountNumber: "646180157099999993", bankName: "STP" };

let bank;
let browser;
let line;

before(async () => {
  bank = await startBank();
  line = await Line.to(bank.service.ledger);
  browser = await launch(["--lang=es-MX"]);
});

after(async () => {
  await browser?.close();
  await line?.close();
  await bank?.end();
});

const decide = (...shares) => {
  const how = ["--experiment", "order-of-advice", "--shares", shares.join(","), "--reason", "a test"];
  return bank.operate("warnings", ...how);
};

/** What comes first in the warning: the advice, or the reasons. */
async function first(it) {
  await it.reviews({ payee: STRANGER.name, amount: "8,000" });
  await it.answers("Le pago a alguien que conozco");
  await it.page.waitForSelector(".fitted");
  const parts = await it.page.$$eval(".fitted > .notice > .about > *", (all) => all.map((one) => one.localName));
  return parts.filter((name) => name === "p" || name === "ul")[0] === "p" ? "advice" : "reasons";
}

test("a change of shares reaches a page on which somebody is, with the next payment", async () => {
  const { user } = await settled(bank, { payees: [STRANGER] });
  const it = await Person.at(browser, line.url);
  await it.signsIn(user);
  for (const [share, expected] of [
    ["why-first=100", "reasons"],
    ["advice-first=100", "advice"],
  ]) {
    assert.match(await decide(share), /now: order-of-advice, /);
    assert.equal(await first(it), expected, share);
    await it.activates("link", "No enviar por ahora");
    await it.arrives("Mis cuentas");
  }
  await assert.rejects(decide("why-first=99"), /percentages that add up to 100/);
  // Where the service does not say, warnings look as before.
  line.answer("GET", "/api/analytics/warnings", { status: 500 });
  assert.equal(await first(it), "advice");
  await it.leaves();
});
