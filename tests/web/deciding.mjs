// "How was this decided?": the page executes the rules again and checks what the bank signed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { check } from "../../host/web/bank/receipt-proof.js";
import { OTHER, PAYEE } from "./bank.mjs";
import { isSound } from "./looks.mjs";
import { Person } from "./person.mjs";

const ASK = "¿Cómo se decidió?";
const OUTCOME = "la respuesta es idéntica";

/** What the page may load for it, and the time from the key to the outcome on a phone's processor. */
const BYTES_MAX = 120_000;
const MS_MAX = 300;
/** A phone's processor beside this one. */
const SLOWER = 4;

/** Numbers and texts in a value, each with what puts another one there. */
function* parts(value) {
  for (const [key, part] of Object.entries(value)) {
    if (typeof part === "object") yield* parts(part);
    else yield { part, set: (other) => Object.assign(value, { [key]: other }) };
  }
}

function* altered(part) {
  if (typeof part === "boolean") yield !part;
  else if (typeof part === "number") yield* [part + 1, -part - 1];
  else {
    for (let at = 0; at < part.length; at += 1) {
      yield part.slice(0, at) + (part[at] === "0" ? "1" : "0") + part.slice(at + 1);
    }
  }
}

export function deciding(stage) {
  test("the rules are executed again in the page, and what was altered is not accepted", async (t) => {
    t.after(() => stage.line.restore());
    const { it, api } = await Person.signedIn(stage, { count: 1, payees: [PAYEE, OTHER] });
    const [{ id }] = await api.transfers();
    const path = `/api/ledger/transactions/${id}/receipt`;
    const receipt = await api.call("GET", path);
    await it.opens("Movimientos");
    await it.page.waitForSelector(".movement a");
    await it.activates("link", PAYEE.name);
    await it.arrives("Transferencia enviada");
    const cdp = await it.page.createCDPSession();
    await cdp.send("Network.enable");
    let bytes = 0;
    cdp.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    // Timed in the page, because it takes longer to find and press the key than to check the receipt.
    await it.page.evaluate((outcome) => {
      addEventListener("keydown", ({ timeStamp }) => Object.assign(window, { asked: timeStamp }), true);
      const seen = new MutationObserver(() => {
        if (!document.querySelector("main").innerText.includes(outcome)) return;
        seen.disconnect();
        Object.assign(window, { answered: performance.now() });
      });
      seen.observe(document.querySelector("main"), { childList: true, subtree: true });
    }, OUTCOME);
    await it.activates("DisclosureTriangle", ASK);
    await it.sees(OUTCOME, "main");
    const ms = await it.page.evaluate(() => window.answered - window.asked);
    t.diagnostic(`${Math.round(ms)} ms of ${MS_MAX}, ${bytes} bytes`);
    await cdp.detach();
    assert.ok(bytes > 1_000 && bytes <= BYTES_MAX, `${bytes} bytes`);
    await it.sees("el banco la firmó", "main");
    await isSound(it);
    await it.leaves();

    // What the page takes for proven is what the bank signed.
    const isProven = async (answer) => {
      const { isSealed, isSigned } = await check(answer);
      return isSealed && isSigned === true;
    };
    assert.ok(await isProven(receipt));
    let mutations = 0;
    const copy = structuredClone(receipt);
    for (const { part, set } of parts(copy.receipt)) {
      for (const other of altered(part)) {
        set(other);
        assert.equal(await isProven(copy), false, `${other} instead of ${part}`);
        mutations += 1;
      }
      set(part);
    }
    t.diagnostic(`${mutations} altered receipts`);
    assert.ok(mutations > 900, `${mutations}`);
  });

  test("a receipt that the bank did not sign is told as such", async (t) => {
    t.after(() => stage.line.restore());
    const { it, api } = await Person.signedIn(stage, { count: 1, payees: [PAYEE, OTHER] });
    const [{ id }] = await api.transfers();
    const path = `/api/ledger/transactions/${id}/receipt`;
    const receipt = await api.call("GET", path);
    receipt.receipt.decisions[0].facts[0].value += 1;
    const headers = { "content-type": "application/json" };
    stage.line.answer("GET", path, { status: 200, headers, body: JSON.stringify(receipt) });
    await it.opens("Movimientos");
    await it.page.waitForSelector(".movement a");
    await it.activates("link", PAYEE.name);
    await it.arrives("Transferencia enviada");
    await it.activates("DisclosureTriangle", ASK);
    await it.sees("La comprobación falló", "main");
    await it.leaves();
  });
}
