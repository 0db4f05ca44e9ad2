// Help that is offered unasked, scored in the page from what really happens on a screen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { settled } from "./bank.mjs";
import { Person } from "./person.mjs";

export function nudges(stage) {
  // At the side or below the screen, or beside the errors.
  const offer = (it) =>
    it.page.evaluate(() => (document.querySelector(".offer")?.innerText ?? "").replace(/\s+/g, " ").trim());
  // The page checks every five seconds, and a model that failed to load is retried after ten.
  const isOffered = (it) => it.page.waitForSelector(".offer", { timeout: 40_000 });

  async function addsPayee(it) {
    await it.opens("Beneficiarios");
    await it.activates("link", "Agregar beneficiario");
  }

  /** Submits an empty form, several times. */
  async function errs(it, button, times) {
    for (let time = 0; time < times; time += 1) {
      await it.activates("button", button);
      await it.pause(150);
    }
  }

  test("after errors help is offered at the side, once, and stays away once dismissed", async () => {
    const { it } = await Person.signedIn(stage);
    assert.equal(await offer(it), "");
    await addsPayee(it);
    await errs(it, "Guardar", 1);
    await isOffered(it);
    assert.equal(await it.page.$eval("#nudge", (place) => place.getAttribute("role")), "status");
    assert.match(await offer(it), /^Un consejo /);
    assert.doesNotMatch(await offer(it), /nudge-\d/);
    assert.match(await it.page.$eval("#nudge details", (it) => it.textContent), /nudge-1\.0\.0\+[0-9a-f]{8}/);
    // The focus is where the errors put it.
    assert.equal((await it.focused()).name, "Hay algo que corregir");
    await it.activates("button", "No, gracias");
    assert.equal(await offer(it), "");
    assert.equal((await it.focused()).role, "heading");
    await errs(it, "Guardar", 2);
    assert.equal(await offer(it), "");
    // Not on another screen either, for a while.
    await it.opens("Mis cuentas");
    await it.activates("link", "Abrir otra cuenta");
    await errs(it, "Abrir la cuenta", 4);
    assert.equal(await offer(it), "");
    await it.leaves();
  });

  test("accepting an offer opens step-by-step help", async () => {
    const { it } = await Person.signedIn(stage);
    await addsPayee(it);
    // Three fields at once, twice.
    await errs(it, "Guardar", 1);
    await isOffered(it);
    await it.activates("button", /Ver más ayuda|ver los pasos/);
    assert.equal(await it.page.$eval("#guide", (guide) => guide.open), true);
    assert.equal(await it.page.$eval(":focus", (summary) => summary.tagName), "SUMMARY");
    assert.equal(await offer(it), "");
    await it.leaves();
  });

  test("at the low level no hints are offered", async () => {
    const { bank, browser, line } = stage;
    const { api, user } = await settled(bank);
    await api.call("PUT", "/api/profile/accessibility", {
      theme: "standard-accessible",
      screenReaderMode: false,
      fontScale: 1.2,
      nudgingLevel: "low",
      voiceFeedback: false,
    });
    const it = await Person.at(browser, line.url);
    await it.signsIn(user);
    // The profile is loaded at sign-in.
    assert.equal(await it.page.$eval("html", (html) => html.style.getPropertyValue("--font-scale")), "1.2");
    await addsPayee(it);
    await errs(it, "Guardar", 1);
    assert.equal(await offer(it), "");
    // Many errors still count.
    await errs(it, "Guardar", 5);
    await isOffered(it);
    assert.match(await offer(it), /^¿Te guiamos paso a paso\?/);
    await it.leaves();
  });

  test("on a phone the offer is below the screen: it covers no field and moves none", async () => {
    const { bank, browser, line } = stage;
    const { user } = await settled(bank);
    for (const [width, height] of [
      [390, 844],
      [820, 700],
    ]) {
      const it = await Person.at(browser, line.url, { width, height });
      await it.signsIn(user);
      await it.page.evaluate(() => {
        location.hash = "/beneficiaries/new";
      });
      await it.arrives("Agregar beneficiario");
      await errs(it, "Guardar", 1);
      const places = () =>
        it.page.$$eval("main input", (inputs) => inputs.map((input) => input.getBoundingClientRect().top + scrollY));
      const before = await places();
      await isOffered(it);
      assert.deepEqual(await places(), before);
      // Wherever the person scrolls to.
      const covered = await it.page.evaluate(() => {
        const names = [];
        for (let top = 0; top < document.documentElement.scrollHeight; top += 100) {
          window.scrollTo({ top, behavior: "instant" });
          for (const field of document.querySelectorAll("main input, main button")) {
            const { left, top: y, width: w, height: tall } = field.getBoundingClientRect();
            const above = document.elementFromPoint(left + w / 2, y + tall / 2);
            if (document.getElementById("nudge").contains(above)) names.push(field.name ?? field.textContent);
          }
        }
        return names;
      });
      assert.deepEqual(covered, []);
      // With the next errors it comes to where they are said, and stays there.
      await errs(it, "Guardar", 2);
      const inSight = () => it.page.$eval(".faults .offer", (one) => one.getBoundingClientRect().top < innerHeight);
      assert.ok(await inSight());
      await it.activates("button", "No, gracias");
      assert.equal(await it.page.$(".offer"), null);
      await it.leaves();
    }
  });

  test("a long time on a screen brings a hint", async () => {
    const { it } = await Person.signedIn(stage);
    // The page's clock runs ahead: 90 seconds on a screen that takes 30.
    await it.page.evaluate(() => {
      const real = performance.now.bind(performance);
      performance.now = () =>
        real() +
        (location.hash === "#/accounts/new" && document.querySelector("main form") ? (globalThis.ahead ?? 0) : 0);
    });
    await it.activates("link", "Abrir otra cuenta");
    // The clock may run ahead only once the screen's time has begun.
    await it.arrives("Abrir una cuenta");
    await it.page.evaluate(() => {
      globalThis.ahead = 130_000;
    });
    await isOffered(it);
    assert.match(await offer(it), /La CLABE te la asigna el banco/);
    await it.leaves();
  });
}
