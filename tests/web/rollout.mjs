// What an operator does with a rollout at the console, and what it shows of versions over time and side by side: parts of
// the session in operator.test.mjs, which has the page, the host and the versions.

import assert from "node:assert/strict";

const fill = (ops, name, value) =>
  ops.page.$eval(
    `#change-${name}`,
    (input, text) => {
      input.value = text;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
    value,
  );

/** A rollout takes its steps by itself, is paused and resumed, and promotes. */
export async function rollOut({ ops, pushed, deployed, served, ask }) {
  await ops.change("rollout", pushed);
  await ops.shows(/This version was rolled back/, "dialog .notice");
  await ops.shows(/is compared on every[\s\S]*of 5%, then of 25% of users, then of everyone/, "dialog");
  // The wrong way: shares that shrink, and no word that the warning was read.
  const fields = { "steps-1": "60", "steps-2": "30", step_decisions: "80", minutes: "0" };
  const bounds = { max_failure_percent: "10", max_flip_percent: "10" };
  // Steps are added up to the service's limit, and removed. The dialog's own buttons may lie above a place to click.
  const press = (selector) => ops.page.$eval(`dialog .shares ${selector}`, (it) => it.click());
  await press("li:nth-child(1) button");
  for (const [name, value] of Object.entries({ ...fields, ...bounds })) await fill(ops, name, value);
  for (let shares = 3; shares <= 9; shares += 1) await press("+ button");
  assert.equal(await ops.page.$eval("dialog .shares + button", (it) => it.checkVisibility()), false);
  await ops.shows(/Step 10\s*100%, everyone/, "dialog");
  await ops.page.click("dialog button.main");
  await ops.shows(/Enter a whole number from 0 to 99 for each step/, "dialog");
  assert.equal(await ops.page.evaluate(() => document.activeElement.id), "change-steps-3");
  for (let shares = 9; shares >= 4; shares -= 1) await press(`li:nth-child(${shares}) button`);
  await ops.page.type("#change-steps-3", "95");
  await ops.shows(/of 60%, then of 30%, then of 95% of users/, "dialog");
  await press("li:nth-child(3) button");
  await ops.page.type("dialog textarea", "in steps");
  await ops.page.click("dialog button.main");
  await ops.shows(/Tick the box to confirm, or cancel/, "dialog");
  await ops.page.click("#change-despite_setback");
  await ops.page.click("dialog button.main");
  await ops.shows(/each larger than the one before/, "dialog");
  const before = (await deployed()).epoch;
  await fill(ops, "steps-2", "90");
  await ops.axe("rollout-dialog");
  await ops.page.click("dialog button.main");
  await ops.shows(/The rollout has begun/, "#notice");
  assert.deepEqual([(await deployed()).epoch, (await deployed()).canary.percent], [before + 1, 60]);
  await ops.shows(/60% now[\s\S]*90% to come[\s\S]*100% to come/, "#rollout");
  await ops.shows(/Waiting: 0 of 80 decisions/, "#rollout");
  await ops.change("pause-rollout", pushed, "#rollout");
  await ops.shows(/Kept with the rollout until its next change/, "dialog");
  await ops.confirm("lunch");
  await ops.shows(/paused/, "#rollout .state");
  await ops.shows(/Paused by ops since [^\n]*: lunch/, "#rollout .notice");
  await served(before + 1);
  await ask("home", 200);
  await ops.shows(/Decisions at this step\s+(8\d|9\d|1\d\d)\b/, "#rollout");
  assert.equal((await deployed()).epoch, before + 1, "it is paused");
  await ops.shot("rollout");
  await ops.axe("rollout");
  await ops.change("resume-rollout", pushed, "#rollout");
  await ops.confirm("back");
  await ops.shows(/60% done[\s\S]*90% now/, "#rollout");
  await served(before + 2);
  await ask("home", 200);
  await ops.shows(/No rollout is under way/, "#rollout");
  assert.equal((await deployed()).champion, pushed);
  await ops.shows(/rollout, step 3 of 3 \(100%\) after[^\n]*rollout of ops/, "#history");
}

/** One that violates a bound stops; another is aborted. */
export async function stopAndAbort({ ops, champion, pushed, deployed, served, ask }) {
  await ops.change("rollout", champion);
  await ops.cancel();
  await ops.change("roll-back", champion, "#service");
  await ops.confirm("once more");
  await ops.shows(/Rolled back/, "#notice");
  await ops.change("rollout", pushed);
  await ops.page.click("#change-despite_setback");
  await ops.page.$eval("dialog .shares li:nth-child(1) button", (it) => it.click());
  for (const [step, share] of ["60", "90"].entries()) await fill(ops, `steps-${step + 1}`, share);
  await ops.confirm("it will fail");
  await ops.shows(/The rollout has begun/, "#notice");
  await served((await deployed()).epoch);
  await ask("trap", 20);
  await ops.shows(/The rollout stopped at 60% of users/, "#rollout");
  assert.deepEqual([(await deployed()).champion, (await deployed()).canary], [champion, null]);
  await ops.axe("stopped");
  await ops.shot("stopped");
  await ops.change("rollout", pushed);
  await ops.page.click("#change-despite_setback");
  await ops.confirm("only to end it");
  await ops.shows(/The rollout has begun/, "#notice");
  await ops.change("abort-rollout", pushed, "#rollout");
  await ops.page.click("dialog button.main");
  await ops.shows(/Enter a reason/, "dialog");
  await ops.confirm("enough");
  await ops.shows(/The rollout is aborted/, "#notice");
  assert.equal((await deployed()).canary, null);
}

/** Traffic is drawn, and the same in numbers. */
export async function readTraffic(ops, scope) {
  await ops.page.reload({ waitUntil: "networkidle0" });
  await ops.signIn(scope);
  await ops.shows(/Answers per minute/, "#traffic");
  await ops.page.waitForSelector("#chart-answered canvas");
  await ops.shows(/Failed decisions/, "#traffic");
  // The first screens show what is in service with its buttons, and of a wide window also where the charts begin.
  for (const [width, height, selector] of [
    [1440, 900, "#chart-answered .caption"],
    [390, 844, '#service [data-change="roll-back"]'],
  ]) {
    await ops.page.setViewport({ width, height });
    const end = await ops.page.$eval(selector, (it) => it.getBoundingClientRect().bottom + scrollY);
    assert.ok(end <= height, `${selector} ends at ${end}`);
  }
  await ops.page.setViewport({ width: 1280, height: 900 });
  await ops.shows(/Classes given by nudge-1/, "#traffic");
  const said = await ops.page.$eval("#chart-answered .picture", (it) => it.getAttribute("aria-label"));
  assert.match(said, /nudge-1\.0\.0\+[0-9a-f]{8}: .* peak/);
  await ops.page.focus("#chart-answered .picture");
  for (const key of ["Home", "ArrowRight"]) await ops.page.keyboard.press(key);
  const shown = await ops.page.$eval("#chart-answered .picture", (it) => it.getAttribute("aria-valuetext"));
  assert.match(shown, /^\d\d:\d\d, (changes? .*, )?nudge-1\.0\.0\+[0-9a-f]{8} /);
  await ops.page.click("#chart-answered summary");
  await ops.page.waitForSelector("#chart-answered table.series tbody tr");
  await ops.page.select("#traffic-range", "2");
  await ops.page.waitForFunction(() => document.querySelectorAll("#chart-answered table.series tbody tr").length >= 1);
  await ops.axe("traffic");
  await ops.shot("traffic");
}

/** Two versions are compared side by side: of nudge, one without a card, and of risk, with their weights. */
export async function compareVersions(ops) {
  await ops.page.click("#compare button");
  await ops.shows(/Compare versions/, "dialog");
  await ops.shows(/passed the program’s own tests instead/, "dialog");
  await ops.axe("compare");
  await ops.page.keyboard.press("Escape");
  await ops.page.evaluate(() => {
    location.hash = "#risk";
  });
  await ops.shows(/Risk/, "#kind-title");
  await ops.page.waitForSelector("#compare button");
  await ops.page.click("#compare button");
  await ops.shows(/Coefficients: coefficient[\s\S]*Rows that differ[\s\S]*≠ differs/, "dialog");
  await ops.shot("compare");
  await ops.page.keyboard.press("Escape");
  await ops.page.evaluate(() => {
    location.hash = "#nudge";
  });
  await ops.shows(/Nudge/, "#kind-title");
}
