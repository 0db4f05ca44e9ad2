// The bank activates another model while the page is open: the next score has the new version, without a reload. Then the
// bank disappears, and the page continues with the last version.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PAYEE, settled } from "./bank.mjs";
import { Person } from "./person.mjs";

/** What is behind the details of the risk. */
const details = (it) => it.page.$eval(".risk details", (details) => details.textContent.replace(/\s+/g, " "));

export function swap(stage) {
  test("the next score carries a new model_version without a reload; without the bank the page still scores", async () => {
    const { bank, line } = stage;
    const { it } = await Person.signedIn(stage, { count: 3 });
    await it.page.evaluate(() => {
      globalThis.isSamePage = true;
    });
    const scored = async () => /por (risk-[\w.]+\+[0-9a-f]{8})/.exec(await details(it))?.[1];
    const again = async () => {
      await it.activates("link", /No enviar y regresar|Regresar al paso anterior/);
      await it.arrives("Cuánto");
      await it.activates("button", "Continuar");
      await it.arrives("Revisa antes");
    };

    const first = await bank.service.deploy("risk", "risk-2.");
    await it.reviews({ payee: PAYEE.name, amount: "100" });
    assert.equal(await scored(), first);
    const second = await bank.service.deploy("risk", "risk-1.");
    await again();
    assert.equal(await scored(), second);
    assert.notEqual(first, second);

    // The host hangs: it accepts connections and never answers.
    bank.service.process.kill("SIGSTOP");
    try {
      await again();
      assert.equal(await scored(), second);
      assert.match(await details(it), /sin conexión/);
      // The facts are those the page remembers: three transfers to the same payee, from a new device.
      assert.match(await details(it), /NEW_DEVICE/);
      assert.doesNotMatch(await details(it), /NEW_BENEFICIARY|LOW_HISTORY/);
    } finally {
      bank.service.process.kill("SIGCONT");
    }
    // The host is gone.
    line.cut();
    await again();
    assert.equal(await scored(), second);
    line.restore();
    await again();
    assert.equal(await scored(), second);
    assert.doesNotMatch(await details(it), /sin conexión/);
    assert.equal(await it.page.evaluate(() => globalThis.isSamePage), true);
    await it.leaves();
  });

  test("without a model in the page the bank's own verdict counts, and without any the risk is high", async (t) => {
    const { bank, browser, line } = stage;
    t.after(() => line.restore());
    const { user } = await settled(bank, { count: 3 });
    line.answer("GET", "/scorers/", { status: 404 });
    const it = await Person.at(browser, line.url);
    await it.signsIn(user);
    await it.reviews({ payee: PAYEE.name, amount: "100" });
    assert.match(await details(it), /Riesgo evaluado por el banco con risk-/);
    await it.activates("link", /No enviar y regresar|Regresar al paso anterior/);
    line.answer("GET", "/api/ledger/risk-context", { status: 503 });
    await it.activates("button", "Continuar");
    await it.arrives("Revisa antes");
    await it.answers("Le pago a alguien que conozco");
    await it.sees("No pudimos revisar el riesgo");
    assert.equal(await it.page.$eval("[name=acknowledged]", (box) => box.checked), false);
    await it.leaves();
  });

  test("a model that is not published is scored by the packaged one", async (t) => {
    const { bank, browser, line } = stage;
    t.after(() => line.restore());
    const { user } = await settled(bank, { count: 3 });
    line.answer("GET", "/models/risk/active", { status: 404 });
    const it = await Person.at(browser, line.url);
    await it.signsIn(user);
    await it.reviews({ payee: PAYEE.name, amount: "100" });
    assert.match(await details(it), /Riesgo evaluado en tu navegador por risk-2\.0\.0\+/);
    await it.leaves();
  });
}
