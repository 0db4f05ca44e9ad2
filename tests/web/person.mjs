// A person who uses the page by keyboard alone: Tab, Enter, Space, arrows and typing. The focus is known by role and name,
// as assistive technology has them, so a control without a name cannot be found.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { settled } from "./bank.mjs";

/** More tab stops than any screen has. */
const STOPS_MAX = 90;
/** Longest wait for anything on the page. */
const PATIENCE_MS = 15_000;

/** A time zone where it is about noon: the risk of a transfer depends on the person's hour. */
export function noonZone(shift = 0) {
  const offset = 12 - new Date().getUTCHours() + shift;
  return `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset)}`;
}

export class Person {
  static async at(browser, url, { zone = noonZone(), width = 1280, height = 900, language = "es-MX" } = {}) {
    const person = new Person();
    // Shares nothing with other people's browsers.
    person.context = await browser.createBrowserContext();
    await person.#opens(url, { zone, width, height, language });
    return person;
  }

  /** A user who has settled in at the bank, signed in; the rest is what `settled` says of them. */
  static async signedIn({ bank, browser, line }, more, looks) {
    const about = await settled(bank, more);
    const it = await Person.at(browser, line.url, looks);
    await it.signsIn(about.user);
    return { it, ...about };
  }

  /** The same person in another tab of their browser, which keeps its own session. */
  async inAnotherTab(path = "") {
    const person = new Person();
    person.context = this.context;
    await person.#opens(this.url + path, this.looks);
    return person;
  }

  async #opens(url, looks) {
    const page = await this.context.newPage();
    const { zone, width, height, language } = looks;
    this.looks = looks;
    this.page = page;
    this.url = new URL(url).origin;
    this.faults = [];
    page.on("pageerror", (error) => this.faults.push(error.stack ?? String(error)));
    page.on("console", (message) => message.type() === "error" && this.#noted(message));
    page.setDefaultTimeout(PATIENCE_MS);
    await page.setViewport({ width, height });
    await page.emulateTimezone(zone);
    if (language === "en") await page.evaluateOnNewDocument(() => localStorage.setItem("caudal.language", "en"));
    this.cdp = await page.createCDPSession();
    await this.cdp.send("Accessibility.enable");
    await page.goto(url);
    await this.settles();
  }

