// The questionnaire and its recommendation, the settings, and the question about usage data.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OTHER, PAYEE, settled } from "./bank.mjs";
import { Person } from "./person.mjs";

export function help(stage) {
  async function atHelp(language = "es-MX") {
    const about = await Person.signedIn(stage, {}, { language });
    await about.it.opens(/^(Ayuda y accesibilidad|Help and accessibility)$/);
    return { ...about, line: stage.line };
  }

  const look = (it) =>
    it.page.$eval("html", (html) => ({
      theme: html.dataset.theme,
      scale: html.style.getPropertyValue("--font-scale"),
    }));

  test("a recommendation changes nothing until accepted, and never turns on the voice by itself", async () => {
    const { it, api } = await atHelp();
    await it.picks("No, me cuesta");
    await it.picks("Sí");
    await it.picks("Muy a gusto");
    await it.picks("De 31 a 50");
    await it.activates("button", "Ver la recomendación");
    await it.page.waitForSelector(".recommended");
    assert.equal((await it.focused()).name, "Te recomendamos: Apoyo por voz");
    const said = await it.text(".recommended");
    assert.match(said, /Indicaste que usas un lector de pantalla/);
    assert.doesNotMatch(said, /accessibility-\d/);
    assert.match(
      await it.page.$eval(".recommended details", (it) => it.textContent),
      /accessibility-2\.0\.0\+.*: \d+%/,
    );
    assert.doesNotMatch(said, /edad|años/);
    assert.deepEqual(await look(it), { theme: "standard-accessible", scale: "1" });
    // A preview, and back.
    await it.activates("button", "Ver cómo se ve");
    assert.deepEqual(await look(it), { theme: "voice-assisted", scale: "1.2" });
    await it.press("Enter");
    assert.deepEqual(await look(it), { theme: "standard-accessible", scale: "1" });
    assert.equal((await api.profile()).updatedAt, null);
    // Voice is a separate choice, not ticked in advance.
    assert.equal(await it.page.$eval("[name=voice]", (box) => box.checked), false);
    await it.page.keyboard.down("Shift");
    await it.press("Tab");
    await it.page.keyboard.up("Shift");
    assert.equal((await it.focused()).name, "Sí, aplicar");
    await it.press("Enter");
    await it.page.waitForFunction(() => document.documentElement.dataset.theme === "voice-assisted");
    const { updatedAt, ...stored } = await api.profile();
    assert.notEqual(updatedAt, null);
    assert.deepEqual(stored, {
      theme: "voice-assisted",
      screenReaderMode: true,
      fontScale: 1.2,
      nudgingLevel: "medium",
      voiceFeedback: false,
    });
    // The profile follows the person to another browser.
    const { browser, line } = stage;
    const elsewhere = await Person.at(browser, line.url);
    await elsewhere.signsIn(api.user);
    assert.deepEqual(await look(elsewhere), { theme: "voice-assisted", scale: "1.2" });
    await elsewhere.leaves();
    await it.leaves();
  });

  test("an uncertain recommendation is worded as a suggestion, in the person's language", async () => {
    const { it } = await atHelp("en");
    // Behaviour counts: four errors elsewhere, but not the questions that are left out here.
    await it.page.evaluate(() => Object.assign(location, { hash: "/beneficiaries/new" }));
    await it.arrives("payee");
    for (let time = 0; time < 2; time += 1) await it.activates("button", /^Save/);
    await it.opens(/^Help and accessibility$/);
    await it.activates("button", "See the recommendation");
    await it.picks("Yes, it is easy");
    await it.picks("No");
    await it.picks("Very");
    await it.picks("Over 60");
    await it.activates("button", "See the recommendation");
    await it.page.waitForSelector(".recommended");
    const said = await it.text(".recommended");
    assert.match(said, /^This may help: /);
    assert.match(said, /It is only a suggestion\./);
    assert.match(said, /several entries had to be corrected/);
    assert.doesNotMatch(said, /\b(age|years?)\b/);
    await it.activates("button", "No, leave it as it is");
    assert.equal(await it.page.$(".recommended"), null);
    assert.equal((await look(it)).theme, "standard-accessible");
    await it.leaves();
  });

  test("settings are previewed at once and stored by the button", async () => {
    const { it, api } = await atHelp();
    await it.picks("Letra grande y alto contraste");
    assert.equal((await look(it)).theme, "large-text-high-contrast");
    await it.sees("Falta guardar");
    assert.equal((await api.profile()).updatedAt, null);
    // Leaving without saving changes nothing.
    await it.opens("Mis cuentas");
    assert.equal((await look(it)).theme, "standard-accessible");
    await it.opens(/^Ayuda y accesibilidad$/);
    await it.picks("Letra grande y alto contraste");
    await it.tabsTo("combobox", "Tamaño de letra");
    await it.types("200");
    await it.picks("Alto");
    await it.activates("button", "Guardar ajustes");
    await it.sees("Guardamos tus ajustes", "main");
    const { updatedAt, ...stored } = await api.profile();
    assert.deepEqual(stored, {
      theme: "large-text-high-contrast",
      screenReaderMode: false,
      fontScale: 2,
      nudgingLevel: "high",
      voiceFeedback: false,
    });
    assert.deepEqual(await look(it), { theme: "large-text-high-contrast", scale: "2" });
    await it.leaves();
  });

  test("usage data is asked for plainly; nothing is sent without consent, and never who or how much", async () => {
    const { bank, browser, line } = stage;
    const { api, user, payee } = await settled(bank, { count: 3, payees: [PAYEE, OTHER] });
    const it = await Person.at(browser, line.url);
    const from = line.requests.length;
    const events = () =>
      line.seen("POST", "/api/analytics/events", from).filter(({ headers }) => headers.authorization === mine);
    await it.signsIn(user);
    const mine = `Bearer ${await it.page.evaluate(() => sessionStorage.getItem("caudal.token"))}`;
    await it.opens("Movimientos");
    await it.opens("Privacidad");
    await it.sees("Aún no has decidido");
    assert.equal(events().length, 0);
    await it.picks("Sí, pueden guardarlo");
    await it.activates("button", "Guardar mi respuesta");
    await it.sees("Dijiste que sí");
    assert.equal((await api.consent()).granted, true);
    await it.reviews({ payee: payee.name, amount: "123.45" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    // Nor what an unusual payment is for.
    await it.reviews({ payee: OTHER.name, amount: "600" });
    await it.answers("Le compro algo a alguien");
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    const sent = events().map(({ body }) => JSON.parse(body));
    assert.ok(sent.some(({ eventType }) => eventType === "transfer_completed"));
    assert.ok(sent.some(({ eventType, screen }) => eventType === "screen_view" && screen === "transfer_confirm"));
    for (const event of sent) assert.deepEqual(Object.keys(event).sort(), ["eventType", "screen"]);
    assert.doesNotMatch(JSON.stringify(sent), /123|Luis|0121800|user-/);
    await it.opens("Privacidad");
    await it.picks("No, no guarden nada");
    await it.activates("button", "Guardar mi respuesta");
    await it.sees("Dijiste que no");
    const before = events().length;
    await it.opens("Movimientos");
    await it.opens("Mis cuentas");
    assert.equal(events().length, before);
    await it.leaves();
  });
}
