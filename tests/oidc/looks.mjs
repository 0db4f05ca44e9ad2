// How the sign-in looks: axe with all its rules, in every theme and size, and no horizontal scrolling.

import assert from "node:assert/strict";
import { test } from "node:test";

import { AXE, dress, SCALES, shoot, THEMES, tooWide, violations } from "../web/looks.mjs";
import { Customer } from "./stage.mjs";

/** A state of the screen, and how the address leads there. */
const STATES = { "sign-in": "/", "sign-in-fault": "/?error=access_denied&state=guessed" };

export function looks(stage) {
  test("the sign-in in every theme and size: nothing found by axe, nothing cut off", async () => {
    const found = [];
    for (const language of ["es-MX", "en"]) {
      const it = await Customer.at(stage, { language });
      for (const [state, path] of Object.entries(STATES)) {
        await it.page.goto(stage.service.ledger + path);
        await it.settles();
        // Through the debugger, to which the page's policy does not apply.
        await it.page.evaluate(AXE);
        // A theme looks the same in both languages.
        const themes = language === "en" ? { light: THEMES.light } : THEMES;
        for (const [theme, about] of Object.entries(themes)) {
          for (const scale of SCALES) {
            await dress(it, about, scale);
            found.push(...(await violations(it)).map((one) => ({ state, language, theme, scale, ...one })));
          }
          await it.page.setViewport({ width: 320, height: 640 });
          const nodes = await tooWide(it);
          if (nodes) found.push({ state, language, theme, id: "reflow", nodes });
          await it.page.setViewport({ width: 1280, height: 900 });
        }
        await dress(it, THEMES.light, 1);
        for (const width of [390, 1280]) {
          await it.page.setViewport({ width, height: 900 });
          await shoot(it, `provider-${state}-${language}-${width}`);
        }
      }
      await it.leaves();
    }
    assert.deepEqual(found, []);
  });
}
