// What the page says of a payee that may be wrong, wherever the money is about to go; and that none of it gets in the way.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OTHER, PAYEE } from "./bank.mjs";
import { shoot } from "./looks.mjs";
import { Person } from "./person.mjs";

/** A wrong check digit, and STP's code beside another bank's name. */
const DOUBTFUL = { name: "Renta Departamento", accountNumber: "646180110400000008", bankName: "Santander" };
const TWICE = { ...PAYEE, name: "Luis P. Gómez", alias: undefined };
/** Right in everything but its bank, which does not exist. */
const NOWHERE = "998180000000000003";

export function doubts(stage) {
  const signedIn = (more, looks) => Person.signedIn(stage, more, looks);

  const warnings = (it, selector) =>
    it.page.$$eval(`${selector} .notice.warn li`, (all) => all.map((item) => item.textContent));

  test("a payee's warnings are repeated at amount, at review and in the acknowledgment", async () => {
    const { it } = await signedIn({ payees: [PAYEE, TWICE, DOUBTFUL] });
    const said = [
      "La CLABE parece tener un dígito equivocado. Compárala con la que te dieron.",
      "La CLABE es de STP, pero como banco guardaste Santander.",
    ];
    await it.opens(/^Transferir$/);
    await it.picks(DOUBTFUL.name);
    await it.activates("button", "Continuar");
    await it.arrives("Cuánto");
    assert.deepEqual(await warnings(it, "main"), said);
    await it.fills("Monto", "600");
    await it.press("Enter");
    await it.arrives("Revisa antes");
    assert.deepEqual(await warnings(it, "main"), said);
    await it.answers("Le pago a alguien que conozco");
    await it.tabsTo("checkbox", "Entiendo");
    const { name } = await it.focused();
    for (const warning of said) assert.ok(name.includes(warning), name);
    await it.leaves();
  });

  test("a payee saved twice is doubtful at any risk: the question repeats it", async () => {
    const { it, api } = await signedIn({ payees: [PAYEE, TWICE], count: 1 });
    await it.reviews({ payee: PAYEE.name, amount: "100" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    await it.reviews({ payee: PAYEE.name, amount: "100" });
    // Nothing is in the colour of success.
    assert.equal(await it.page.$("main .notice.good"), null);
    await it.activates("button", /^Enviar/);
    await it.page.waitForSelector("dialog[open]");
    assert.deepEqual(await warnings(it, "dialog"), ["Guardaste este número más de una vez."]);
    await it.activates("button", /^No, revisar/);
    assert.equal((await api.transfers()).length, 2);
    await it.opens("Beneficiarios");
    await it.page.waitForSelector(".rows");
    assert.equal((await it.page.$$(".rows .derived.warn")).length, 2);
    await it.leaves();
  });

  test("a name that is not the holder's is doubted before saving, at amount, at review and in the acknowledgment", async () => {
    // Documented holders of the sandbox's other banks.
    const rosa = "723010123456789019";
    const { it, api } = await signedIn({ payees: [], count: 0 });
    const saves = async (name) => {
      await it.page.evaluate(() => {
        location.hash = "/beneficiaries/new";
      });
      await it.arrives("Agregar beneficiario");
      await it.fills("Nombre completo", name);
      await it.fills("CLABE", rosa);
      await it.activates("button", "Guardar");
    };
    await saves("Cuenta Segura");
    await it.page.waitForSelector("dialog[open]");
    assert.equal((await it.focused()).name, "El nombre no coincide con el de la cuenta");
    const doubted = await it.text("dialog");
    assert.match(doubted, /La cuenta no está a nombre de Cuenta Segura\./);
    assert.doesNotMatch(doubted, /Rosa|Martínez/);
    await shoot(it, "payee-check-differs");
    assert.equal(await it.page.$("dialog button.main"), null, "to go on does not stand out");
    await it.activates("button", "Corregir los datos");
    assert.equal((await api.payees()).length, 0);

    // Only part of it, then mistyped, then right: each says no more than it has to.
    await it.fills("Nombre completo", "Rosa");
    await it.activates("button", "Guardar");
    await it.page.waitForSelector("dialog[open]");
    assert.match(await it.text("dialog"), /Rosa es solo una parte del nombre del titular\./);
    await it.activates("button", "Corregir los datos");
    await it.fills("Nombre completo", "Rosa Martines");
    await it.activates("button", "Guardar");
    await it.page.waitForSelector("dialog[open]");
    assert.match(await it.text("dialog"), /iniciales del titular son R\. M\. L\./);
    await it.activates("button", "Corregir los datos");
    await it.fills("Nombre completo", "Rosa Martínez");
    await it.activates("button", "Guardar");
    await it.arrives(/^Beneficiarios/);
    await it.sees("Guardamos a Rosa Martínez. La cuenta está a su nombre.");

    // Saved all the same, in another tab's time: after a reload it is asked again, and repeated where it matters.
    await saves("Cuenta Segura");
    await it.page.waitForSelector("dialog[open]");
    await it.activates("button", "Guardar de todos modos");
    await it.arrives(/^Beneficiarios/);
    await it.page.reload();
    await it.arrives(/^Beneficiarios/);
    const said = ["Guardaste este número más de una vez.", "La cuenta no está a nombre de Cuenta Segura."];
    await it.opens(/^Transferir$/);
    await it.arrives("Desde qué cuenta");
    await it.picks("Cuenta Segura");
    await it.activates("button", "Continuar");
    await it.arrives("Cuánto");
    assert.deepEqual(await warnings(it, "main"), said);
    await it.fills("Monto", "700");
    await it.press("Enter");
    await it.arrives("Revisa antes");
    assert.deepEqual(await warnings(it, "main"), said);
    await it.answers("Es para otra cuenta mía");
    await shoot(it, "payee-check-review");
    await it.tabsTo("checkbox", "Entiendo");
    const { name } = await it.focused();
    for (const warning of said) assert.ok(name.includes(warning), name);
    await it.leaves();
  });

  test("only a CLABE that is right in everything looks right", async () => {
    const { it } = await signedIn();
    await it.opens("Beneficiarios");
    await it.activates("link", "Agregar beneficiario");
    const value = (name) => it.page.$eval(`[name=${name}]`, (input) => input.value);
    for (const [text, mood, said] of [
      ["01218000464305124", "plain", "17 de los 18 dígitos de una CLABE."],
      [NOWHERE, "warn", "No reconocemos el banco de esta CLABE (clave 998)."],
      ["646180110400000008", "warn", "tiene un dígito equivocado"],
      ["cuenta de Luis 7", "warn", "No parece una CLABE"],
      ["5512345678", "plain", "Parece un número de celular"],
      [PAYEE.accountNumber, "good", "CLABE de BBVA"],
    ]) {
      await it.fills("CLABE", text);
      await it.sees(said, "main");
      assert.equal(await it.page.$eval(".derived", (line) => line.className), `derived ${mood}`, text);
      if (mood === "warn") assert.equal(await value("bankName"), "", text);
    }
    // A number without a bank takes the bank of an earlier one away, and is grouped as it is read.
    assert.equal(await value("bankName"), "BBVA");
    for (const [typed, shown] of [
      ["4111111111111111", "4111 1111 1111 1111"],
      ["+52 55 1234 5678", "55 1234 5678"],
    ]) {
      await it.fills("CLABE", typed);
      await it.press("Tab");
      assert.deepEqual([await value("accountNumber"), await value("bankName")], [shown, ""]);
    }
    await it.leaves();
  });

  test("a hint that comes as a field is left does not swallow the click", async () => {
    // With another bank's name, which is remarked upon as well, and with the bank to be filled in from the CLABE.
    for (const [width, typed, saved] of [
      [390, "Santander", "Santander"],
      [1280, "", "Banamex"],
    ]) {
      const { it, api } = await signedIn({ payees: [] }, { width, height: 900 });
      await it.page.evaluate(() => {
        location.hash = "/beneficiaries/new";
      });
      await it.arrives("Agregar beneficiario");
      await it.fills("Nombre completo", "Rosa Martínez");
      await it.tabsTo("combobox", "Banco");
      await it.types(typed);
      await it.fills("CLABE", OTHER.accountNumber.slice(0, 17));
      await it.page.$eval("form button[type=submit]", (button) => button.scrollIntoView({ block: "center" }));
      // What a mouse does: press, hold for a moment, release in the same place.
      const { x, y } = await it.page.$eval("form button[type=submit]", (button) => {
        const { left, top, width: wide, height } = button.getBoundingClientRect();
        // Near the edge that a hint would push away.
        return { x: left + wide / 2, y: top + Math.min(6, height / 2) };
      });
      await it.types(OTHER.accountNumber.slice(17));
      await it.page.mouse.move(x, y);
      await it.page.mouse.down();
      await it.pause(900);
      await it.page.mouse.up();
      await it.arrives(/^Beneficiarios/);
      assert.deepEqual(
        (await api.payees()).map(({ bankName }) => bankName),
        [saved],
      );
      await it.leaves();
    }
  });

  test("trying a recommendation leaves its buttons under the finger, and accepting it is confirmed in sight", async () => {
    for (const [width, height] of [
      [390, 844],
      [1280, 700],
    ]) {
      const { it } = await signedIn({}, { width, height });
      await it.page.evaluate(() => {
        location.hash = "/help";
      });
      await it.arrives("Ayuda");
      await it.picks("No, me cuesta");
      await it.picks("No");
      await it.picks("Poco a gusto");
      await it.picks("Más de 60");
      await it.activates("button", "Ver la recomendación");
      await it.page.waitForSelector(".recommended");
      const inSight = (selector) =>
        it.page.$eval(selector, (element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        });
      await it.tabsTo("button", "Ver cómo se ve");
      const before = await it.page.$eval(":focus", (button) => button.getBoundingClientRect().top);
      await it.press("Enter");
      assert.equal(await it.page.$eval("html", (html) => html.dataset.theme), "large-text-high-contrast");
      assert.ok(await inSight(".recommended .acts .main"), `at ${width} the way to accept is out of sight`);
      const moved = Math.abs((await it.page.$eval(":focus", (button) => button.getBoundingClientRect().top)) - before);
      assert.ok(moved < height / 3, `moved by ${moved}`);
      await it.page.keyboard.down("Shift");
      await it.tabsTo("button", "Sí, aplicar");
      await it.page.keyboard.up("Shift");
      await it.press("Enter");
      await it.sees("Guardamos tus ajustes", ".result");
      assert.ok(await inSight(".result .notice"));
      await it.leaves();
    }
  });
}
