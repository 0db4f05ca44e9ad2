// While time passes: tokens are renewed, in each tab by itself, for as long as somebody is there.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Customer, withAccount } from "./stage.mjs";

/** Longer than a session is renewed without anybody there, in milliseconds. */
const AWAY_MS = 11 * 60_000;

export function renewals(stage) {
  test("a token is renewed before it expires, each refresh token is used once, and nobody notices", async () => {
    const it = await Customer.at(stage);
    await it.signsInAs(await withAccount(stage));
    const answers = [];
    it.page.on("response", (response) => response.url().includes("/api/") && answers.push(response.status()));
    const used = new Set();
    for (let renewed = 0; renewed < 3; renewed += 1) {
      used.add(JSON.parse(await it.stored("caudal.grant")).refreshToken);
      await it.renews();
      await it.opens("Movimientos");
      await it.sees("Todavía no hay movimientos");
      await it.opens("Mis cuentas");
      await it.sees("Cuenta de cheques");
    }
    assert.equal(used.size, 3);
    assert.ok(answers.length >= 6);
    assert.ok(!answers.some((status) => status >= 400), `${answers}`);
    assert.equal(await it.text("#warnings"), "");
    await it.leaves();
  });

  test("two tabs: a second sign-in and a duplicate leave the first one alone", async () => {
    const it = await Customer.at(stage);
    await it.signsInAs(await withAccount(stage));

    // The provider still knows the person.
    const second = await it.context.newPage();
    await second.goto(stage.service.ledger);
    await second.waitForSelector("main form button");
    await second.click("main form button");
    await second.waitForSelector("#leave");

    // A duplicate has a copy of the storage.
    const opened = new Promise((resolve) => it.page.once("popup", resolve));
    await it.page.evaluate(() => window.open("/"));
    const copy = await opened;
    await copy.waitForSelector("#leave");
    // It cannot renew, and ends with its token. Nobody looks at it, so it draws no frames to wait for.
    await copy.waitForFunction(() => document.querySelector("h1").textContent === "Entrar", { polling: 100 });
    await it.page.bringToFront();
    for (const page of [it.page, second]) assert.notEqual(await page.$("#leave"), null);
    await it.renews();
    await it.opens("Movimientos");
    await it.leaves();
  });

  test("a session is not renewed for nobody: it says so, goes on when asked, and else ends", async () => {
    const it = await Customer.at(stage);
    await it.signsInAs(await withAccount(stage));
    const away = () =>
      it.page.evaluate((ms) => {
        const now = Date.now;
        Date.now = () => now() + ms;
      }, AWAY_MS);
    await away();
    await it.sees("Tu sesión está por terminar", "#warnings");
    await it.activates("button", "Mantener mi sesión");
    await it.page.waitForFunction(() => document.getElementById("warnings").textContent === "");
    await away();
    await it.arrives("Entrar");
    await it.sees("Tu sesión terminó");
    await it.leaves();
  });
}
