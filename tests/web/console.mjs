// An operator at the console, in Chromium, in front of the real host.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { program } from "../parity/service.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core");
const SHOTS = process.env.CAUDAL_WEB_SHOTS;
/** Serves the console's files from the repository instead of the program, while they are written. */
const TREE = process.env.CAUDAL_WEB_TREE;
const TYPES = { css: "text/css", js: "text/javascript", html: "text/html" };

async function fromTree(page) {
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    const asked = pathname === "/console" ? "/console/index.html" : pathname;
    const [, path, type] = /^\/((?:console|shared)\/[\w-]+\.(css|js|html))$/.exec(asked) ?? [];
    if (!path) return request.continue();
    return request.respond({
      contentType: TYPES[type],
      body: readFileSync(new URL(`../../host/web/${path}`, import.meta.url)),
    });
  });
}

/** Ana sends payments to a payee of another bank. Resolves to what asks in her name, and to her account. */
export async function pay(service, amounts) {
  const headers = { "content-type": "application/json" };
  const issued = await fetch(`${service.ledger}/sandbox/token`, { method: "POST", headers, body: '{"user":"ana"}' });
  headers.authorization = `Bearer ${(await issued.json()).token}`;
  const ask = async (path, body) => {
    const sent = body && { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(service.ledger + path, { headers, ...sent });
    assert.ok(answer.ok, path);
    return answer.json();
  };
  const account = await ask("/api/ledger/accounts", { accountType: "checking" });
  const payee = { name: "Luis Pérez", accountNumber: "012180004643051249", bankName: "BBVA" };
  const { id } = await ask("/api/ledger/beneficiaries", payee);
  for (const amount of amounts) {
    await ask("/api/ledger/transactions", { fromAccountId: account.id, toBeneficiaryId: id, amount });
  }
  return { ask, account };
}

export class Operator {
  /** What the page reported to the browser's log. */
  faults = [];

  static async at(browser, service) {
    const operator = new Operator();
    operator.service = service;
    operator.page = await browser.newPage();
    const { page, faults } = operator;
    await page.setViewport({ width: 1280, height: 900 });
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    if (TREE) await fromTree(page);
    await page.goto(`${service.assist}/console`, { waitUntil: "networkidle0" });
    return operator;
  }

  token(scope, user = "ops", ttl = "1h") {
    const args = ["--data-dir", this.service.folder, "token", "--user", user, "--scope", scope, "--ttl", ttl];
    return execFileSync(program(), args).toString().trim();
  }

  async signIn(scope) {
    await this.page.type("#token", this.token(scope));
    await this.press("Sign in");
    await this.shows(/In service/);
  }

  /** Waits until the page, or a part of it, shows a text. */
  async shows(pattern, selector = "body") {
    const { page } = this;
    const shown = page.waitForFunction(
      (source, where) => new RegExp(source).test(document.querySelector(where)?.innerText ?? ""),
      { timeout: 20_000 },
      pattern.source,
      selector,
    );
    await shown.catch(async () => assert.fail(`no ${pattern} in ${selector}: ${await this.text(selector)}`));
  }

  text(selector = "body") {
    return this.page.evaluate((where) => document.querySelector(where)?.innerText ?? "", selector);
  }

  /** Presses the visible button whose text starts like this, within a place, once there is one. */
  async press(text, within = "body") {
    const isThere = (start, where) =>
      [...document.querySelectorAll(`${where} button`)].find(
        (it) => it.checkVisibility() && it.textContent.startsWith(start),
      );
    const found = await this.page.waitForFunction(isThere, {}, text, within).catch(() => null);
    assert.ok(found?.asElement(), `no button ${text}`);
    await found.asElement().click();
  }

  /** Presses the button of a change to a version, in a part of the page. */
  async change(name, version, within = "#versions") {
    const selector = `${within} [data-change="${name}"][data-version="${version}"]`;
    await this.page.waitForSelector(selector);
    await this.page.click(selector);
    await this.shows(/What will happen:/, "dialog");
  }

  /** Confirms the open dialog with a reason. */
  async confirm(reason) {
    await this.page.type("dialog textarea", reason);
    await this.page.click("dialog button.main");
    await this.page.waitForFunction(() => !document.querySelector("dialog"));
  }

  async cancel() {
    await this.press("Cancel", "dialog");
    await this.page.waitForFunction(() => !document.querySelector("dialog"));
  }

  async shot(name) {
    if (SHOTS) await this.page.screenshot({ path: join(SHOTS, `console-${name}.png`), fullPage: true });
  }

  /** What axe finds, in both colour schemes. */
  async axe(name) {
    const { page } = this;
    await page.evaluate(readFileSync(AXE, "utf8"));
    for (const value of ["light", "dark"]) {
      // A colour in transition has neither contrast.
      const motion = { name: "prefers-reduced-motion", value: "reduce" };
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }, motion]);
      const found = await page.evaluate(async () => {
        // One that began before, while motion was welcome, goes on.
        for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
        const { violations } = await globalThis.axe.run(document, { rules: { "target-size": { enabled: true } } });
        return violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`);
      });
      assert.deepEqual(found, [], `${name}, ${value}`);
      await this.shot(`${name}-${value}`);
    }
    await page.emulateMediaFeatures([]);
  }
}
