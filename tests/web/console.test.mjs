// The model console in Chromium, in front of the real host: signing in, every change, the report, and a lost race.
//
//   CAUDAL                 the program under test
//   CAUDAL_WEB_SHOTS       a folder outside of the repository for screenshots; none are made without it

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { SOUND, textOf } from "../parity/hostile.mjs";
import { program, Service } from "../parity/service.mjs";
import { Operator, pay } from "./console.mjs";

const REQUESTS = 60;
/** Reject from 2,000 pesos on and want a review from 1,000 on. */
const STRICT = `same_account,amount,requirement,parameter
= 1,,reject,same-account
,> available,reject,insufficient-funds
,<= 0,reject,limit-exceeded
,>= 200000,reject,limit-exceeded
,>= 100000,review,
`;

let service;
let browser;
let page;
let ops;
/** The version of the strict rules. */
let strict;

before(async () => {
  service = await Service.start();
  browser = await launch();
  ops = await Operator.at(browser, service);
  ({ page } = ops);
});

after(async () => {
  await browser?.close();
  await service?.end();
});

/** A person who decides on reviews, and does nothing else. */
async function reviewer(name) {
  const operator = await Operator.at(browser, service);
  await operator.page.type("#token", operator.token("ledger:operate", name));
  await operator.press("Sign in");
  await operator.shows(/MXN from ana/, "#reviews");
  return operator;
}

test("a token is required, and one without the scope is read-only", async () => {
  await ops.shot("sign-in");
  await ops.press("Sign in");
  await ops.shows(/Paste a token/);
  await ops.signIn("audit:read");
  await ops.shows(/This token is read-only/);
  assert.equal(await page.$("[data-change]"), null);
  await ops.press("Sign out");
  // A token for the rules shows nothing else.
  await ops.signIn("rules:admin");
  await ops.shows(/Transfer rules/, "#kind-title");
  assert.equal((await page.$$("#kinds a")).length, 1);
  await ops.press("Sign out");
  await ops.signIn("models:admin rules:admin");
  await ops.shows(/risk-2\.0\.0/, "#service");
});

test("a shadow and a canary are compared with the champion", async () => {
  await ops.press("Add shadow", "#versions");
  await ops.shows(/What will happen:/, "dialog");
  await ops.press("Add shadow", "dialog");
  await ops.shows(/Enter a reason/, "dialog");
  await ops.confirm("compare the baseline");
  await ops.shows(/is a shadow\. This is change 1/, "#notice");
  for (let at = 0; at < REQUESTS; at += 1) {
    const amount = String(100 + at * 50);
    await service.post("/ai/risk", textOf({ ...SOUND.risk, amount, user_id: `"user-${at}"` }));
  }
  await ops.shows(/requests observed/, "#report");
  await page.waitForSelector("#report svg.plot");
  // Redrawing every two seconds leaves an open part open.
  await page.click("#report summary");
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  assert.equal(await page.$eval("#report details", (it) => it.open), true);
  await ops.shot("report");
  // A shadow is removed first, and what was typed waits for the same change only.
  await ops.press("Roll out", "#versions");
  await ops.shows(/Before the rollout: remove the shadow/, "dialog");
  await page.type("dialog textarea", "it agrees");
  await page.click("dialog button.main");
  await ops.shows(/Decisions per step/, "dialog");
  await page.$eval("#change-minutes", (it) => {
    it.value = "0";
  });
  await page.type("dialog textarea", "in steps");
  await ops.cancel();
  const typed = () => page.$$eval("dialog :is(#change-minutes, textarea)", (all) => all.map((it) => it.value));
  await ops.press("Start canary", "#versions");
  assert.deepEqual(await typed(), [""]);
  await ops.cancel();
  await ops.press("Roll out", "#versions");
  assert.deepEqual(await typed(), ["0", "in steps"]);
  await ops.cancel();
  await ops.press("Start canary", "#versions");
  await ops.shot("canary");
  await ops.confirm("try it on a few");
  await ops.shows(/answers 5% of users/, "#notice");
  await ops.press("Stop canary", "#service");
  await ops.confirm("enough");
  await ops.shows(/The canary is stopped/, "#notice");
});

test("details show the gate's report and the card; a file that is not WebAssembly is not sent", async () => {
  await ops.press("Details", "#versions");
  await ops.shows(/Model card/, "dialog");
  await ops.shows(/are not signed separately/, "dialog");
  await ops.shot("details");
  await page.setViewport({ width: 320, height: 640 });
  assert.equal(await page.$eval("dialog", (it) => it.scrollWidth > it.clientWidth), false, "no digest makes it wider");
  await page.setViewport({ width: 1280, height: 900 });
  await ops.press("Close", "dialog");
  await ops.press("Push a component");
  await (await page.$("#push-file")).uploadFile(new URL(import.meta.url).pathname);
  await ops.press("Push", "dialog form");
  await ops.shows(/This is not a WebAssembly file/, "dialog");
  await ops.press("Cancel", "dialog");
});

