// What a payer tells the payee, and the day to which SPEI counts a payment.

import assert from "node:assert/strict";
import { test } from "node:test";

import { conceptFault, readConcept, readReference, referenceFault } from "../../host/web/bank/remittance.js";

test("concepts and references are read like the bank reads them", () => {
  for (const [text, concept] of [
    ["", null],
    [" \t\n ", null],
    ["  Renta  de\u00a0noviembre \n", "Renta de noviembre"],
    ["ñ".repeat(40), "ñ".repeat(40)],
    ["🎂".repeat(40), "🎂".repeat(40)],
  ]) {
    assert.equal(readConcept(text), concept);
    assert.equal(conceptFault(text), "");
  }
  for (const text of [
    "ñ".repeat(41),
    "🎂".repeat(41),
    "a\u0000",
    "a\u202eb",
    "a\u200bb",
    "👩\u200d💻",
    "a\u00adb",
    "\u2800",
  ])
    assert.notEqual(conceptFault(text), "", text);
  for (const [text, reference] of [
    ["1", 1],
    ["0007", 7],
    ["9999999", 9_999_999],
    ["20 26 11", 202_611],
  ]) {
    assert.equal(readReference(text), reference);
    assert.equal(referenceFault(text), "");
  }
  assert.equal(referenceFault(""), "");
  for (const text of ["0", "0000000", "12345678", "00000001", "1.5", "-1", "1e3", "٣", "abc"]) {
    assert.equal(readReference(text), null);
    assert.notEqual(referenceFault(text), "", text);
  }
});
