// "This was not me" on a transfer's receipt: asked first, reported once, and the account frozen only if the person wants it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OTHER, PAYEE } from "./bank.mjs";
import { isSound } from "./looks.mjs";
import { Person } from "./person.mjs";

const ASK = "No hice esta transferencia";

/** Somebody at the receipt of a transfer that is in their history. */
async function findsTransfer(stage) {
  const about = await Person.signedIn(stage, { count: 1, payees: [PAYEE, OTHER] });
  const { it } = about;
  await it.opens("Movimientos");
  await it.page.waitForSelector(".movement a");
  await it.activates("link", PAYEE.name);
  await it.arrives("Transferencia enviada");
  return about;
}

const asked = async (it) => {
  await it.activates("button", ASK);
  await it.page.waitForSelector("dialog[open]");
};

export function disowning(stage) {
  const frozen = async (api) => (await api.accounts())[0].frozen === true;

  test("a transfer that was not theirs is reported, and the account frozen on request", async () => {
    const { it, api, account, payee } = await findsTransfer(stage);
    await asked(it);
    assert.deepEqual(await it.focused(), { role: "heading", name: "¿No hiciste esta transferencia?" });
    assert.match(await it.text("dialog"), /no se cancela ni se te devuelve el dinero/);
    await isSound(it);
    // Nothing happens without a yes, and the focus is back at the question.
    await it.press("Escape");
    assert.deepEqual(await it.focused(), { role: "button", name: ASK });
    assert.equal(await frozen(api), false);

    await asked(it);
    await it.tabsTo("checkbox", /^Bloquear también la cuenta/);
    await it.press("Space");
    await it.activates("button", "Sí, reportarla");
    await it.sees("bloqueamos la cuenta: no puede salir dinero de ella", ".disowning");
    assert.match(await it.page.evaluate(() => document.activeElement.textContent), /Recibimos tu reporte/);
    // What to do now is open.
    await it.sees("Guarda mensajes, números", ".disowning");
    await isSound(it);
    assert.equal(await frozen(api), true);
    await assert.rejects(api.send(account, payee, 1), /account-frozen/);
    await it.opens("Mis cuentas");
    await it.sees("Cuenta bloqueada", "main");
    await it.leaves();
  });

  test("without the tick the account stays as it is, and a report that failed can be sent again", async (t) => {
    t.after(() => stage.line.restore());
    const { it, api } = await findsTransfer(stage);
    const [{ id }] = await api.transfers();
    stage.line.answer("POST", `/api/ledger/transactions/${id}/report`, { status: 503, headers: {}, body: "" });
    await asked(it);
    await it.activates("button", "Sí, reportarla");
    await it.page.waitForSelector(".disowning [role=alert]");
    stage.line.restore();
    await it.activates("button", "Intentar de nuevo");
    await it.sees("Recibimos tu reporte. El banco revisará la transferencia.", ".disowning");
    assert.equal(await frozen(api), false);
    // It was noted once.
    const again = await api.call("POST", `/api/ledger/transactions/${id}/report`, { freeze: false });
    assert.equal(again.changed, false);
    await it.leaves();
  });
}
