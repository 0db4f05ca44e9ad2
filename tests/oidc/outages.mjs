// The provider rotates its keys, falls silent and ends sessions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Customer, call, newUser, withAccount } from "./stage.mjs";

/** Lifetimes of access tokens, in seconds: of a session that lasts, and of one that is renewed at once. */
const LONG = 300;
const SHORT = 4;
/** Enough for a failed renewal, a second attempt after five seconds, and a machine that is busy. */
const MEDIUM = 16;
/** While keys are rotated, and for how long each step lasts. */
const REQUESTS_PER_SECOND = 20;
const STEP_MS = 1_000;

export function outages(stage) {
  const lifetimes = (access) => stage.issuer.tell("/lifetimes", { access });
  const fault = (kind) => stage.issuer.tell("/fault", { kind });

  test("keys are rotated under load, and no request fails", async (t) => {
    await lifetimes(SHORT);
    const user = await withAccount(stage);
    const it = await Customer.at(stage);
    await it.signsInAs(user);
    const statuses = [];
    const pending = [];
    const ask = async () => statuses.push((await call(stage, user, "GET", "/api/ledger/accounts")).status);
    const load = setInterval(() => pending.push(ask()), 1_000 / REQUESTS_PER_SECOND);
    t.after(() => clearInterval(load));
    for (const step of ["publish", "sign", "retire"]) {
      await sleep(STEP_MS);
      await stage.issuer.tell("/keys", { step });
    }
    await it.renews();
    await it.opens("Movimientos");
    clearInterval(load);
    await Promise.all(pending);
    assert.ok(statuses.length >= 2 * REQUESTS_PER_SECOND, `${statuses.length} requests`);
    assert.deepEqual(new Set(statuses), new Set([200]));
    await it.leaves();
  });

  test("a provider that does not answer: the page goes on, says so and recovers; signing in says so too", async (t) => {
    t.after(() => fault("none"));
    const user = await withAccount(stage);
    const [it, other] = [await Customer.at(stage), await Customer.at(stage, { language: "en" })];
    await lifetimes(MEDIUM);
    await it.signsInAs(user);
    await fault("error");
    await it.sees("El servicio de acceso del banco no responde; lo seguimos intentando", "#warnings");
    await it.opens("Movimientos");
    await it.sees("Todavía no hay movimientos");
    await fault("none");
    await it.page.waitForFunction(() => document.getElementById("warnings").textContent === "");
    for (const kind of ["refused", "silent"]) {
      await fault(kind);
      await other.page.reload();
      await other.settles();
      await other.activates("button", "Sign in with my bank login");
      await other.sees("The bank’s sign-in service is not responding");
    }
    // A second attempt is let through, and by now it answers.
    await fault("none");
    await other.activates("button", "Try again");
    await other.arrives("Acceso de prueba");
    await Promise.all([it.leaves(), other.leaves()]);
  });

  test("the provider ends the session: what was typed awaits the same person, and nobody else", async () => {
    const user = await withAccount(stage);
    const it = await Customer.at(stage);
    const typed = () => it.page.$eval("[name=name]", (input) => input.value);
    const endSession = async () => {
      await stage.issuer.tell("/forget");
      await it.arrives("Entrar");
      await it.sees("Tu sesión terminó");
      assert.equal(await it.stored("caudal.grant"), null);
    };
    await lifetimes(SHORT);
    await it.signsInAs(user);
    await it.opens("Beneficiarios");
    await it.activates("link", "Agregar beneficiario");
    await it.fills("Nombre completo", "Rosa Martínez");
    await endSession();
    await it.signsInAs(user);
    await it.arrives("Agregar beneficiario");
    assert.equal(await typed(), "Rosa Martínez");
    await endSession();
    await lifetimes(LONG);
    await it.signsInAs(newUser());
    await it.arrives("Agregar beneficiario");
    assert.equal(await typed(), "");
    await it.leaves();
  });

  test("signing out while the provider is down says that only this page is signed out", async (t) => {
    t.after(() => fault("none"));
    const it = await Customer.at(stage);
    await it.signsInAs(await withAccount(stage));
    await fault("refused");
    await it.activates("button", "Salir");
    await it.sees("Cerraste tu sesión aquí, pero el servicio de acceso no respondió");
    assert.equal(await it.page.evaluate(() => sessionStorage.length), 0);
    await it.leaves();
  });
}
