// Everything that can go wrong, and the next step that each failure leaves. The network is really cut, in front of the
// real bank; only what the bank never does itself (a broken proxy) is answered by the line.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OTHER, PAYEE, settled } from "./bank.mjs";
import { Person } from "./person.mjs";

const SENDING = "/api/ledger/transactions";

export function failures(stage) {
  /** A person at the review of a transfer; the line is restored when the test ends. */
  async function atReview(t, { amount = "250", ...more } = {}) {
    const { line } = stage;
    t.after(() => line.restore());
    const about = await Person.signedIn(stage, more);
    await about.it.reviews({ payee: PAYEE.name, amount });
    return { ...about, line, from: line.requests.length };
  }

  /** What was tried again was sent once, with one key. */
  async function arrivesOnce({ it, api, line, from }) {
    await it.arrives("Transferencia enviada");
    assert.equal((await api.transfers()).length, 1);
    assert.equal(new Set(keysOf(line, from)).size, 1);
    await it.leaves();
  }

  const keysOf = (line, from) => line.seen("POST", SENDING, from).map((it) => it.headers["idempotency-key"]);

  test("not enough money: the amount can be changed, and another key is used", async (t) => {
    const { it, api, account, payee, line, from } = await atReview(t, { amount: "5000" });
    await api.send(account, payee, 8000);
    await it.sendsWhateverTheRisk();
    await it.arrives("Cuánto quieres enviar");
    await it.sees("Saldo insuficiente: tienes $2,000.00");
    assert.equal((await it.focused()).name, "Hay algo que corregir");
    assert.match(await it.title(), /^Error: /);
    await it.activates("link", "Saldo insuficiente");
    assert.match((await it.focused()).name, /Monto/);
    // Now the page itself knows.
    await it.fills("Monto", "2000.01");
    await it.press("Enter");
    await it.sees("Saldo insuficiente: tienes $2,000.00");
    await it.fills("Monto", "2000");
    await it.press("Enter");
    await it.arrives("Revisa antes");
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    await it.opens("Mis cuentas");
    await it.sees("$0.00");
    assert.equal(new Set(keysOf(line, from)).size, 2);
    await it.leaves();
  });

  test("a line that is cut before sending: try again, and it is sent once", async (t) => {
    const about = await atReview(t);
    const { it, api, line } = about;
    line.cut();
    await it.sendsWhateverTheRisk();
    await it.sees("Se perdió la conexión con el banco");
    await it.sees("no se enviará dos veces");
    assert.equal((await it.focused()).role, "generic");
    // Still cut.
    await it.activates("button", "Intentar de nuevo sin duplicarla");
    await it.sees("Se perdió la conexión con el banco");
    assert.equal((await api.transfers()).length, 0);
    line.restore();
    await it.activates("button", "Intentar de nuevo sin duplicarla");
    await arrivesOnce(about);
  });

  test("an answer lost after the money moved: trying again, even after a reload, sends nothing twice", async (t) => {
    const { it, api, line, from } = await atReview(t);
    line.loseAnswers("POST", SENDING);
    await it.sendsWhateverTheRisk();
    await it.sees("Todavía no sabemos si se envió tu transferencia");
    assert.equal((await api.transfers()).length, 1);
    line.restore();
    await it.page.reload();
    await it.settles();
    // Wherever the person goes, the unsettled transfer comes first.
    await it.opens("Mis cuentas");
    await it.sees("Todavía no sabemos si se envió tu transferencia");
    await it.opens(/^Transferir$/);
    await it.arrives("Revisa antes");
    await it.sees("$250.00");
    await it.activates("button", "Intentar de nuevo sin duplicarla");
    await it.arrives("Transferencia enviada");
    const [made, ...others] = await api.transfers();
    assert.deepEqual(others, []);
    await it.sees(made.speiReference);
    const keys = keysOf(line, from);
    assert.ok(keys.length >= 2);
    assert.equal(new Set(keys).size, 1);
    assert.equal((await api.accounts())[0].balance, 9750);
    await it.leaves();
  });

  test("a transfer with an unknown outcome can be abandoned, after a question", async (t) => {
    const { it, line } = await atReview(t);
    line.cut();
    await it.sendsWhateverTheRisk();
    await it.sees("Se perdió la conexión");
    line.restore();
    await it.activates("button", "Empezar otra transferencia");
    await it.activates("button", "No, seguir con esta");
    await it.activates("button", "Empezar otra transferencia");
    await it.activates("button", "Sí, empezar otra");
    await it.arrives("Desde qué cuenta");
    await it.leaves();
  });

  test("a session that ended: sign in again and go on, with everything as it was", async (t) => {
    const about = await atReview(t);
    const { it, api } = about;
    // As if issued long ago: the bank refuses it.
    await it.page.evaluate(() => {
      const [head, body] = sessionStorage.getItem("caudal.token").split(".");
      sessionStorage.setItem("caudal.token", `${head}.${body}.AAAA`);
    });
    await it.sendsWhateverTheRisk();
    await it.arrives("Entrar");
    await it.sees("Tu sesión terminó");
    await it.sees("continúa donde te quedaste");
    assert.equal(await it.page.evaluate(() => sessionStorage.getItem("caudal.token")), null);
    await it.signsIn(api.user);
    await it.arrives("Revisa antes");
    await it.sees("$250.00");
    await it.sees(PAYEE.name);
    await it.sendsWhateverTheRisk();
    await arrivesOnce(about);
  });

  test("what was typed outlives the end of a session, but not for another user", async (t) => {
    const { bank, line } = stage;
    t.after(() => line.restore());
    const { it, user } = await Person.signedIn(stage);
    const type = async () => {
      await it.opens("Beneficiarios");
      await it.activates("link", "Agregar beneficiario");
      await it.fills("Nombre completo", "Rosa Martínez");
      await it.fills("CLABE", OTHER.accountNumber);
      await it.page.evaluate(() => sessionStorage.setItem("caudal.token", "a.b.c"));
      await it.activates("button", "Guardar");
      await it.arrives("Entrar");
    };
    const value = (name) => it.page.$eval(`[name=${name}]`, (input) => input.value);
    await type();
    await it.signsIn(user);
    await it.arrives("Agregar beneficiario");
    assert.equal(await value("name"), "Rosa Martínez");
    assert.equal(await value("accountNumber"), "002 010 07777777777 1");
    await it.page.reload();
    await it.arrives("Agregar beneficiario");
    assert.equal(await value("name"), "Rosa Martínez");
    assert.equal(await it.page.evaluate(() => sessionStorage.getItem("caudal.forms")), null);
    await type();
    await it.signsIn((await settled(bank)).user);
    await it.arrives("Agregar beneficiario");
    assert.equal(await value("name"), "");
    await it.leaves();
  });

  test("a server error: nothing is lost, and trying again uses the same key", async (t) => {
    const about = await atReview(t);
    const { it, line } = about;
    line.answer("POST", SENDING, { status: 500, headers: { "content-type": "text/html" }, body: "<h1>oops</h1>" });
    await it.sendsWhateverTheRisk();
    await it.sees("Algo falló de nuestro lado");
    assert.doesNotMatch(await it.text(), /oops/);
    line.restore();
    await it.activates("button", "Intentar de nuevo sin duplicarla");
    await arrivesOnce(about);
  });

  test("a bank that is busy says how long to wait", async (t) => {
    const { it, api, line } = await atReview(t);
    const body = JSON.stringify({ title: "The service is busy", status: 503, code: "overloaded", requestId: "7f" });
    line.answer("POST", SENDING, {
      status: 503,
      headers: { "content-type": "application/problem+json", "retry-after": "7" },
      body,
    });
    await it.sendsWhateverTheRisk();
    await it.sees("mucha demanda");
    await it.sees("Este intento no hizo ningún cambio. Espera 7 segundos");
    // What only helps the bank is among the details.
    assert.doesNotMatch(await it.text(".send-faults"), /7f|overloaded/);
    const details = await it.page.$eval(".send-faults details", (it) => it.textContent);
    assert.match(details, /folio: 7f/);
    assert.match(details, /Código: overloaded/);
    line.restore();
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    assert.equal((await api.transfers()).length, 1);
    await it.leaves();
  });

  test("a busy bank does not make the outcome of an earlier attempt known", async (t) => {
    const about = await atReview(t);
    const { it, line } = about;
    line.loseAnswers("POST", SENDING);
    await it.sendsWhateverTheRisk();
    await it.sees("Todavía no sabemos si se envió tu transferencia");
    line.restore();
    for (const [status, code] of [
      [503, "overloaded"],
      [503, "keys-unknown"],
      [429, "too-many-requests"],
    ]) {
      const headers = { "content-type": "application/problem+json", "retry-after": "7" };
      line.answer("POST", SENDING, { status, headers, body: JSON.stringify({ title: "Busy", status, code }) });
      await it.activates("button", "Intentar de nuevo sin duplicarla");
      await it.settles();
      await it.sees("Este intento no hizo ningún cambio. Espera 7 segundos");
      await it.sees("Todavía no sabemos si se envió tu transferencia");
      line.restore();
    }
    // Nor does a proxy that takes offence at the request.
    line.answer("POST", SENDING, { status: 400, headers: { "content-type": "text/html" }, body: "Bad request" });
    await it.activates("button", "Intentar de nuevo sin duplicarla");
    await it.settles();
    await it.sees("Todavía no sabemos si se envió tu transferencia");
    line.restore();
    await it.opens("Mis cuentas");
    await it.sees("Todavía no sabemos si se envió tu transferencia");
    await it.opens(/^Transferir$/);
    await it.arrives("Revisa antes");
    await it.activates("button", "Intentar de nuevo sin duplicarla");
    await arrivesOnce(about);
  });

  test("a payee deleted in the meantime: choose another one", async (t) => {
    const { it, api, payees } = await atReview(t, { payees: [PAYEE, OTHER] });
    await api.deletePayee(payees[0].id);
    await it.sendsWhateverTheRisk();
    await it.arrives("Desde qué cuenta");
    await it.sees("Este beneficiario ya no está en tu lista");
    await it.picks(OTHER.name);
    await it.activates("button", "Continuar");
    await it.arrives("Cuánto");
    // The amount is still there.
    await it.activates("button", "Continuar");
    await it.arrives("Revisa antes");
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    await it.leaves();
  });

  test("the bank's errors are shown beside their fields", async (t) => {
    const { line } = stage;
    t.after(() => line.restore());
    const { it, account } = await Person.signedIn(stage);
    const errors = [{ field: "accountNumber", code: "clabe-check-digit", detail: "" }];
    line.answer("POST", "/api/ledger/beneficiaries", {
      status: 400,
      headers: { "content-type": "application/problem+json" },
      body: JSON.stringify({ title: "Invalid", status: 400, code: "validation-failed", errors }),
    });
    await it.opens("Beneficiarios");
    await it.activates("link", "Agregar beneficiario");
    await it.fills("Nombre completo", "Ana Ruiz");
    await it.fills("CLABE", OTHER.accountNumber);
    await it.sees("CLABE de Banamex");
    await it.activates("button", "Guardar");
    await it.sees("Esta CLABE parece tener un dígito equivocado", ".summary");
    const described = await it.page.$eval("[name=accountNumber]", (input) =>
      input
        .getAttribute("aria-describedby")
        .split(" ")
        .map((id) => document.getElementById(id).textContent)
        .join(" "),
    );
    assert.match(described, /Esta CLABE parece tener un dígito equivocado/);
    line.restore();
    // And a payee with the number of the account that pays.
    await it.opens("Beneficiarios");
    await it.activates("link", "Agregar beneficiario");
    await it.fills("Nombre completo", "Yo Mismo");
    await it.fills("CLABE", account.accountNumber);
    await it.sees("CLABE de STP");
    await it.activates("button", "Guardar");
    await it.arrives("Beneficiarios");
    await it.reviews({ payee: "Yo Mismo", amount: "10" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Desde qué cuenta");
    await it.sees("Es la misma cuenta de la que sale el dinero", ".summary");
    await it.leaves();
  });

  test("a list that cannot be loaded says so, and can be asked for again", async (t) => {
    const { line } = stage;
    t.after(() => line.restore());
    const { it } = await Person.signedIn(stage);
    line.cut();
    await it.opens("Movimientos");
    await it.sees("Se perdió la conexión con el banco");
    // What was seen before is still shown.
    await it.opens("Mis cuentas");
    await it.sees("Última actualización");
    await it.sees("$10,000.00");
    await it.opens("Movimientos");
    await it.sees("Se perdió la conexión con el banco");
    line.restore();
    await it.activates("button", "Intentar de nuevo");
    await it.sees("Depósito de apertura");
    await it.leaves();
  });

  test("a session that is about to end says so, and can be extended", async (t) => {
    const { bank, browser, line } = stage;
    t.after(() => line.restore());
    const { user } = await settled(bank);
    const token = await bank.token(user, "--ttl", "100s");
    const it = await Person.at(browser, line.url);
    await it.tabsTo("textbox", "Token de acceso");
    await it.pastes(token);
    await it.press("Enter");
    await it.arrives("Mis cuentas");
    await it.sees("Tu sesión está por terminar", "#warnings");
    await it.activates("button", "Mantener mi sesión");
    await it.page.waitForFunction(() => document.getElementById("warnings").textContent === "");
    assert.notEqual(await it.page.evaluate(() => sessionStorage.getItem("caudal.token")), token);
    await it.opens("Movimientos");
    // Signing out leaves nothing behind.
    await it.activates("button", "Salir");
    await it.sees("ya no queda ningún dato tuyo");
    assert.equal(await it.page.evaluate(() => sessionStorage.getItem("caudal.token")), null);
    await it.leaves();
  });

  test("a session ends on the minute, and text that is not a token is refused", async (t) => {
    const { bank, browser, line } = stage;
    t.after(() => line.restore());
    const { user } = await settled(bank);
    const it = await Person.at(browser, line.url);
    await it.fills("Token de acceso", "no es");
    await it.press("Enter");
    await it.sees("Esto no es un token", ".summary");
    await it.fills("Token de acceso", "a.b.c");
    await it.press("Enter");
    await it.sees("El banco no acepta este token", ".summary");
    await it.tabsTo("textbox", "Token de acceso");
    await it.page.$eval("[name=token]", (input) => input.select());
    await it.pastes(await bank.token(user, "--ttl", "5s"));
    await it.press("Enter");
    await it.arrives("Mis cuentas");
    await it.arrives("Entrar");
    await it.sees("Tu sesión terminó");
    assert.doesNotMatch(await it.text(), /10,000/);
    await it.leaves();
  });
}
