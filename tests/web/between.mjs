// Money that stays within the bank: it reaches another customer while their home is open, it moves between one's own
// accounts, and the sum of all balances stays what it was.

import assert from "node:assert/strict";
import { test } from "node:test";

import { newUser } from "./bank.mjs";
import { tooWide } from "./looks.mjs";
import { Person } from "./person.mjs";

const SHOTS = process.env.CAUDAL_WEB_SHOTS;

const issued = (api, accountType = "checking") => api.call("POST", "/api/ledger/accounts", { accountType });

export function between(it) {
  test("a transfer to another customer arrives on their screen, and so does the answer", async () => {
    const [ana, luis] = [await it.bank.as(newUser()), await it.bank.as(newUser())];
    const [from, to] = [await issued(ana), await issued(luis)];
    await ana.savePayee({ name: "Luis Pérez", accountNumber: to.accountNumber, bankName: "Caudal" });
    const total = async () => {
      const accounts = [...(await ana.accounts()), ...(await luis.accounts())];
      return accounts.reduce((sum, { balance }) => sum + balance, 0);
    };
    const before = await total();
    const [sender, receiver] = [await Person.at(it.browser, it.line.url), await Person.at(it.browser, it.line.url)];
    await receiver.signsIn(luis.user);
    await receiver.sees("10,000.00");
    await sender.signsIn(ana.user);
    await sender.reviews({ payee: "Luis Pérez", amount: "200" });
    const review = await sender.text();
    assert.match(review, /No verificamos que el nombre coincida con la CLABE/);
    assert.doesNotMatch(review, /SPEI/);
    await sender.sendsWhateverTheRisk();
    await sender.arrives("Transferencia enviada");
    await sender.sees("ya tiene el dinero en su cuenta de Caudal");
    // Banxico has no receipt of it, so that the key is among the other facts.
    assert.equal(await sender.page.$(".cep"), null);
    const [{ speiReference }] = await ana.transfers();
    await sender.sees(`Clave de rastreo ${speiReference}`, ".receipt");
    await sender.page.emulateMediaType("print");
    assert.ok((await sender.text(".receipt")).includes(`Clave de rastreo ${speiReference}`));
    await sender.page.emulateMediaType("screen");
    await receiver.sees("10,200.00");
    await receiver.sees(from.accountNumber.slice(-4));
    if (SHOTS) await receiver.page.screenshot({ path: `${SHOTS}/arrived-es.png`, fullPage: true });

    const back = await luis.savePayee({ name: "Ana", accountNumber: from.accountNumber, bankName: "Caudal" });
    await luis.send(to, back, 50);
    await sender.opens(/^Mis cuentas|^Cuentas|^Inicio/);
    await sender.sees("9,850.00");
    // Saved under this number, whatever the name that the bank has.
    await sender.sees("Transferencia de Luis Pérez", ".movements");
    await receiver.opens("Movimientos");
    await receiver.page.reload();
    await receiver.sees("Transferencia de Ana +$200.00", ".results");
    assert.equal(await total(), before);
    await sender.leaves();
    await receiver.leaves();
  });

  for (const [language, words] of [
    [
      "es",
      {
        go: "Entre mis cuentas",
        title: "Pasar dinero",
        send: "Pasar el dinero",
        done: /pasaste \S+ MXN a tu cuenta de ahorro \d{4}\./,
      },
    ],
    [
      "en",
      {
        go: "Between my accounts",
        title: "Move money",
        send: "Move the money",
        done: /you moved \S+ MXN to your savings account \d{4}\./,
      },
    ],
  ]) {
    test(`money moves between one's own accounts without a payee or a warning (${language})`, async () => {
      const ana = await it.bank.as(newUser());
      const [checking, savings] = [await issued(ana), await issued(ana, "savings")];
      const person = await Person.at(it.browser, it.line.url, language === "en" ? { language } : {});
      await person.signsIn(ana.user);
      await person.activates("link", words.go);
      await person.arrives(words.title);
      if (SHOTS) await person.page.screenshot({ path: `${SHOTS}/move-${language}.png`, fullPage: true });
      await person.page.setViewport({ width: 390, height: 844 });
      assert.equal(await tooWide(person), null);
      await person.tabsTo("textbox", /Monto|Amount/);
      await person.types("10000.01");
      await person.press("Enter");
      await person.page.waitForSelector(".summary");
      await person.fills(/Monto|Amount/, "300");
      await person.activates("button", words.send);
      await person.sees(words.done);
      const balances = Object.fromEntries((await ana.accounts()).map(({ id, balance }) => [id, balance]));
      assert.deepEqual(balances, { [checking.id]: 9_700, [savings.id]: 10_300 });
      assert.deepEqual(await ana.payees(), []);
      await person.leaves();
    });
  }
}
