// Receipts, statement and device on a slow rail: what changes after the transfer was sent changes in front of the person.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PAYEE, startBank } from "./bank.mjs";
import { Line } from "./line.mjs";
import { isSound } from "./looks.mjs";
import { Person } from "./person.mjs";

/** Long enough to see a pending transfer, most times. */
const DELAY = ["--simulated-delay", "6s"];
/**
 * The rail settles some transfers at once and others late, and never says what became of a few. Then somebody else tries,
 * so that what is left of the first transfer is in nobody's account.
 */
const ATTEMPTS = 10;
/** A return takes up to twice the delay. */
const PATIENCE_MS = 20_000;

/** A bank on the simulated rail. */
function slowBank(...more) {
  const slow = {};
  before(async () => {
    slow.bank = await startBank(["--rail", "simulated", ...DELAY, ...more]);
    slow.line = await Line.to(slow.bank.service.ledger);
  });
  after(async () => {
    await slow.line?.close();
    await slow.bank?.end();
  });
  return slow;
}

const signedIn = (stage, browser) => Person.signedIn({ ...stage, browser });

/** Somebody who sees the receipt of a transfer in progress. */
async function sendsSlowly(slow, browser) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const somebody = await signedIn(slow, browser);
    const { it } = somebody;
    await it.reviews({ payee: PAYEE.name, amount: "100" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia|transferencia");
    if (/en proceso/.test(await it.heading())) return somebody;
    await it.leaves();
  }
  return assert.fail("every transfer was settled at once");
}

/** Whether the heading comes to say this, by itself. */
const becomes = (it, heading) =>
  it.page
    .waitForFunction(
      (text) => document.querySelector("h1").textContent.includes(text),
      { timeout: PATIENCE_MS },
      heading,
    )
    .then(() => true)
    .catch(() => false);

/** Somebody whose transfer in progress ends like this in front of them. False from `meanwhile`: it was too late. */
async function sendsUntil(slow, browser, heading, meanwhile = async () => true) {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const somebody = await sendsSlowly(slow, browser);
    const isInTime = (await meanwhile(somebody)) !== false;
    if (isInTime && (await becomes(somebody.it, heading))) return somebody;
    await somebody.it.leaves();
  }
  return assert.fail(`no receipt came to say ${heading}`);
}

