// What a tab keeps: the transfer being prepared outlives a reload, for the same person only; signing out reaches all tabs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OTHER, PAYEE, settled } from "./bank.mjs";
import { Person } from "./person.mjs";

export function keeping(stage) {
  const signedIn = (more) => Person.signedIn(stage, more);

  const storage = (it) =>
    it.page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage, "caudal.token": "" }));

  test("reloading amount and review keeps the place, the choices and the key", async () => {
    const { it, api } = await signedIn({ payees: [PAYEE, OTHER], count: 3 });
    await it.reviews({ payee: OTHER.name, amount: "123.45" });
    const key = () => it.page.evaluate(() => JSON.parse(sessionStorage.getItem("caudal.draft")).key);
    await it.page.reload();
    await it.arrives("Revisa antes");
    for (const said of ["$123.45", OTHER.name, "Banamex", "002"]) await it.sees(said, "main");
    // Ids, the amount and the key: nobody else who opens the browser's storage learns who is paid.
    assert.doesNotMatch(await storage(it), /María|0020100|Luis|0121800/);
    await it.page.goBack();
    await it.arrives("Cuánto");
    await it.page.reload();
    await it.arrives("Cuánto");
    const amount = () => it.page.$eval("[name=amount]", (input) => input.value);
    assert.equal(await amount(), "123.45");
    // Also what is only typed.
    await it.fills("Monto", "1,00");
    await it.page.reload();
    await it.arrives("Cuánto");
    assert.equal(await amount(), "1,00");
    await it.fills("Monto", "99.50");
    await it.activates("button", "Continuar");
    await it.arrives("Revisa antes");
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    assert.equal(await key(), null);
    const [made, ...earlier] = await api.transfers();
    assert.deepEqual([made.amount, earlier.length], [99.5, 3]);
    await it.leaves();
  });

  test("the draft is for the person who made it, and gone at sign-out", async () => {
    const { it } = await signedIn();
    await it.reviews({ payee: PAYEE.name, amount: "50" });
    await it.activates("button", "Salir");
    await it.arrives("Entrar");
    assert.equal(await it.page.evaluate(() => sessionStorage.getItem("caudal.draft")), null);
    const { user } = await settled(stage.bank);
    await it.signsIn(user);
    await it.arrives("Desde qué cuenta");
    await it.leaves();

    const left = await signedIn();
    await left.it.reviews({ payee: PAYEE.name, amount: "50" });
    // The session ends and the tab is reloaded; somebody else signs in.
    await left.it.page.evaluate(() => sessionStorage.setItem("caudal.token", "a.b.c"));
    await left.it.page.reload();
    await left.it.arrives("Entrar");
    await left.it.signsIn(user);
    await left.it.arrives("Desde qué cuenta");
    assert.doesNotMatch(await storage(left.it), /"centavos\\":5000/);
    await left.it.leaves();
  });

  test("a payee that was deleted before a reload: choose another one", async () => {
    const { it, api, payees } = await signedIn({ payees: [PAYEE, OTHER] });
    await it.reviews({ payee: PAYEE.name, amount: "50" });
    await api.deletePayee(payees[0].id);
    await it.page.reload();
    await it.arrives("Desde qué cuenta");
    await it.sees("Este beneficiario ya no está en tu lista", ".summary");
    await it.leaves();
  });

  test("a receipt has its own address: it reloads, opens in another tab, and belongs to one person", async () => {
    const { it, api } = await signedIn();
    await it.reviews({ payee: PAYEE.name, amount: "75.25" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    const [{ id, speiReference }] = await api.transfers();
    const hash = await it.page.evaluate(() => location.hash);
    assert.equal(hash, `#/transfer/receipt?id=${id}`);
    await it.page.reload();
    await it.arrives("Transferencia enviada");
    assert.match(await it.title(), /^Transferencia enviada – Paso 4 de 4/);
    for (const said of ["$75.25", speiReference, "Luis Pérez (mi hermano)"]) await it.sees(said, "main");
    // From the statement it is no step of anything.
    await it.opens("Movimientos");
    await it.activates("link", PAYEE.name);
    await it.arrives("Transferencia enviada");
    assert.doesNotMatch(await it.title(), /Paso/);
    await it.page.goBack();
    await it.arrives("Movimientos");

    const other = await Person.at(stage.browser, `${stage.line.url}/${hash}`);
    await other.signsIn((await settled(stage.bank)).user);
    await other.sees("No encontramos esta transferencia", "main");
    await other.leaves();
    await it.leaves();
  });

  test("on paper a receipt is the bank's name, the outcome and the facts", async () => {
    const { it } = await signedIn();
    await it.reviews({ payee: PAYEE.name, amount: "20" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    await it.tabsTo("button", "Imprimir o guardar en PDF");
    await it.page.emulateMediaType("print");
    const seen = await it.text("body");
    for (const said of ["Caudal", "Transferencia enviada", "$20.00", "Clave de rastreo", "Banxico"])
      assert.ok(seen.includes(said), `${said} in ${seen}`);
    assert.doesNotMatch(seen, /Imprimir|Copiar|Salir|Movimientos|Hacer otra|Paso/);
    // Black on white, whatever the theme.
    await it.page.evaluate(() => {
      document.documentElement.dataset.theme = "large-text-high-contrast";
    });
    await it.cdp.send("Emulation.setEmulatedMedia", {
      media: "print",
      features: [{ name: "prefers-color-scheme", value: "dark" }],
    });
    const colours = await it.page.$eval(".notice", (notice) => {
      const { color, backgroundColor } = getComputedStyle(notice);
      return { color, backgroundColor };
    });
    assert.deepEqual(colours, { color: "rgb(0, 0, 0)", backgroundColor: "rgba(0, 0, 0, 0)" });
    await it.leaves();
  });

  test("signing out reaches every tab of the same person, and no other person's", async () => {
    const { it, user } = await signedIn();
    const second = await it.inAnotherTab();
    await second.signsIn(user);
    await second.sees("$10,000.00");
    const third = await it.inAnotherTab();
    await third.signsIn((await settled(stage.bank)).user);
    await it.page.bringToFront();
    await it.activates("button", "Salir");
    await it.arrives("Entrar");
    await second.arrives("Entrar");
    await second.sees("Cerraste tu sesión en otra pestaña");
    assert.doesNotMatch(await second.text("body"), /10,000/);
    assert.equal(await second.page.evaluate(() => sessionStorage.getItem("caudal.token")), null);
    assert.match(await third.heading(), /Mis cuentas/);
    // Signing in again works in both, and a tab that slept through it all is asleep no longer.
    await second.page.bringToFront();
    await second.signsIn(user);
    await second.arrives("Mis cuentas");
    await it.page.bringToFront();
    await it.signsIn(user);
    assert.match(await second.heading(), /Mis cuentas/);
    await it.leaves();
  });

  test("a tab that is restored after the person signed out elsewhere stays signed out", async () => {
    const { it, user } = await signedIn();
    const second = await it.inAnotherTab();
    await second.signsIn(user);
    const kept = await second.page.evaluate(() => ({ ...sessionStorage }));
    await it.page.bringToFront();
    await it.activates("button", "Salir");
    await second.arrives("Entrar");
    await second.page.evaluate(
      (all) => Object.entries(all).forEach(([key, value]) => sessionStorage.setItem(key, value)),
      kept,
    );
    // Chromium draws no frames in the background, and a wait looks at each frame.
    await second.page.bringToFront();
    await second.page.reload();
    await second.arrives("Entrar");
    await second.sees("Cerraste tu sesión en otra pestaña");
    await it.leaves();
  });
}
