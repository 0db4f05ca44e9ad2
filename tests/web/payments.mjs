// Concept and reference from the amount to the statement, and what a payee is called, by keyboard alone.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OTHER, PAYEE } from "./bank.mjs";
import { isSound } from "./looks.mjs";
import { Person } from "./person.mjs";

const CONCEPT = "Renta de noviembre, año 2026";

const signedIn = (stage, { language, ...more } = {}) => Person.signedIn(stage, more, { language });

/** Goes to the amount of a transfer. */
async function reachesAmount(it, payee) {
  await it.opens(/^Transferir$/);
  await it.arrives("Desde qué cuenta");
  await it.picks("Cuenta de cheques");
  await it.picks(payee);
  await it.activates("button", "Continuar");
  await it.arrives("Cuánto");
}

const value = (it, name) => it.page.$eval(`[name=${name}]`, (input) => input.value);

export function payments(stage) {
  test("concept and reference are checked, kept, reviewed, sent, and shown on receipt and statement", async () => {
    const { it, api } = await signedIn(stage, { count: 3 });
    await reachesAmount(it, PAYEE.name);
    await it.fills("Monto", "120");
    await it.fills("Concepto de pago (opcional)", "x".repeat(41));
    await it.fills("Referencia numérica (opcional)", "12345678");
    await it.press("Enter");
    const summary = await it.text(".summary");
    assert.match(summary, /El concepto tiene 41 caracteres; el máximo es 40/);
    assert.match(summary, /La referencia debe tener de 1 a 7 dígitos/);
    await it.activates("link", "El concepto tiene");
    assert.equal((await it.focused()).role, "textbox");
    await it.fills("Referencia", "000");
    await it.press("Enter");
    assert.match(await it.text(".summary"), /no puede ser solo ceros/);

    // What is only typed outlives a reload.
    await it.fills("Concepto de pago", ` ${CONCEPT} `);
    await it.fills("Referencia numérica", "0202611");
    await it.page.reload();
    await it.arrives("Cuánto");
    assert.deepEqual([await value(it, "concept"), await value(it, "numericReference")], [CONCEPT, "0202611"]);
    await it.activates("button", "Continuar");
    await it.arrives("Revisa antes");
    const isReviewed = async () => {
      for (const said of [CONCEPT, "Referencia numérica 202611"]) await it.sees(said, ".review");
    };
    await isReviewed();
    // The key is bound to what is sent, so both outlive a reload together.
    await it.page.reload();
    await it.arrives("Revisa antes");
    await isReviewed();
    await it.activates("link", "Cambiar el monto o el concepto");
    await it.arrives("Cuánto");
    assert.equal(await value(it, "concept"), CONCEPT);
    await it.activates("button", "Continuar");
    await it.arrives("Revisa antes");
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    const [{ concept, numericReference }] = await api.transfers();
    assert.deepEqual([concept, numericReference], [CONCEPT, 202611]);
    for (const said of [CONCEPT, "202611"]) await it.sees(said, ".receipt");
    await isSound(it);
    await it.opens("Movimientos");
    await it.sees(`${CONCEPT} · Referencia 202611`, ".movement");
    // The next transfer starts without them.
    await reachesAmount(it, PAYEE.name);
    assert.deepEqual([await value(it, "concept"), await value(it, "numericReference")], ["", ""]);
    await it.leaves();
  });

  test("what one payee was sent is not suggested for another", async () => {
    const { it } = await signedIn(stage, { payees: [PAYEE, OTHER] });
    await reachesAmount(it, PAYEE.name);
    await it.fills("Monto", "10");
    await it.fills("Concepto", "Para Luis");
    await it.activates("button", "Continuar");
    await it.arrives("Revisa antes");
    await it.activates("link", "Cambiar cuenta o beneficiario");
    await it.arrives("Desde qué cuenta");
    await it.picks(OTHER.name);
    await it.activates("button", "Continuar");
    await it.arrives("Cuánto");
    assert.equal(await value(it, "concept"), "");
    await it.leaves();
  });

  test("a concept that the bank refuses is corrected where it was written", async (t) => {
    const { line } = stage;
    t.after(() => line.restore());
    const { it } = await signedIn(stage, { count: 3 });
    await reachesAmount(it, PAYEE.name);
    await it.fills("Monto", "10");
    await it.fills("Concepto", CONCEPT);
    await it.activates("button", "Continuar");
    await it.arrives("Revisa antes");
    const errors = [{ field: "concept", code: "invalid-characters", detail: "must not contain the character" }];
    const body = JSON.stringify({ code: "validation-failed", errors });
    const headers = { "content-type": "application/problem+json" };
    line.answer("POST", "/api/ledger/transactions", { status: 400, headers, body });
    await it.sendsWhateverTheRisk();
    await it.arrives("Cuánto");
    await it.sees("Tiene un carácter que no se puede usar", ".summary");
    assert.equal(await value(it, "concept"), CONCEPT);
    line.restore();
    await it.leaves();
  });

  test("where there are no limits, it is said where the amount is typed", async () => {
    const { it } = await signedIn(stage);
    await reachesAmount(it, PAYEE.name);
    await it.sees("No hay límite diario: puedes enviar hasta tu saldo.");
    await it.leaves();
  });

  test("limits are said where the amount is typed, a wait where the payee is saved, and the bank knows itself", async (t) => {
    t.after(() => stage.line.restore());
    const limits = { perTransfer: 8_000, perDay: 20_000, sentToday: 12_500, leftToday: 7_500 };
    const body = JSON.stringify({ ...limits, coolingSeconds: 1_800, riskEnforced: false, clabeInstitution: "999" });
    const headers = { "content-type": "application/json" };
    stage.line.answer("GET", "/api/ledger/terms", { status: 200, headers, body });
    const { it } = await signedIn(stage);
    await reachesAmount(it, PAYEE.name);
    await it.sees("Puedes enviar hasta $8,000.00 MXN por transferencia.");
    await it.sees("Hoy todavía puedes enviar $7,500.00 MXN, de $20,000.00 MXN al día.");
    for (const [amount, said] of [
      ["9,000", "Tu límite por transferencia es de $8,000.00 MXN."],
      ["7,600", "Hoy todavía puedes enviar $7,500.00 MXN. Escribe"],
    ]) {
      await it.fills("Monto", amount);
      await it.press("Enter");
      await it.sees(said, ".summary");
    }
    await it.opens("Beneficiarios");
    await it.activates("link", "Agregar beneficiario");
    await it.arrives("Agregar beneficiario");
    await it.fills("Nombre completo", "Rosa Martínez");
    await it.fills("CLABE", "999180000000000002");
    await it.sees("CLABE de Caudal.");
    await it.fills("CLABE", OTHER.accountNumber);
    await it.activates("button", "Guardar");
    await it.sees("Guardamos a Rosa Martínez. Podrás transferirle en 30 minutos.");
    await it.leaves();
  });

  test("the receipt has what Banxico's CEP asks for, copies each of it, and lasts", async (t) => {
    const { it, api, user, payee } = await signedIn(stage);
    await it.context.overridePermissions(it.url, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
    await it.reviews({ payee: PAYEE.name, amount: "1,234.50" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    const [sent] = await api.transfers();
    const { speiReference, createdAt } = sent;
    const written = new Intl.DateTimeFormat("es-MX", {
      timeZone: "America/Mexico_City",
      dateStyle: "short",
    }).formatToParts(new Date(createdAt));
    const part = (type) => written.find((it) => it.type === type).value.padStart(2, "0");
    const year = new Date(createdAt).getUTCFullYear();
    await it.sees("Para consultar el CEP en Banxico", ".cep");
    for (const [term, copied] of [
      ["Fecha del pago", new RegExp(`^${part("day")}/${part("month")}/${year}$`)],
      ["Clave de rastreo", new RegExp(`^${speiReference}$`)],
      ["Institución emisora", /^STP$/],
      ["Institución receptora", /^BBVA$/],
      ["Cuenta beneficiaria", /^012180004643051249$/],
      ["Monto", /^1234\.50$/],
    ]) {
      await it.activates("button", `Copiar ${term}`);
      await it.sees("Copiado", ".cep");
      assert.match(await it.page.evaluate(() => navigator.clipboard.readText()), copied);
    }
    const link = await it.page.$eval(".cep a", ({ href, rel }) => [href, rel]);
    assert.deepEqual(link, ["https://www.banxico.org.mx/cep/", "noopener"]);
    // The receipt, shared or printed, has the sender's name, and not what is left to them.
    const balance = "$8,765.50";
    assert.ok(!(await it.text()).includes(balance));
    await it.page.evaluate(() => {
      navigator.share = async ({ text }) => Object.assign(window, { handedOn: text });
    });
    await it.activates("button", "Compartir");
    const handedOn = await it.page.evaluate(() => window.handedOn);
    for (const said of [user, PAYEE.name, "$1,234.50", "terminación 1249", speiReference])
      assert.ok(handedOn.includes(said), handedOn);
    assert.ok(!handedOn.includes(balance), handedOn);
    await it.page.emulateMediaType("print");
    const paper = await it.text("body");
    assert.ok(!paper.includes(balance), paper);
    for (const said of [
      `De ${user}`,
      "Entorno de pruebas",
      "Institución emisora STP",
      "Institución receptora BBVA",
      "Fecha del pago",
      speiReference,
    ]) {
      assert.ok(paper.includes(said), `${said} in ${paper}`);
    }
    assert.doesNotMatch(paper, /Copiar|Copiado/);

    // The payee is deleted: the transfer itself knows where it went.
    await api.deletePayee(payee.id);
    const whole = { ...sent, beneficiaryBank: PAYEE.bankName, beneficiaryAccountNumber: PAYEE.accountNumber };
    t.after(() => stage.line.restore());
    const body = JSON.stringify(whole);
    const headers = { "content-type": "application/json" };
    stage.line.answer("GET", `/api/ledger/transactions/${sent.id}`, { status: 200, headers, body });
    await it.page.emulateMediaType("screen");
    await it.page.reload();
    await it.arrives("Transferencia enviada");
    await it.sees(/Banco BBVA CLABE .*4 6 4 3/, ".receipt");
    await it.sees("Institución receptora BBVA", ".cep");
    await it.leaves();
  });

  test("a browser that does not copy selects the text instead", async () => {
    const { it, api } = await signedIn(stage);
    // A small first payment is met calmly.
    await it.reviews({ payee: PAYEE.name, amount: "10" });
    assert.match(await it.text(".risk"), /Si le compras a Luis Pérez algo/);
    assert.equal(await it.page.$("main .notice:is(.warn, .bad), [name=acknowledged]"), null);
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    await it.page.evaluate(() =>
      Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error("no")) } }),
    );
    await it.activates("button", "Copiar Clave de rastreo");
    await it.sees("el texto quedó seleccionado", ".cep");
    const [{ speiReference }] = await api.transfers();
    assert.equal(await it.page.evaluate(() => getSelection().toString().trim()), speiReference);
    await it.leaves();
  });

  test("a payee is renamed and becomes a favourite, which comes first; its number cannot be edited", async () => {
    const { it, api, payees } = await signedIn(stage, { payees: [PAYEE, OTHER] });
    await it.opens("Beneficiarios");
    await it.activates("link", `Editar a ${OTHER.name}`);
    await it.arrives("Editar beneficiario");
    await it.sees("002 010 07777777777 1", "main");
    assert.equal(await it.page.$("[name=accountNumber]"), null);
    await it.fills("Nombre completo", " ");
    await it.press("Enter");
    await it.sees("Escribe el nombre completo", ".summary");
    await it.fills("Nombre completo", "María Rodríguez Paz");
    await it.fills("Alias", "la renta");
    await it.tabsTo("checkbox", "Marcar como favorito");
    await it.press("Space");
    await isSound(it);
    await it.activates("button", "Guardar cambios");
    await it.arrives("Beneficiarios");
    await it.sees("Guardamos los cambios de María Rodríguez Paz (la renta).");
    const names = () => it.page.$$eval(".rows h2", (all) => all.map((it) => it.innerText.replace(/\s+/g, " ").trim()));
    const [first, second] = await names();
    assert.match(first, /^María Rodríguez Paz.*favorito.*la renta$/);
    assert.match(second, /^Luis Pérez mi hermano$/);
    assert.equal((await api.payees())[0].id, payees[1].id);
    await isSound(it);
    await it.opens(/^Transferir$/);
    await it.arrives("Desde qué cuenta");
    const offered = await it.page.$$eval("[name^=toBeneficiaryId]", (all) => all.map((it) => it.value));
    assert.deepEqual(offered, [payees[1].id, payees[0].id]);
    await it.leaves();
  });

  test("only what was edited is sent, so that a change in another window survives", async () => {
    const { it, api, payee } = await signedIn(stage);
    await it.opens("Beneficiarios");
    await it.activates("link", "Editar a Luis");
    await it.arrives("Editar beneficiario");
    await api.call("PATCH", `/api/ledger/beneficiaries/${payee.id}`, { isFavorite: true, alias: "Lucho" });
    await it.fills("Nombre completo", "Luis Pérez Soto");
    await it.press("Enter");
    await it.arrives("Beneficiarios");
    const [{ name, alias, isFavorite }] = await api.payees();
    assert.deepEqual([name, alias, isFavorite], ["Luis Pérez Soto", "Lucho", true]);
    // One that was deleted meanwhile.
    await it.activates("link", "Editar a Luis");
    await it.arrives("Editar beneficiario");
    await api.deletePayee(payee.id);
    await it.fills("Alias", "nadie");
    await it.press("Enter");
    await it.sees("Esto ya no existe", "main");
    await it.leaves();
  });

  test("the same in English", async () => {
    const { it } = await signedIn(stage, { language: "en", count: 3 });
    await it.opens("Payees");
    await it.activates("link", "Edit Luis");
    await it.arrives("Edit a payee");
    await it.tabsTo("checkbox", "Favourite");
    await it.press("Space");
    await it.activates("button", "Save changes");
    await it.arrives("Payees");
    await it.sees(/The changes to Luis Pérez \(mi hermano\) have been saved/);
    await it.opens(/^Transfer$/);
    await it.picks("Checking");
    await it.picks(PAYEE.name);
    await it.activates("button", "Continue");
    await it.fills("Amount", "10");
    await it.fills("Payment description (optional)", "x".repeat(41));
    await it.press("Enter");
    await it.sees("The description has 41 characters; the limit is 40.", ".summary");
    await it.fills("Payment description", "Rent");
    await it.activates("button", "Continue");
    await it.sees("Payment description Rent", ".review");
    await it.leaves();
  });
}
