// An operator's session at the console in Chromium: a component is pushed, tried on more and more users, withdrawn,
// promoted in spite of it, rolled back, and tried again. Each dangerous step is taken the wrong way first.
//
//   CAUDAL                 the program under test
//   CAUDAL_WEB_SHOTS       a folder outside of the repository for screenshots; none are made without it

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { launch } from "../parity/chromium.mjs";
import { SOUND, textOf } from "../parity/hostile.mjs";
import { Service } from "../parity/service.mjs";
import { Operator, pay } from "./console.mjs";
import { compareVersions, readTraffic, rollOut, stopAndAbort } from "./rollout.mjs";

/** A scorer that passes the gate, and traps where the screen is called so. */
const HOSTILE = fileURLToPath(new URL("../../target/components/fixtures/hostile.wasm", import.meta.url));
const BREAKER_OPEN_MS = 10_500;
const SCOPE = "models:admin rules:admin ledger:operate";

let service;
let browser;
let ops;
let champion;
let pushed;

before(async () => {
  // Two people for a new risk champion, and payments that stay pending.
  const pending = ["--rail", "simulated", "--simulated-delay", "30d", "--simulated-rejected", "0"];
  service = await Service.start(["--approvals", ...pending]);
  browser = await launch();
  await browser
    .defaultBrowserContext()
    .overridePermissions(service.assist, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
  ops = await Operator.at(browser, service);
  champion = (await service.version("nudge-1.")).model_version;
});

after(async () => {
  await browser?.close();
  await service?.end();
});

/** One step of the session: the ones after it build on it. */
let isLost = false;
const step = (name, take) =>
  test(name, async (t) => {
    if (isLost) {
      t.skip("a step before it failed");
      return;
    }
    isLost = true;
    await take();
    isLost = false;
  });

/** What the host has deployed, whatever the page shows. */
async function deployed(kind = "nudge") {
  const headers = { authorization: `Bearer ${ops.token("audit:read")}` };
  return (await fetch(`${service.assist}/admin/models/${kind}/deployment`, { headers })).json();
}

/** Waits until the host serves a change. */
async function served(epoch) {
  await ops.page.waitForFunction(
    (wanted) => document.querySelector("#hosts tbody td.number")?.textContent === wanted,
    { timeout: 20_000 },
    String(epoch),
  );
}

/** Requests of people without difficulties, for whom both versions answer alike. */
const CALM = {
  num_validation_errors: "0",
  time_on_screen_seconds: "0",
  num_back_navigations: "0",
  steps_total: "1",
  current_step: "1",
};

/** Requests of this many users. */
async function ask(screen, users, from = 0) {
  for (let user = from; user < from + users; user += 1) {
    const body = textOf({ ...SOUND.nudge, ...CALM, screen: JSON.stringify(screen), user_id: `"user-${user}"` });
    assert.equal((await service.post("/ai/nudge", body)).status, 200);
  }
}

step("a component is pushed; what is none is not sent", async () => {
  await ops.signIn(SCOPE);
  await ops.page.evaluate(() => {
    location.hash = "#nudge";
  });
  await ops.shows(/Nudge/, "#kind-title");
  await ops.shows(/serving/, "#hosts");
  // What is loaded above the button moves it.
  await ops.shows(/No answers/, "#traffic-state");
  await ops.press("Push a component");
  await ops.press("Push", "dialog form");
  await ops.shows(/Choose a file first/, "dialog");
  await (await ops.page.$("#push-file")).uploadFile(HOSTILE);
  await ops.press("Push", "dialog form");
  await ops.shows(/nudge-1\.0\.0\+[0-9a-f]{8} is registered/, "dialog");
  pushed = /nudge-1\.0\.0\+[0-9a-f]{8}(?= is registered)/.exec(await ops.text("dialog"))?.[0];
  assert.ok(pushed && pushed !== champion);
  await ops.shot("pushed");
  await ops.press("Close", "dialog");
  await ops.page.waitForSelector(`#versions [data-version="${pushed}"]`);
});

step("a canary starts small and grows in steps", async () => {
  await ops.change("canary", pushed);
  // The wrong way: nobody's share, everybody's share, no reason.
  for (const [share, fault] of [
    ["0", /Enter a whole number from 1 to 99/],
    ["100", /Enter a whole number from 1 to 99/],
    ["5", /Enter a reason/],
  ]) {
    await ops.page.$eval("#change-percent", (input) => input.focus());
    await ops.page.keyboard.type(share);
    await ops.page.click("dialog button.main");
    await ops.shows(fault, "dialog");
    assert.equal((await deployed()).epoch, 0);
  }
  await ops.confirm("try it on a few");
  await ops.shows(/answers 5% of users/, "#notice");
  await ops.page.waitForFunction(() => /serving/.test(document.querySelector("#hosts").innerText));
  await ops.change("canary", pushed, "#service");
  await ops.shows(/instead of the current 5%/, "dialog");
  await ops.page.$eval("#change-percent", (input) => input.focus());
  await ops.page.keyboard.type("25");
  await ops.confirm("it does no harm");
  await ops.shows(/answers 25% of users/, "#notice");
  await ops.page.waitForFunction(() => document.querySelector("#hosts tbody td.number")?.textContent === "2");
});

step("the counts say what they count", async () => {
  await ask("home", 60);
  await ops.shows(/60 requests observed/, "#report");
  const report = await ops.text("#report");
  const [, compared] = /Compared\s+(\d+)\s*of 60 observed, from its own users only/.exec(report) ?? [];
  assert.ok(Number(compared) > 0 && Number(compared) < 60, report);
  assert.doesNotMatch(report, /requests were compared/);
});

step("a canary that fails is withdrawn, and is promoted only by somebody who says that they know", async () => {
  // Its breaker opens after three users each time, and so few fail by chance as well.
  for (let opened = 0; opened < 8 && (await deployed()).canary; opened += 1) {
    await ask("trap", 40, opened * 40);
    await pause(BREAKER_OPEN_MS);
  }
  await ops.shows(/withdrawn, change 3/, "#versions");
  await ops.shows(/canary withdrawn: (it failed for about )?\d+ of \d+ (users|decisions)/, "#report");
  await ops.change("promote", pushed);
  await ops.shows(/This version was withdrawn as a canary/, "dialog .notice");
  await ops.shows(
    /Change 3, by automatic.*canary withdrawn: (it failed for about )?\d+ of \d+ (users|decisions)/,
    "dialog .notice",
  );
  await ops.shows(/Compared\s+\d+ of \d+ requests, as a canary under change 2/, "dialog .evidence");
  await ops.shows(/Failed\s+\d/, "dialog .evidence");
  await ops.shows(/checks passed, \d+ noted/, "dialog .evidence");
  await ops.axe("promote");
  // The wrong way: a reason, but no word that the warning was read.
  await ops.page.type("dialog textarea", "it was bad luck");
  await ops.page.click("dialog button.main");
  await ops.shows(/Tick the box to confirm, or cancel/, "dialog");
  assert.deepEqual([(await deployed()).epoch, (await deployed()).champion], [3, champion]);
  // Nor does another program get past the host.
  const headers = {
    authorization: `Bearer ${ops.token("models:admin")}`,
    "content-type": "application/json",
    "if-match": '"3"',
  };
  const body = JSON.stringify({ champion: pushed, reason: "x" });
  const refused = await fetch(`${service.assist}/admin/models/nudge/deployment`, { method: "PUT", headers, body });
  assert.equal((await refused.json()).errors[0].field, "despite_setback");
  await ops.page.click("#change-despite_setback");
  await ops.page.click("dialog button.main");
  await ops.shows(/is the champion/, "#notice");
  assert.equal((await deployed()).champion, pushed);
});

step("a rollback shows what it returns to, and the version that it left is marked", async () => {
  await ops.page.waitForFunction(() => document.querySelector("#hosts tbody td.number")?.textContent === "4");
  await ops.shows(/Answers if [^\n]* For a day it is also compared with the champion, until \d/, "#service");
  await ops.change("roll-back", champion, "#service");
  await ops.shows(/Champion\s+until change 4/, "dialog .evidence");
  await ops.shows(/Its successor\s+Nothing has been compared with nudge-1/, "dialog .evidence");
  await ops.shows(/Champion\s+since change 4/, "dialog .evidence + .evidence");
  await ops.shows(/Answers now\s+everyone, as the champion/, "dialog .evidence + .evidence");
  await ops.shows(/will answer every nudge request/, "dialog");
  await ops.axe("roll-back");
  // The wrong way: without a reason, and not after all.
  await ops.page.click("dialog button.main");
  await ops.shows(/Enter a reason/, "dialog");
  await ops.cancel();
  assert.equal((await deployed()).epoch, 4);
  await ops.change("roll-back", champion, "#service");
  await ops.confirm("it fails");
  await ops.shows(/Rolled back: .* is the champion again/, "#notice");
  await ops.shows(/rolled back, change 5/, "#versions");
  await ops.change("promote", pushed);
  await ops.shows(/This version was rolled back/, "dialog .notice");
  await ops.cancel();
});

step("a rollback while the version that was left is on trial again ends the trial and promotes nothing", async () => {
  await ops.change("canary", pushed);
  await ops.shows(/This version was rolled back/, "dialog .notice");
  assert.equal(await ops.page.$("#change-despite_setback"), null, "a trial is no promotion");
  await ops.confirm("a second try");
  await ops.shows(/answers 5% of users/, "#notice");
  await ops.shows(/Roll back ends the canary; nudge-1\.[^\n]* goes on answering everyone/, "#service");
  await ops.change("roll-back", champion, "#service");
  await ops.shows(/ends: it answers nobody and is not promoted/, "dialog");
  await ops.confirm("no better");
  await ops.shows(/The trial has ended/, "#notice");
  const now = await deployed();
  assert.deepEqual([now.champion, now.canary], [champion, null]);
});

step("another canary, a shadow or the end of a trial say which canary they end", async () => {
  await ops.change("canary", pushed);
  await ops.confirm("a third try");
  // The next dialog is drawn from what the page has read.
  await ops.shows(/answers 5% of users/, "#notice");
  await ops.change("add-shadow", pushed);
  await ops.shows(/is no longer the canary/, "dialog");
  await ops.confirm("only compare it");
  await ops.shows(/is a shadow/, "#notice");
  assert.equal((await deployed()).canary, null);
  await ops.change("remove-shadow", pushed, "#service");
  await ops.confirm("enough");
  await ops.shows(/is no longer a shadow/, "#notice");
});

/** What the parts of the session in rollout.mjs use. */
const session = () => ({ ops, champion, pushed, deployed, served, ask });

step("a rollout takes its steps by itself, is paused and resumed, and promotes", () => rollOut(session()));

step("a rollout that violates a bound stops, and can be aborted", () => stopAndAbort(session()));

step("traffic is drawn, and the same in numbers", () => readTraffic(ops, SCOPE));

step("two versions are compared side by side", () => compareVersions(ops));

step("identifiers can be copied", async () => {
  await ops.page.bringToFront();
  // Charts above it appear at any time, so a click at a place may miss it, and a redrawn table no longer says so.
  const isSaid = (/** @type {Element} */ it) =>
    new Promise((done) => {
      const look = () => it.textContent?.includes("Copied") && done(true);
      new MutationObserver(look).observe(it, { childList: true, characterData: true, subtree: true });
      /** @type {HTMLElement} */ (it).click();
    });
  await ops.page.$eval(`#versions [data-copy="${pushed}"]`, isSaid);
  assert.equal(await ops.page.evaluate(() => navigator.clipboard.readText()), pushed);
});

step("what waits for a person is shown: an approval, and a payment", async () => {
  await ops.shows(/None waiting/, "#approvals");
  await ops.shows(/None/, "#payments");
  // The rail has not decided on them.
  await pay(service, [1500.5, 1500.5, 1500.5]);
  await ops.page.evaluate(() => {
    location.hash = "#risk";
  });
  await ops.shows(/Risk/, "#kind-title");
  const first = (await service.version("risk-1.")).model_version;
  await ops.change("promote", first);
  await ops.shows(/never compared with risk-2\./, "dialog .evidence");
  await ops.page.type("dialog textarea", "try the baseline");
  await ops.page.click("dialog button.main");
  await ops.shows(/Tick the box to confirm, or cancel/, "dialog");
  await ops.page.click("#change-despite_setback");
  await ops.page.click("dialog button.main");
  await ops.shows(/Nothing has changed yet. Another operator has to approve this/, "#notice");
  await ops.shows(new RegExp(`Deploy ${first.replace("+", "\\+")} for risk[\\s\\S]*try the baseline`), "#approvals");
  await ops.shows(/1,500\.50/, "#payments");
  await ops.axe("waiting");
  assert.ok(await ops.page.$eval("#approvals [data-decide]", (it) => it.getBoundingClientRect().right <= innerWidth));
  // Wide tables scroll on their own; the page does not.
  for (const width of [390, 320]) {
    await ops.page.setViewport({ width, height: 844 });
    assert.ok((await ops.page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} pixels`);
    await ops.axe(`narrow-${width}`);
  }
  await ops.page.setViewport({ width: 1280, height: 900 });
});

step("a second operator reads the action and approves or rejects it; the first one cannot", async () => {
  const first = (await service.version("risk-1.")).model_version;
  await ops.press("Decide", "#approvals");
  await ops.shows(/What is known about risk-1[\s\S]*What will happen:[\s\S]*will answer every risk request/, "dialog");
  assert.match(await ops.page.$eval("dialog", (it) => it.textContent), /Digest [0-9a-f]{64}.*"type": "deploy"/s);
  await ops.press("Approve", "dialog");
  await ops.shows(/Tick the box to confirm that you have read the action/, "dialog");
  await ops.page.click("#decide-read");
  await ops.press("Approve", "dialog");
  await ops.shows(/another operator/i, "dialog .notice");
  await ops.axe("decide");
  await ops.shot("decide");
  await ops.cancel();
  assert.notEqual((await deployed("risk")).champion, first);
  const eva = await Operator.at(browser, service);
  await eva.page.type("#token", eva.token(SCOPE, "eva"));
  await eva.press("Sign in");
  await eva.shows(new RegExp(`Deploy ${first.replace("+", "\\+")} for risk`), "#approvals");
  await eva.press("Decide", "#approvals");
  await eva.page.click("#decide-read");
  await eva.press("Approve", "dialog");
  await eva.shows(/Approved and carried out/, "#notice");
  assert.equal((await deployed("risk")).champion, first);
  await eva.page.close();
  await ops.shows(/None waiting/, "#approvals");
  // The first operator's notice has ended.
  await ops.page.waitForFunction(() => document.querySelector("#notice").innerText === "");
  const headers = { authorization: `Bearer ${ops.token(SCOPE)}`, "content-type": "application/json" };
  const body = JSON.stringify({ perTransfer: 900_000, reason: "a house" });
  const asked = await fetch(`${service.assist}/admin/users/ana/limits`, { method: "PUT", headers, body });
  assert.equal(asked.status, 202);
  await ops.shows(/Set the limits of ana[\s\S]*900,000\.00 MXN[\s\S]*a house/, "#approvals");
  await ops.press("Decide", "#approvals");
  await ops.shows(/Set the limits of ana[\s\S]*The limits apply to the next transfer/, "dialog");
  await ops.press("Withdraw", "dialog");
  await ops.shows(/Withdrawn: nothing was changed/, "#notice");
  await ops.page.click("#approvals > details > summary");
  await ops.shows(/ops\s+✕ withdrawn\s+ops[\s\S]*ops\s+✓ carried out\s+eva/, "#approvals");
  await ops.axe("decided");
});

step("a customer is looked up by a tracking key, and what is not found is said", async () => {
  const support = await Operator.at(browser, service);
  await support.page.type("#token", support.token("ledger:read"));
  await support.press("Sign in");
  await support.shows(/Each look-up is recorded/, "#customers-part");
  assert.equal(
    await support.page.$eval("#models", (it) => it.checkVisibility()),
    false,
    "the token is for customers only",
  );
  await support.press("Look up");
  await support.shows(/Enter what the customer quotes/, "#customers-part");
  await support.page.type("#customer-quoted", "nobody");
  await support.page.keyboard.press("Enter");
  await support.shows(/There is no such customer/, "#customer");
  await support.page.$eval("#customer-quoted", (it) => it.select());
  await support.page.type("#customer-quoted", "ana");
  await support.page.keyboard.press("Enter");
  await support.shows(/Transfers[\s\S]*1,500\.50[\s\S]*Payees[\s\S]*Luis Pérez/, "#customer");
  const [key] = /CAUD[0-9A-Z]{26}/.exec(await support.text("#customer"));
  await support.page.select("#customer-by", "trackingKey");
  await support.page.$eval("#customer-quoted", (it) => it.select());
  await support.page.type("#customer-quoted", key);
  await support.page.keyboard.press("Enter");
  await support.shows(/Payment with this tracking key/, "#customer");
  await support.axe("customer");
  await support.page.setViewport({ width: 320, height: 844 });
  assert.ok((await support.page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
  await support.press("Sign out");
  assert.equal(await support.text("#customer"), "");
  await support.page.close();
});

step("the session left no fault behind", () => {
  // What the browser logs about refusals that the session provoked on purpose.
  assert.deepEqual(
    ops.faults.filter((it) => !/422|status of 4\d\d/.test(it)),
    [],
  );
});
