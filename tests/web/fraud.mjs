// A staged fraud by telephone: "the bank" calls and has a person move their savings to a new payee. What the page asks, shows
// and prevents, also when the caller dictates the answers; and that payments as usual meet none of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PAUSE_SECONDS } from "../../host/web/bank/warning-rules.js";
import { PAYEE } from "./bank.mjs";
import { shoot } from "./looks.mjs";
import { Person } from "./person.mjs";

const MULE = { name: "Cuenta Segura", accountNumber: "646180157099999993", bankName: "STP" };
const SAVINGS = "8,000";

/** A time zone where it is this hour now. */
function zoneAt(hour) {
  const shift = (((hour - new Date().getUTCHours()) % 24) + 24) % 24;
  const offset = shift > 12 ? shift - 24 : shift;
  return `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset)}`;
}

/** Role and name of each stop among what one can press in the form. */
const ways = (it) =>
  it.page.$$eval("main form .acts > *", (all) =>
    all.map((way) => {
      const { width, height } = way.getBoundingClientRect();
      const { fontWeight, backgroundColor, borderTopColor } = getComputedStyle(way);
      return { text: way.textContent, size: [width, height], weight: [fontWeight, backgroundColor, borderTopColor] };
    }),
  );

export function fraud(stage) {
  /** Somebody with a history and a device that the bank knows. */
  async function customer(looks) {
    const about = await Person.signedIn(stage, { count: 3, amount: 400 }, looks);
    const { it } = about;
    await it.reviews({ payee: PAYEE.name, amount: "400" });
    await it.sendsWhateverTheRisk();
    await it.arrives("Transferencia enviada");
    return about;
  }

  /** What the caller has them do: save the payee, and send the savings. */
  async function obeys({ it, api }) {
    await api.savePayee(MULE);
    await it.page.reload();
    await it.settles();
    await it.reviews({ payee: MULE.name, amount: SAVINGS });
  }

  test("a call from the bank: asked first, told what it is, held for a moment, and out with nothing sent", async () => {
    for (const [width, height] of [
      [390, 844],
      [1280, 900],
    ]) {
      const { it, api, ...about } = await customer();
      await obeys({ it, api, ...about });
      await it.page.setViewport({ width, height });

      // The question comes before any warning, and nothing can be sent without an answer.
      const asked = await it.text();
      assert.match(asked, /¿Para qué es este pago\?/);
      assert.doesNotMatch(asked, /fraude|riesgo es alto/);
      assert.equal(
        await it.page.$$eval("main button", (all) => all.some((one) => /^Enviar/.test(one.textContent))),
        false,
      );
      const both = await ways(it);
      assert.deepEqual(
        both.map(({ text }) => text),
        ["No enviar por ahora", "Continuar"],
      );
      assert.deepEqual(both[0].size, both[1].size);
      assert.deepEqual(both[0].weight, both[1].weight);
      await shoot(it, `fraud-1-question-${width}`);
      await it.activates("button", "Continuar");
      assert.match(await it.text(".summary"), /Elige para qué es el pago/);

      await it.picks("Me lo pidió alguien que dice ser");
      await it.activates("button", "Continuar");
      // A screen reader continues at the warning.
      await it.page.waitForSelector(".fitted");
      assert.deepEqual(await it.focused(), { role: "heading", name: "No envíes dinero: así empiezan los fraudes" });
      const warned = await it.text(".fitted");
      for (const said of ["“cuenta segura”, es un fraude", "llama tú al número que viene al reverso de tu tarjeta"])
        assert.ok(warned.includes(said), warned);
      // What to do about it is open, and names no telephone number.
      const steps = await it.text(".if-fraud ol");
      assert.match(steps, /tarjeta.*evidencia.*Condusef/);
      assert.doesNotMatch(steps, /\d{4}/);

      // The pause: the way out works, sending waits, and nothing keeps the focus.
      await it.page.waitForFunction(() =>
        /Podrás continuar en \d+ seg/.test(document.querySelector("#announcements").textContent),
      );
      const [out, on] = await ways(it);
      assert.match(out.text, /^No enviar/);
      assert.match(on.text, /^Enviar \$8,000/);
      assert.deepEqual(out.size, on.size);
      // Filled, in the colour of its edge; the way on is not.
      assert.equal(out.weight[1], out.weight[2]);
      assert.notEqual(on.weight[1], on.weight[2]);
      await shoot(it, `fraud-2-warning-${width}`);
      if (await it.page.$("[name=acknowledged]")) {
        await it.tabsTo("checkbox", "Entiendo");
        await it.press("Space");
      }
      await it.tabsTo("link", "No enviar por ahora");
      await it.tabsTo("button", /^Enviar/);
      await it.press("Enter");
      assert.equal((await it.focused()).name.startsWith("Enviar"), true);
      assert.equal(await it.page.$("dialog[open]"), null);
      assert.equal((await api.transfers()).length, 4);

      await it.activates("link", "No enviar por ahora");
      await it.arrives("Mis cuentas");
      await it.sees("No enviamos nada: tu dinero sigue en tu cuenta.");
      assert.equal((await api.transfers()).length, 4);
      await it.leaves();
    }
  });

  test("a dictated answer meets the trick itself and the same pause, after which the person decides", async () => {
    const { it, api, ...about } = await customer();
    await obeys({ it, api, ...about });
    await it.picks("Le pago a alguien que conozco");
    await it.activates("button", "Continuar");
    await it.page.waitForSelector(".fitted");
    await it.sees("Si alguien te pidió elegir esta respuesta, es un fraude.", ".fitted");
    await it.sees(
      "Todavía no has completado ninguna transferencia a la cuenta que guardaste para Cuenta Segura.",
      ".fitted",
    );
    // Another answer asks again, and the warning follows it.
    await it.activates("button", "Cambiar la respuesta");
    assert.equal((await it.focused()).role, "radio");
    await it.picks("Es para otra cuenta mía");
    await it.activates("button", "Continuar");
    await it.sees("la cuenta no es tuya: es un fraude", ".fitted");
    const began = Date.now();
    await it.tabsTo("button", /^Enviar/);
    if (await it.page.$("[aria-disabled]")) {
      await it.page.waitForFunction(() => !document.querySelector("[aria-disabled]"));
      assert.ok(Date.now() - began > (PAUSE_SECONDS - 3) * 1_000);
      await it.sees("La pausa terminó", "#announcements");
    }
    await it.press("Enter");
    if (await it.page.$("[name=acknowledged]")) {
      assert.match(await it.text(".summary"), /marca la casilla/);
      await it.activates("link", "marca la casilla");
      await it.press("Space");
      await it.activates("button", /^Enviar/);
    }
    await it.arrives("Transferencia enviada");
    assert.equal((await api.transfers()).length, 5);
    await it.leaves();
  });

  test("a small amount to somebody paid before, from a known device, is not remarked upon at three in the morning", async () => {
    const { it, api } = await customer({ zone: zoneAt(3) });
    await it.reviews({ payee: PAYEE.name, amount: "300" });
    assert.match(await it.page.$eval(".risk details", (one) => one.textContent), /UNUSUAL_TIME/);
    assert.equal(await it.page.$("main .notice:is(.warn, .bad)"), null);
    assert.equal(await it.page.$("main input[type=radio]"), null);
    await it.activates("button", /^Enviar/);
    await it.arrives("Transferencia enviada");
    assert.equal((await api.transfers()).length, 5);
    await it.leaves();
  });

  test("where motion is unwelcome nothing counts down", async () => {
    const { it, ...about } = await customer();
    await it.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await obeys({ it, ...about });
    await it.picks("Es una inversión");
    await it.activates("button", "Continuar");
    await it.page.waitForSelector(".pause");
    const seen = new Set();
    for (let look = 0; look < 6; look += 1) {
      seen.add(await it.text(".pause"));
      await it.pause(400);
    }
    assert.deepEqual([...seen], ["Podrás continuar en unos segundos. Mientras tanto, lee el aviso."]);
    await it.leaves();
  });
}
