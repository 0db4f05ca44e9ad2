// Operators sign in to the console with the provider, in a window of its own: what is typed in a dialog outlives the token.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Operator } from "../web/console.mjs";
import { newUser } from "./stage.mjs";

/** Presses the provider's button, in the dialog if there is one, and types a user name in the window that opens. */
async function signsIn(ops, user) {
  const opened = new Promise((resolve) => ops.page.once("popup", resolve));
  await ops.press("Sign in with 127.0.0.1");
  const popup = await opened;
  const found = await popup.waitForSelector("[name=user]", { timeout: 5_000 }).catch(() => null);
  // The provider may still know them.
  if (!found) return popup;
  await popup.type("[name=user]", user);
  await popup.keyboard.press("Enter");
  return popup;
}

export function operators(stage) {
  test("an operator signs in, is renewed while a dialog is open, and signs out at both", async () => {
    const context = await stage.browser.createBrowserContext();
    const ops = await Operator.at(context, stage.service);
    const user = newUser();
    const popup = await signsIn(ops, user);
    await ops.shows(/In service/);
    await ops.shows(new RegExp(`Signed in as ${user}`));
    if (!popup.isClosed()) {
      await popup.waitForFunction(() => location.search === "");
      assert.match(await popup.evaluate(() => document.body.innerText), /Close this window/);
    }
    assert.equal(await ops.page.evaluate(() => sessionStorage.length + localStorage.length), 0);

    await ops.change("promote", "risk-1.0.0", "#versions").catch(() => ops.press("Promote", "#versions"));
    await ops.page.type("dialog textarea", "fewer false alarms");
    const seen = async () => (await stage.issuer.tell("/seen"))["/token"];
    const before = await seen();
    while ((await seen()) < before + 3) await new Promise((done) => setTimeout(done, 200));
    assert.equal(await ops.page.$eval("dialog textarea", (it) => it.value), "fewer false alarms");
    assert.equal(await ops.text("dialog [data-ending]"), "");

    // The provider has forgotten everybody.
    await stage.issuer.tell("/forget");
    await ops.shows(/Your token (ends|ended) at/, "dialog [data-ending]");
    await ops.press("Sign in again", "dialog [data-ending]");
    await signsIn(ops, newUser());
    await ops.shows(/This is another operator’s token/, "dialog #provider-fault");
    await stage.issuer.tell("/forget");
    await signsIn(ops, user);
    await ops.page.waitForFunction(() => document.querySelectorAll("dialog").length === 1);
    assert.equal(await ops.page.$eval("dialog textarea", (it) => it.value), "fewer false alarms");
    await ops.cancel();

    await ops.press("Sign out");
    await ops.shows(/You are still signed in with your provider\. Sign out there too/, "#provider-end");
    await ops.page.click("#provider-end a");
    await ops.page.waitForFunction(
      () => location.pathname === "/console" && document.querySelector("#provider-button"),
    );
    await context.close();
  });

  test("cancelling the login says that the provider did not let you in", async () => {
    const context = await stage.browser.createBrowserContext();
    const ops = await Operator.at(context, stage.service);
    const opened = new Promise((resolve) => ops.page.once("popup", resolve));
    await ops.press("Sign in with 127.0.0.1");
    const popup = await opened;
    await popup.waitForSelector("a[href$=cancel]");
    await popup.click("a[href$=cancel]");
    await ops.shows(/The provider did not let you in/, "#provider-fault");
    await context.close();
  });
}