test("a change that comes too late changes nothing and names the earlier one", async () => {
  await ops.press("Promote", "#versions");
  await page.click("#change-despite_setback");
  await service.deploy("risk", "risk-1.");
  await ops.confirm("mine");
  await ops.shows(/Nothing was changed/, "#notice");
  await ops.shows(/was made in the meantime by ops: “?parity/, "#notice");
  await ops.shot("late");
  // The refusal itself is logged by the browser.
  assert.deepEqual(
    ops.faults.splice(0).filter((it) => !it.includes("412")),
    [],
  );
});

test("a token that ends is replaced above the open dialog, and nothing that was typed is lost", async () => {
  const late = await Operator.at(browser, service);
  await late.page.type("#token", late.token("models:admin", "ops", "90s"));
  await late.press("Sign in");
  await late.shows(/Your token ends at/, ".notices");
  await late.press("Roll back", "#service");
  await late.page.type("dialog textarea", "it is too slow");
  // As the host answers once the token has ended.
  await late.page.evaluate(() => {
    const { fetch } = globalThis;
    globalThis.fetch = async () => {
      globalThis.fetch = fetch;
      return Response.json({ status: 401, code: "unauthorized", title: "Unauthorized" }, { status: 401 });
    };
  });
  await late.page.click("dialog button.main");
  await late.shows(/Signed in as ops/, "dialog.locked");
  await late.page.type("#token", late.token("models:admin", "eva"));
  await late.press("Sign in", "dialog.locked");
  await late.shows(/This is another operator’s token/, "dialog.locked");
  await late.axe("expired");
  await late.page.$eval("#token", (it) => it.select());
  await late.page.type("#token", late.token("models:admin"));
  await late.press("Sign in", "dialog.locked");
  await late.shows(/Nothing was changed[\s\S]*confirm once more/, "dialog");
  assert.equal(await late.page.$eval("dialog textarea", (it) => it.value), "it is too slow");
  await late.page.click("dialog button.main");
  await late.shows(/Rolled back/, "#notice");
  await late.press("Sign out");
  await late.shows(/Bearer token/, "#sign-in");
  await late.page.close();
});

test("rules that are not deployed are tried on past orders, and what would differ is shown", async () => {
  const [table, file] = ["rules.csv", "rules.wasm"].map((name) => join(service.folder, name));
  writeFileSync(table, STRICT);
  const build = ["models", "build", "--rules", "7.0.0", "--from", table, "--output", file];
  execFileSync(program(), ["--data-dir", service.folder, ...build]);
  strict = /registered as (\S+)/.exec((await service.push(file)).stdout)[1];
  const { ask } = await pay(service, [2500.5, 3000, 10]);
  const [paid] = (await ask("/api/ledger/transactions")).filter((it) => it.amount === 3000);
  const fraud = { subject_id: paid.id, kind: "confirmed_fraud", source: "test", known_at: paid.createdAt };
  const headers = { authorization: `Bearer ${ops.token("outcomes:write")}`, "content-type": "application/x-ndjson" };
  assert.equal((await service.post("/admin/outcomes", JSON.stringify(fraud), headers)).status, 200);

  await page.evaluate(() => {
    location.hash = "#transfer-rules";
  });
  await ops.shows(/transfer-rules-7/, "#versions");
  // Charts above it appear at any time, so a click at a place may miss it.
  await page.$eval("[data-what-if]", (it) => it.click());
  // The wrong way: nothing to try, and for too long.
  await ops.press("Try", "dialog form");
  await ops.shows(/Choose a version of one kind or of both/, "dialog");
  await page.select("#change-transfer-rules", strict);
  await page.$eval("#change-days", (it) => it.select());
  await page.keyboard.type("401");
  await ops.press("Try", "dialog form");
  await ops.shows(/Enter a whole number from 1 to 400/, "dialog");
  await page.$eval("#change-days", (it) => it.select());
  await page.keyboard.type("1");
  await ops.press("Try", "dialog form");
  await ops.shows(/Orders: 3\. Decisions that would differ: 2/, "dialog");
  const shown =
    /accepted\s+limit exceeded\s+2\s+5,500\.50\s+1,000 to 5,000: 2\s+saved today: 2\s+confirmed fraud: 1\s+not known: 1/;
  await ops.shows(shown, "dialog tbody");
  await page.click("dialog .details summary");
  await ops.shows(new RegExp(paid.id), "dialog details");
  await ops.axe("what-if");
  await page.setViewport({ width: 320, height: 640 });
  assert.equal(await page.$eval("dialog", (it) => it.scrollWidth > it.clientWidth), false, "it fits");
  await page.setViewport({ width: 1280, height: 900 });
  // What the host refuses is said.
  await page.evaluate(() => {
    const { fetch } = globalThis;
    globalThis.fetch = (path, options) => {
      globalThis.fetch = fetch;
      return fetch(path, { ...options, body: options.body.replace("+", "-") });
    };
  });
  await ops.press("Try", "dialog form");
  await ops.shows(/must be a registered version of transfer-rules/, "dialog .notice");
  await ops.press("Close", "dialog");
  assert.deepEqual(
    ops.faults.splice(0).filter((it) => !it.includes("422")),
    [],
  );
  await page.evaluate(() => {
    location.hash = "#risk";
  });
});

