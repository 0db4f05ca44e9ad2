// How the page looks, also to assistive technology: axe with all its rules, on every screen, in every theme and size; no
// horizontal scrolling at 320 pixels; one h1 and no skipped level; and the accessibility tree of each screen, compared with
// the reviewed snapshot.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import { newUser } from "./bank.mjs";
import { Person } from "./person.mjs";
import { tour } from "./tour.mjs";
import { besides, frameOf, treeOf } from "./tree.mjs";

export const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SNAPSHOTS = new URL("./snapshots/", import.meta.url);

const media = (scheme, contrast = "no-preference") => [
  { name: "prefers-color-scheme", value: scheme },
  { name: "prefers-contrast", value: contrast },
  // A colour in transition has neither contrast.
  { name: "prefers-reduced-motion", value: "reduce" },
];

/** The looks of devices, and the three stored themes. */
export const THEMES = {
  light: { features: media("light"), theme: "standard-accessible" },
  dark: { features: media("dark"), theme: "standard-accessible" },
  "high contrast": { features: media("light", "more"), theme: "standard-accessible" },
  "standard-accessible": { features: media("dark", "more"), theme: "standard-accessible" },
  "large-text-high-contrast": { features: media("light"), theme: "large-text-high-contrast" },
  "voice-assisted": { features: media("light"), theme: "voice-assisted" },
};
export const SCALES = [1, 1.6, 2];

export async function dress(it, { features, theme }, scale) {
  await it.cdp.send("Emulation.setEmulatedMedia", { features });
  await it.page.evaluate(
    (name, size) => {
      document.documentElement.dataset.theme = name;
      document.documentElement.style.setProperty("--font-scale", String(size));
    },
    theme,
    scale,
  );
}

/** What axe finds with all its rules, including AAA and experimental ones. */
export function violations(it) {
  return it.page.evaluate(async () => {
    const rules = Object.fromEntries(axe.getRules().map(({ ruleId }) => [ruleId, { enabled: true }]));
    // Selectors of everything that is fine took half of the time.
    const found = await axe.run(document, { rules, resultTypes: ["violations"], selectors: false });
    return found.violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.map((node) => `${node.html} ${node.failureSummary}`),
    }));
  });
}

/** Headings, ids and language, which axe checks less strictly. */
function outline(it) {
  return it.page.evaluate(() => {
    const shown = [...document.querySelectorAll("h1, h2, h3, h4")].filter((heading) => heading.checkVisibility());
    return {
      levels: shown.map((heading) => Number(heading.tagName[1])),
      ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
      lang: document.documentElement.lang,
    };
  });
}

/** What makes the page scroll horizontally, or null. */
export function tooWide(it) {
  return it.page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return null;
    const all = [...document.querySelectorAll("body *")].filter((element) => !element.closest(".streams, .heard"));
    const wide = all.filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
    return wide.map((element) => element.outerHTML.slice(0, 80));
  });
}

function checkOutline({ levels, ids, lang }, name) {
  assert.equal(levels.filter((level) => level === 1).length, 1, `${name}: one h1`);
  assert.equal(levels[0], 1, `${name}: the first heading is the h1`);
  levels.forEach((level, place) =>
    assert.ok(place === 0 || level <= levels[place - 1] + 1, `${name}: levels ${levels}`),
  );
  assert.equal(new Set(ids).size, ids.length, `${name}: ids are unique`);
  assert.equal(lang, "es-MX");
}

/** Compares with what is stored, or renews it. */
function compare(name, text) {
  const file = new URL(`${name}.txt`, SNAPSHOTS);
  if (process.env.CAUDAL_WEB_SNAPSHOTS === "renew") {
    mkdirSync(SNAPSHOTS, { recursive: true });
    writeFileSync(file, text);
    return;
  }
  const advice = "the accessibility tree has changed; review it, and renew it with CAUDAL_WEB_SNAPSHOTS=renew";
  assert.equal(text, readFileSync(file, "utf8"), `${name}: ${advice}`);
}

/** Compares the trees of all screens. What they share is stored once. @param {Map<string, string>} trees */
function compareTrees(trees) {
  const frame = frameOf(trees.get("accounts"));
  compare("frame", frame.join(""));
  for (const [name, tree] of trees) compare(name, besides(frame, tree));
}

export async function shoot(it, name) {
  const folder = process.env.CAUDAL_WEB_SHOTS;
  if (folder) await it.page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

export function looks(stage) {
  test("every screen in every theme and size: nothing found by axe, nothing cut off, the same tree", async (t) => {
    const { bank, browser, line } = stage;
    t.after(() => line.restore());
    const user = newUser();
    const api = await bank.as(user);
    const it = await Person.at(browser, line.url);
    // Time stands still: how long axe takes must not make the page offer help.
    await it.page.evaluate(() => {
      const now = performance.now();
      performance.now = () => now;
    });
    // Through the debugger, to which the page's policy does not apply.
    await it.page.evaluate(AXE);
    const found = [];
    const trees = new Map();
    let runs = 0;
    const at = async (name) => {
      // Announcements follow what is shown after a moment.
      await it.pause(150);
      checkOutline(await outline(it), name);
      trees.set(name, await treeOf(it));
      for (const [theme, about] of Object.entries(THEMES)) {
        for (const scale of SCALES) {
          await dress(it, about, scale);
          const bad = await violations(it);
          runs += 1;
          found.push(...bad.map((one) => ({ name, theme, scale, ...one })));
        }
      }
      await it.page.setViewport({ width: 320, height: 640 });
      for (const [theme, about] of Object.entries(THEMES)) {
        for (const scale of process.env.CAUDAL_WEB_LONG ? SCALES : [1, 2]) {
          await dress(it, about, scale);
          const nodes = await tooWide(it);
          if (nodes) found.push({ name, theme, scale, id: "reflow", nodes });
        }
      }
      await dress(it, THEMES.light, 1);
      found.push(...(await violations(it)).map((one) => ({ name, theme: "light at 320", scale: 1, ...one })));
      runs += 1;
      await shoot(it, `${name}-320`);
      await it.page.setViewport({ width: 1280, height: 900 });
      await shoot(it, name);
    };
    await tour(it, { api, line, at });
    t.diagnostic(`${runs} runs of axe`);
    assert.deepEqual(found, []);
    compareTrees(trees);
    await it.leaves();
  });
}

/** Nothing found by axe, and nothing cut off on a phone. */
export async function isSound(it) {
  await it.page.evaluate(AXE);
  for (const width of [1280, 390]) {
    await it.page.setViewport({ width, height: 900 });
    assert.deepEqual(await violations(it), []);
    assert.equal(await tooWide(it), null);
  }
  await it.page.setViewport({ width: 1280, height: 900 });
}
