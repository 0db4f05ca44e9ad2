// Scheduled transfers by keyboard alone: planned, listed, cancelled after a question; one that waits, with its risk.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OTHER, PAYEE, settled } from "./bank.mjs";
import { Person } from "./person.mjs";

const MS_IN_DAY = 86_400_000;

/** A date this many days from now in Mexico City. */
const dateIn = (days) => new Date(Date.now() - 6 * 3_600_000 + days * MS_IN_DAY).toISOString().slice(0, 10);

/** A date within a year that reads alike with the day or the month first: which one comes first depends on the browser. */
function ambiguousDate() {
  const [year, month] = dateIn(62).split("-");
  return `${year}-${month}-${month}`;
}

/** Types such a date into a field, which moves on by itself from day to month to year. */
async function fillsDate(it, name, date) {
  const [year, month, day] = date.split("-");
  await it.tabsTo("Date", name);
  await it.types(day + month + year);
}

/** A schedule of 5,000 pesos a week, from tomorrow. */
const planWeekly = (api, account, payee) =>
  api.call("POST", "/api/ledger/schedules", {
    fromAccountId: account.id,
    toBeneficiaryId: payee.id,
    amount: 5_000,
    recurrence: "weekly",
    firstDate: dateIn(1),
  });

export function schedules(stage) {
  test("a transfer every month: planned, listed, changed, cancelled after a question", async () => {
    const { bank } = stage;
    const { it, user } = await Person.signedIn(stage, { count: 3 });
    await it.opens("Programadas");
    await it.sees("No tienes transferencias programadas");
    // No step of sending now is in between.
    await it.activates("link", "Programar una transferencia");
    await it.arrives("Desde qué cuenta");
    await it.activates("button", "Continuar");
    await it.arrives("Cuánto");
    await it.fills("Monto", "150");
    await it.press("Enter");
    await it.arrives("Cuándo quieres que se envíe");
    assert.equal((await it.focused()).role, "heading");
    // Without a date: the fault comes first, with a link to its field.
    await it.activates("button", "Programar transferencia");
    assert.equal((await it.focused()).name, "Hay algo que corregir");
    await it.sees("Elige una fecha.", ".summary");
    await it.picks("Cada mes");
    const date = ambiguousDate();
    await fillsDate(it, "Fecha de envío", date);
    await it.tabsTo("Date", "Fecha del último envío");
    await it.sees(/Primeros envíos: \d+ \S+( \d+)?, /);
    await it.activates("button", "Programar transferencia");
    await it.arrives("Transferencias programadas");
    await it.sees(/Programaste una transferencia a Luis Pérez \(mi hermano\) cada mes, desde el /);
    await it.sees(/El día \d+ de cada mes/);
    await it.sees("Próximo envío");
    const api = await bank.as(user);
    const [made] = await api.call("GET", "/api/ledger/schedules");
    assert.deepEqual(
      [made.amount, made.recurrence, made.firstDate, made.nextDate, made.status],
      [150, "monthly", date, date, "active"],
    );

    // Changed: everything is there already, and the new one takes the place of the old one.
    await it.activates("button", "Cambiar esta transferencia programada a Luis Pérez");
    await it.arrives("Cambiar la transferencia programada");
    await it.fills("Monto", "175");
    await it.press("Enter");
    await it.arrives("Cuándo quieres que se envíe");
    await it.sees(/sustituye lo que tienes programado: \$150\.00/);
    await it.activates("button", "Guardar los cambios");
    await it.arrives("Transferencias programadas");
    const [changed, old, ...others] = await api.call("GET", "/api/ledger/schedules");
    assert.deepEqual(
      [changed.amount, changed.recurrence, changed.firstDate, changed.status, old.id, old.status, others],
      [175, "monthly", date, "active", made.id, "cancelled", []],
    );

    // No is as easy as yes, and Escape is no.
    await it.activates("button", "Cancelar esta transferencia programada a Luis Pérez");
    await it.press("Escape");
    await it.sees("Próximo envío");
    await it.activates("button", "Cancelar esta transferencia programada a Luis Pérez");
    await it.activates("button", "Sí, cancelarla");
    await it.sees("Cancelaste la transferencia programada a Luis Pérez");
    await it.sees("Cancelada: ya no se envía.");
    assert.equal((await api.call("GET", `/api/ledger/schedules/${changed.id}`)).status, "cancelled");
    await it.leaves();
  });

  test("an answer lost after the schedule was made: trying again after a reload makes no second one", async (t) => {
    const { bank, line } = stage;
    t.after(() => line.restore());
    const { it, user } = await Person.signedIn(stage, { count: 3 });
    await it.reviews({ payee: "Luis Pérez", amount: "150", isForLater: true });
    const date = ambiguousDate();
    const plans = async () => {
      await it.arrives("Cuándo quieres que se envíe");
      await it.picks("Cada mes");
      await fillsDate(it, "Fecha de envío", date);
      await it.activates("button", "Programar transferencia");
    };
    line.loseAnswers("POST", "/api/ledger/schedules");
    await plans();
    await it.sees("Se perdió la conexión con el banco");
    line.restore();
    await it.page.reload();
    await plans();
    await it.arrives("Transferencias programadas");
    const made = await (await bank.as(user)).call("GET", "/api/ledger/schedules");
    assert.equal(made.length, 1);
    await it.leaves();
  });

  test("scheduling meets the question and the warning of sending now", async () => {
    const { it, api } = await Person.signedIn(stage, { count: 3, payees: [PAYEE, OTHER] });
    const made = () => api.call("GET", "/api/ledger/schedules");
    await it.reviews({ payee: OTHER.name, amount: "6,000", isForLater: true });
    assert.equal(await it.page.$("main input[type=date]"), null);
    await it.answers("Le pago a alguien que conozco");
    await fillsDate(it, "Fecha de envío", ambiguousDate());
    await it.activates("button", "Programar transferencia");
    assert.match(await it.text(".summary"), /marca la casilla/);
    // Without an answer there are no dates.
    await it.activates("button", "Cambiar la respuesta");
    assert.equal(await it.page.$("main input[type=date]"), null);
    await it.answers("Es una inversión");
    await it.sees("La pausa terminó");
    assert.deepEqual(await made(), []);
    await fillsDate(it, "Fecha de envío", ambiguousDate());
    await it.tabsTo("checkbox", "Entiendo");
    await it.press("Space");
    await it.activates("button", "Programar transferencia");
    await it.arrives("Transferencias programadas");
    assert.equal((await made()).length, 1);
    await it.leaves();
  });

  test("one that waits says why, and is sent or done without", async () => {
    const { bank, browser, line } = stage;
    const { api, user, account, payee } = await settled(bank);
    const made = await planWeekly(api, account, payee);
    const it = await Person.at(browser, line.url);
    // It is not due before tomorrow, so what the bank will say then is put into its answers.
    const waiting = { ...made, waitingUntil: new Date(Date.now() + 2 * MS_IN_DAY).toISOString() };
    const lacking = { date: dateIn(0), outcome: "refused", problem: "insufficient-funds" };
    const refused = { ...made, id: account.id, amount: 800, occurrences: [lacking] };
    const old = { ...refused, id: payee.id, amount: 700, occurrences: [{ ...lacking, date: dateIn(-4) }] };
    const answered = [];
    await it.page.setRequestInterception(true);
    it.page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      const json = (status, body) =>
        request.respond({ status, contentType: "application/json", body: JSON.stringify(body) });
      if (pathname === "/api/ledger/schedules") json(200, [waiting, refused, old]);
      else if (pathname === `/api/ledger/schedules/${made.id}`) json(200, waiting);
      else if (pathname.startsWith(`/api/ledger/schedules/${made.id}/`)) {
        answered.push([pathname.split("/").at(-1), JSON.parse(request.postData())]);
        json(200, waiting);
      } else request.continue();
    });
    await it.signsIn(user);
    // The home says so first, and what was not sent in the last days.
    await it.sees("Tu transferencia de $5,000.00 MXN a Luis Pérez espera tu confirmación");
    await it.sees(/No se envió tu transferencia de \$800\.00.*Tu cuenta no tenía saldo suficiente/);
    assert.ok(!(await it.page.$eval("body", (body) => body.innerText)).includes("$700.00"));
    await it.opens("Programadas");
    await it.sees("Falta tu confirmación");
    await it.activates("link", "Revisar y decidir");
    await it.arrives("Enviamos esta transferencia programada");
    await it.sees("Revisa con calma: hay algo poco común");
    await it.sees("ninguna transferencia a la cuenta que guardaste para Luis Pérez");
    // Not without the acknowledgment, which is not ticked in advance.
    await it.activates("button", "Enviar $5,000.00");
    assert.equal((await it.focused()).name, "Hay algo que corregir");
    assert.deepEqual(answered, []);
    await it.activates("button", "No enviarla esta vez");
    await it.arrives("Transferencias programadas");
    assert.deepEqual(answered, [["skip", { date: made.firstDate }]]);
    await it.leaves();
  });

  test("slow schedules delay no balance, and their news move nothing", async () => {
    const { bank, browser, line } = stage;
    const { api, user, account, payee } = await settled(bank);
    const made = await planWeekly(api, account, payee);
    const it = await Person.at(browser, line.url);
    const waiting = { ...made, waitingUntil: new Date(Date.now() + 2 * MS_IN_DAY).toISOString() };
    const held = [];
    await it.page.setRequestInterception(true);
    it.page.on("request", (request) => {
      if (new URL(request.url()).pathname === "/api/ledger/schedules") held.push(request);
      else request.continue();
    });
    await it.signsIn(user);
    await it.sees("$10,000.00", ".total");
    await it.sees("Depósito de apertura", ".movements");
    const top = () => it.page.$eval(".total", (total) => total.getBoundingClientRect().top);
    const before = await top();
    for (const request of held.splice(0))
      await request.respond({ status: 200, contentType: "application/json", body: JSON.stringify([waiting]) });
    await it.sees("Tu transferencia de $5,000.00 MXN a Luis Pérez espera tu confirmación");
    assert.equal(await top(), before);
    await it.leaves();
  });
}
