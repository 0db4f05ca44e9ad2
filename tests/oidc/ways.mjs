// In and out: with PKCE, back to the screen that was asked for, and not with somebody else's code.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Customer, newUser, withAccount } from "./stage.mjs";

export function ways(stage) {
  test("there and back: PKCE, the screen that was asked for, and no code left in the address", async () => {
    const it = await Customer.at(stage, { hash: "/#/history" });
    const sent = [];
    it.page.on("request", (request) => sent.push(request));
    assert.equal(await it.page.$("[name=token]"), null);
    await it.signsInAs(await withAccount(stage));
    await it.arrives("Movimientos");
    assert.equal(await it.address(), `${stage.service.ledger}/#/history`);
    await it.opens("Mis cuentas");
    await it.sees("Cuenta de cheques");

    const [exchange, ...others] = sent.filter((it) => it.url().endsWith("/token") && it.method() === "POST");
    assert.deepEqual(others, []);
    const asked = new URL(sent.find((it) => it.url().startsWith(`${stage.issuer.issuer}/auth?`)).url()).searchParams;
    const given = new URLSearchParams(exchange.postData());
    const verifier = given.get("code_verifier");
    assert.equal(verifier.length, 43);
    assert.equal(asked.get("code_challenge_method"), "S256");
    assert.equal(asked.get("code_challenge"), createHash("sha256").update(verifier).digest("base64url"));
    assert.equal(asked.get("nonce").length, 43);
    assert.equal(asked.get("resource"), stage.issuer.audience);
    assert.equal(given.get("resource"), stage.issuer.audience);
    assert.equal(given.has("client_secret"), false);
    for (const key of ["caudal.attempt", "caudal.work"]) assert.equal(await it.stored(key), null);

    for (let times = 0; times < 3; times += 1) {
      await it.page.reload();
      await it.arrives("Mis cuentas");
      await it.sees("Cuenta de cheques");
    }
    assert.notEqual(JSON.parse(await it.stored("caudal.grant")).refreshToken, null);
    await it.leaves();
  });

  test("a token that the bank no longer accepts is renewed once for all requests, which are repeated", async () => {
    const it = await Customer.at(stage);
    await it.signsInAs(await withAccount(stage));
    const exchanges = async () => (await stage.issuer.tell("/seen"))["/token"];
    const before = await exchanges();
    // As after an emergency rotation of the provider's keys.
    await it.page.evaluate(() => {
      const [head, body] = sessionStorage.getItem("caudal.token").split(".");
      sessionStorage.setItem("caudal.token", `${head}.${body}.AAAA`);
    });
    // Screens that are left at once: the requests of all of them are under way together.
    await it.page.evaluate(async () => {
      for (const path of [
        "/transfer/parties",
        "/beneficiaries",
        "/accounts",
        "/history",
        "/transfer/parties",
        "/accounts",
      ]) {
        location.hash = path;
        await new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
      }
    });
    await it.arrives("Mis cuentas");
    await it.sees("$0.00", "main");
    assert.equal(await exchanges(), before + 1);

    // A bank that accepts none of the provider's tokens is not asked for ever.
    await it.page.setRequestInterception(true);
    it.page.on("request", (request) =>
      request.url().includes("/api/") ? request.respond({ status: 401 }) : request.continue(),
    );
    await it.opens("Movimientos");
    await it.arrives("Entrar");
    await it.sees("Tu sesión terminó");
    assert.ok((await exchanges()) <= before + 2);
    await it.leaves();
  });

  test("a person whom the bank does not serve, and a bank that does not say how to sign in", async () => {
    const it = await Customer.at(stage);
    let answer = { ...(await (await fetch(`${stage.service.ledger}/sign-in`)).json()), scope: "openid" };
    await it.page.setRequestInterception(true);
    it.page.on("request", (request) => {
      if (!request.url().endsWith("/sign-in") || answer === undefined) request.continue();
      else if (answer === null) request.respond({ status: 500 });
      else request.respond({ status: 200, contentType: "application/json", body: JSON.stringify(answer) });
    });
    await it.page.reload();
    await it.settles();
    await it.departs();
    await it.types(newUser());
    await it.press("Enter");
    await it.sees("aún no tienes activo este servicio");
    assert.equal(await it.page.evaluate(() => sessionStorage.length), 0);

    answer = null;
    await it.page.reload();
    await it.sees("Se perdió la conexión con el banco");
    answer = undefined;
    await it.activates("button", "Intentar de nuevo");
    await it.sees("Con tu usuario del banco");
    assert.deepEqual(await it.focused(), { role: "heading", name: "Entrar" });
    await it.leaves();
  });

  test("signing out ends the session here and at the provider; declining to sign in is no error", async () => {
    const it = await Customer.at(stage);
    await it.signsInAs(await withAccount(stage));
    // Gone with the page, which is loaded again on the way back.
    await it.page.evaluate(() => {
      globalThis.isBefore = true;
    });
    await it.activates("button", "Salir");
    await it.page.waitForFunction(
      (bank) => location.origin === bank && !globalThis.isBefore && sessionStorage.length === 0,
      {},
      stage.service.ledger,
    );
    await it.sees("Cerraste tu sesión");
    assert.equal(await it.address(), `${stage.service.ledger}/`);
    // The provider asks who it is.
    await it.departs();
    await it.activates("link", "Cancelar");
    await it.arrives("Entrar");
    await it.sees("Se canceló el acceso");
    assert.equal(await it.address(), `${stage.service.ledger}/`);
    await it.leaves();
  });

  test("another's code is refused and not even tried, whether or not somebody is signed in", async () => {
    const it = await Customer.at(stage);
    const { "/token": before } = await stage.issuer.tell("/seen");
    await it.page.goto(`${stage.service.ledger}/?code=stolen&state=guessed&iss=${stage.issuer.issuer}#/history`);
    await it.sees("Ese intento de entrar ya no es válido");
    assert.equal(await it.address(), `${stage.service.ledger}/#/history`);
    await it.signsInAs(await withAccount(stage));
    const grant = await it.stored("caudal.grant");
    await it.page.goto(`${stage.service.ledger}/?code=stolen&state=guessed`);
    await it.arrives("Mis cuentas");
    assert.equal(await it.address(), `${stage.service.ledger}/`);
    assert.equal(await it.stored("caudal.grant"), grant);
    // Of the person's own sign-in: one to see whether the provider answers, one with the code.
    assert.equal((await stage.issuer.tell("/seen"))["/token"], before + 2);
    await it.leaves();
  });

  test("a code that answers the right attempt from another issuer is refused", async () => {
    const it = await Customer.at(stage);
    await it.departs();
    const { state } = JSON.parse(await attemptOf(it));
    await it.page.goto(`${stage.service.ledger}/?code=any&state=${state}&iss=http://127.0.0.1:1`);
    await it.sees("Ese intento de entrar ya no es válido");
    await it.leaves();
  });

  /** What the page keeps while the person is away, read from another page of the bank in the same tab. */
  async function attemptOf(it) {
    await it.page.goto(`${stage.service.ledger}/bank/logo.svg`);
    return it.stored("caudal.attempt");
  }
}