  /** Failed requests are part of some tests; anything else in the console is a bug of the page. */
  #noted(message) {
    // The second is the browser's, looking for a newer offline worker while the line is cut.
    const expected = ["Failed to load resource", "An unknown error occurred when fetching the script"];
    if (!expected.some((text) => message.text().startsWith(text))) this.faults.push(message.text());
  }

  /** Waits until the screen is drawn and nothing is loading. */
  async settles() {
    await this.page.waitForFunction(
      () =>
        document.querySelector("h1") &&
        !document.querySelector("main [aria-busy]") &&
        !document.querySelector("button[aria-disabled]"),
    );
  }

  async leaves() {
    assert.deepEqual(this.faults, []);
    await this.context.close();
  }

  // ---- reading ----

  title() {
    return this.page.title();
  }

  heading() {
    return this.page.$eval("h1", (it) => it.textContent.replace(/\s+/g, " ").trim());
  }

  /** The visible text. */
  text(selector = "main") {
    return this.page.$eval(selector, (it) => it.innerText.replace(/\s+/g, " "));
  }

  /** Role and name of the focused element. */
  async focused() {
    const { result } = await this.cdp.send("Runtime.evaluate", { expression: "document.activeElement" });
    const { nodes } = await this.cdp.send("Accessibility.getPartialAXTree", {
      objectId: result.objectId,
      fetchRelatives: false,
    });
    await this.cdp.send("Runtime.releaseObject", { objectId: result.objectId });
    const [node] = nodes;
    return { role: node.role?.value ?? "", name: (node.name?.value ?? "").replace(/\s+/g, " ").trim() };
  }

  /** Waits until the h1 contains a text. */
  async arrives(heading) {
    const wanted = heading.source ?? heading;
    await this.page.waitForFunction(
      (text) => new RegExp(text).test(document.querySelector("h1")?.textContent ?? ""),
      {},
      wanted,
    );
    await this.settles();
  }

  async sees(text, selector = "body") {
    const wanted = text.source ?? text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    await this.page.waitForFunction(
      (pattern, where) => {
        const seen = document.querySelector(where)?.innerText ?? "";
        return new RegExp(pattern).test(seen.replace(/\s+/g, " "));
      },
      {},
      wanted,
      selector,
    );
  }

  // ---- the keyboard ----

  press(key, times = 1) {
    return Array.from({ length: times }).reduce(
      (before) => before.then(() => this.page.keyboard.press(key)),
      Promise.resolve(),
    );
  }

  async presses(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  types(text) {
    return this.page.keyboard.type(text);
  }

  /** Pastes, as people do with a token. */
  pastes(text) {
    return this.page.keyboard.sendCharacter(text);
  }

  /** Presses Tab until an element of this role and name has the focus. */
  async tabsTo(role, name) {
    const passed = [];
    for (let stop = 0; stop < STOPS_MAX; stop += 1) {
      await this.page.keyboard.press("Tab");
      const here = await this.focused();
      passed.push(`${here.role} ${here.name}`);
      if (here.role === role && (name.test?.(here.name) ?? here.name.includes(name))) return here;
    }
    return assert.fail(`no ${role} ${name} among ${passed.join(" | ")}`);
  }

  async activates(role, name) {
    await this.tabsTo(role, name);
    if (role === "link") await this.#follows();
    else await this.page.keyboard.press("Enter");
  }

  /** The address changes some time after the key, and the screen with it: until then the old screen looks settled. */
  async #follows() {
    await this.page.evaluate(() => {
      const { hash } = document.activeElement;
      window.hasFollowed = !hash?.startsWith("#/") || hash === location.hash;
      window.addEventListener("hashchange", () => Object.assign(window, { hasFollowed: true }), { once: true });
    });
    await this.page.keyboard.press("Enter");
    // A link out of the page takes the mark with it.
    await this.page.waitForFunction(() => window.hasFollowed !== false);
  }

  async fills(name, text) {
    await this.tabsTo("textbox", name);
    // Typing replaces the current text.
    await this.page.keyboard.down("Control");
    await this.page.keyboard.press("a");
    await this.page.keyboard.up("Control");
    await this.types(text);
  }

  /** Picks a radio button: Tab into the group, arrows within it. */
  async picks(name) {
    for (let stop = 0; stop < STOPS_MAX; stop += 1) {
      await this.page.keyboard.press("Tab");
      let here = await this.focused();
      const seen = new Set();
      while (here.role === "radio" && !seen.has(here.name)) {
        if (here.name.includes(name)) {
          await this.page.keyboard.press("Space");
          return;
        }
        seen.add(here.name);
        await this.page.keyboard.press("ArrowDown");
        here = await this.focused();
      }
    }
    assert.fail(`no choice ${name}`);
  }

  // ---- common tasks ----

  /** Signs in to the sandbox by keyboard. */
  async signsIn(user) {
    await this.fills(/Nombre de usuario|Username/, user);
    await this.press("Enter");
    await this.page.waitForSelector("#leave");
    await this.settles();
  }

  /** Goes to a screen by the navigation. */
  async opens(name) {
    await this.activates("link", name);
    await this.settles();
  }

  /** Goes from anywhere to the review of a transfer. */
  async reviews({ account = "Cuenta de cheques", payee, amount, isForLater = false }) {
    await this.opens(/^Transferir$/);
    await this.arrives("Desde qué cuenta");
    await this.picks(account);
    await this.picks(payee);
    await this.activates("button", "Continuar");
    await this.arrives("Cuánto");
    await this.fills("Monto", amount);
    if (isForLater) await this.picks("Otro día");
    await this.press("Enter");
    await this.arrives(isForLater ? "Cuándo quieres que se envíe" : "Revisa antes");
  }

  /** Says what an unusual payment is for, and waits for a pause to end. */
  async answers(purpose) {
    await this.picks(purpose);
    await this.activates("button", "Continuar");
    await this.page.waitForSelector(".fitted");
    await this.settles();
  }

  /** Sends the reviewed transfer, with whatever its risk requires. */
  async sendsWhateverTheRisk() {
    if (await this.page.$(".asked")) await this.answers("Le pago a alguien que conozco");
    if (await this.page.$("[name=acknowledged]:not(:checked)")) {
      await this.tabsTo("checkbox", /^(Entiendo|Confirmo)/);
      await this.press("Space");
    }
    await this.activates("button", /^Enviar/);
    const isAsked = await this.page.waitForSelector("dialog[open]", { timeout: 800 }).catch(() => null);
    if (isAsked) await this.activates("button", /^Sí, enviar/);
  }

  pause(ms) {
    return sleep(ms);
  }
}