export function receipts(stage) {
  const settling = slowBank("--simulated-rejected", "0", "--simulated-returned", "0");
  const rejecting = slowBank("--simulated-rejected", "100");
  const returning = slowBank("--simulated-rejected", "0", "--simulated-returned", "100");

  test("a receipt is completed in front of the person, in two tabs, and is announced", async () => {
    let second;
    const { it } = await sendsUntil(settling, stage.browser, "Transferencia enviada", async ({ it, user }) => {
      await it.page.evaluate(() => {
        globalThis.isSamePage = true;
      });
      second = await it.inAnotherTab(`/${await it.page.evaluate(() => location.hash)}`);
      await second.signsIn(user);
      await it.page.bringToFront();
    });
    assert.equal(await it.page.evaluate(() => globalThis.isSamePage), true);
    await it.sees("Completada", ".receipt");
    await it.sees("Transferencia enviada", "#announcements");
    assert.match(await it.title(), /^Transferencia enviada/);
    await second.page.bringToFront();
    assert.ok(await becomes(second, "Transferencia enviada"));
    await second.sees("Completada", ".receipt");
    await it.leaves();
  });

  test("across a lost connection the receipt says so, and catches up by itself", async (t) => {
    const { line } = settling;
    t.after(() => line.restore());
    const { it } = await sendsUntil(settling, stage.browser, "Transferencia enviada", async ({ it }) => {
      line.cut();
      if (!/en proceso/.test(await it.heading())) {
        line.restore();
        return false;
      }
      await it.sees("Sin conexión con el banco", "main");
      await isSound(it);
      await it.pause(4_500);
      assert.match(await it.heading(), /en proceso/);
      line.restore();
    });
    assert.doesNotMatch(await it.text(), /Sin conexión/);
    await it.leaves();
  });

  test("where there is no room for another listener the receipt is asked for again and again", async (t) => {
    const { line } = settling;
    t.after(() => line.restore());
    line.answer("GET", "/api/ledger/events", { status: 429, headers: { "retry-after": "1" } });
    const { it } = await sendsUntil(settling, stage.browser, "Transferencia enviada");
    await it.leaves();
  });

  test("a failed transfer says why, gives the money back, and is struck from the statement without a minus", async () => {
    const { it, api } = await sendsUntil(rejecting, stage.browser, "no se completó");
    await it.sees("ya está de vuelta en tu cuenta", "main");
    await it.sees(/Motivo: (la|el|llegó)/, ".notice");
    assert.equal((await api.accounts())[0].balance, 10_000);
    const reason = /Motivo: [^.]+\./.exec(await it.text(".notice"))[0];
    // As well after a reload.
    await it.page.reload();
    await it.arrives("no se completó");
    await it.sees(reason, ".notice");
    assert.equal(await it.page.$(".cep"), null);
    await isSound(it);
    await it.activates("link", "Corregir y volver a enviar");
    await it.arrives("Desde qué cuenta");
    await it.activates("button", "Continuar");
    await it.arrives("Cuánto");
    assert.equal(await it.page.$eval("[name=amount]", ({ value }) => value), "100.00");
    await it.opens("Movimientos");
    await it.page.waitForSelector(".movement");
    const rows = await it.page.$$eval(".movement", (all) => all.map((row) => row.innerText.replace(/\s+/g, " ")));
    const [refund, sent] = rows;
    assert.match(refund, /^Reintegro por transferencia no completada: Luis Pérez \+\$100\.00/);
    assert.match(sent, /^Luis Pérez \$100\.00/);
    assert.match(sent, /No se completó/);
    assert.ok(sent.includes(reason), sent);
    const struck = await it.page.$eval(".movement s [aria-hidden] span", (figure) => ({
      text: figure.textContent,
      line: getComputedStyle(figure).textDecorationLine,
    }));
    assert.deepEqual(struck, { text: "$100.00", line: "line-through" });
    assert.match(rows.at(-1), /^Depósito de apertura \+\$10,000\.00/);
    await isSound(it);
    await it.leaves();
  });

  test("a transfer that comes back says so on the open receipt and in the statement", async () => {
    const { it, api } = await sendsUntil(returning, stage.browser, "Te devolvieron la transferencia");
    await it.sees("Devuelta", ".receipt");
    await it.sees("Motivo:", ".notice");
    assert.equal((await api.accounts())[0].balance, 10_000);
    await it.page.reload();
    await it.arrives("Te devolvieron la transferencia");
    await isSound(it);
    await it.opens("Movimientos");
    await it.page.waitForSelector(".movement");
    await it.sees(/Devolución: Luis Pérez \+\$100\.00/, "main");
    await it.sees(/Luis Pérez −\$100\.00 .{0,40} · Devuelta/, "main");
    await isSound(it);
    await it.leaves();
  });

  test("a transfer that completes later makes this device a known one", async () => {
    const { it, api } = await sendsSlowly(settling, stage.browser);
    // Away from the receipt, and the page is loaded again: nobody watches it complete.
    await it.opens("Mis cuentas");
    const isOver = async () => (await api.transfers()).every(({ status }) => status === "completed");
    for (let time = 0; time < 200 && !(await isOver()); time += 1) await it.pause(250);
    await it.page.reload();
    await it.arrives("Mis cuentas");
    await it.reviews({ payee: PAYEE.name, amount: "100" });
    assert.doesNotMatch(await it.page.$eval(".risk details", (one) => one.textContent), /NEW_DEVICE/);
    await it.leaves();
  });
}