test("a transfer under review is claimed by one person, who refuses or releases it", async () => {
  const rules = { authorization: `Bearer ${ops.token("rules:admin")}`, "content-type": "application/json" };
  const body = JSON.stringify({ champion: strict, reason: "look at them" });
  const path = `${service.assist}/admin/models/transfer-rules/deployment`;
  const deployed = await fetch(path, { method: "PUT", headers: { ...rules, "if-match": '"0"' }, body });
  assert.equal(deployed.status, 200);
  while ((await (await fetch(`${service.assist}/ai/health`)).json()).models["transfer-rules"].version !== strict)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const { ask, account } = await pay(service, [1200, 1500.5]);
  const balance = async () => (await ask(`/api/ledger/accounts/${account.id}/balance`)).balance;
  const before = await balance();
  const eva = await reviewer("eva");
  await eva.press("Claim", "#reviews");
  await eva.shows(/Yours to decide for an hour: 1,200\.00 MXN from ana to Luis Pérez/, "#notice");
  const bea = await reviewer("bea");
  await bea.shows(/1,200\.00 MXN from ana[\s\S]*BBVA 012180004643051249[\s\S]*Claimed by\s+eva since/, "#reviews");
  // Hers alone: the only other button is of the other transfer.
  const buttons = () => bea.page.$$eval("#reviews [data-review]", (all) => all.map((it) => it.textContent));
  assert.deepEqual(await buttons(), ["Claim: 1,500.50 MXN from ana to Luis Pérez"]);
  await bea.axe("reviews");
  await bea.page.close();

  await eva.page.bringToFront();
  await eva.press("Refuse as scam", "#reviews");
  await eva.shows(/The money returns to ana[\s\S]*the customer ordered it, deceived/, "dialog");
  await eva.axe("review");
  await eva.page.click("dialog button.main");
  await eva.shows(/Enter a reason/, "dialog");
  await eva.confirm("ana called");
  await eva.shows(/Refused, and recorded as an authorised scam/, "#notice");
  assert.equal(await balance(), before + 1200);
  await eva.press("Claim", "#reviews");
  await eva.shows(/1,500\.50 MXN/, "#notice");
  await eva.press("Release", "#reviews");
  // Somebody altered it meanwhile, as far as this answer goes.
  await eva.page.evaluate(() => {
    const { fetch } = globalThis;
    globalThis.fetch = async () => {
      globalThis.fetch = fetch;
      const title = "The payment is not as it was entered";
      return Response.json(
        { status: 409, code: "payment-altered", title, detail: "Run `caudal verify`." },
        { status: 409 },
      );
    };
  });
  await eva.page.type("dialog textarea", "confirmed by phone");
  await eva.page.click("dialog button.main");
  await eva.shows(/not as it was entered\s+Run `caudal verify`/, "dialog .notice");
  await eva.page.click("dialog button.main");
  await eva.shows(/Released, and recorded as a false alarm/, "#notice");
  await eva.shows(/None waiting/, "#reviews");
  const statuses = (await ask("/api/ledger/transactions")).filter((it) => [1200, 1500.5].includes(it.amount));
  assert.deepEqual(statuses.map((it) => `${it.amount} ${it.status}`).sort(), ["1200 failed", "1500.5 completed"]);
  assert.deepEqual([...eva.faults, ...bea.faults], []);
  await eva.page.close();
});

test("axe finds nothing, in both colour schemes", async () => {
  await ops.axe("page");
  assert.deepEqual(ops.faults, []);
});
