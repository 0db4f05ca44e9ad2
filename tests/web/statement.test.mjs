// The statement: what a search finds, and files that spreadsheets cannot be tricked with.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Figure, neutral, writeCsv } from "../../host/web/bank/csv.js";
import { csvOf, totalsOf } from "../../host/web/bank/statement-export.js";
import { isActive, matches, noFilter } from "../../host/web/bank/statement-filter.js";
import { shortDay, startOf } from "../../host/web/bank/times.js";

/** A program that opens files must not run any of these. */
const HOSTILE = [
  '=HYPERLINK("http://evil.example","Premio")',
  "=cmd|' /C calc'!A0",
  "+1+1",
  "-1+1",
  "@SUM(A1:A9)",
  "\t=1+1",
  "\r=1+1",
  "\n=1+1",
  "\tLuis",
  "\rLuis",
  " =1+1",
  "\u00a0=1+1",
  "\u200b=1+1",
  "\ufeff=1+1",
  '"=1+1',
  "'=1+1",
  '"" =1+1',
  "“=1+1”",
  "＝1+1",
  "＋1",
  "－1",
  "＠SUM(1)",
  "\u22121",
];

/** The cells of a file as a spreadsheet reads them, by RFC 4180. */
function cellsOf(text) {
  const cells = [];
  const pattern = /(?:^|,|\r\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/gy;
  for (const [, quoted, plain] of text.matchAll(pattern)) cells.push(quoted?.replaceAll('""', '"') ?? plain);
  return cells;
}

test("no text of others becomes a formula", () => {
  for (const text of HOSTILE) {
    const [cell] = cellsOf(writeCsv([[text]]).slice(1));
    assert.match(cell, /^'/, JSON.stringify(text));
    assert.doesNotMatch(cell, /[\t\r\n]/, JSON.stringify(text));
  }
});

test("nor where a program takes other characters for the end of a cell", () => {
  for (const [text, expected] of [
    ["Luis;=1+1", "Luis;'=1+1"],
    ["Luis, @SUM(1)", "Luis, '@SUM(1)"],
    ['Luis;"=1+1', "Luis;\"'=1+1"],
    ["Luis\t=1+1", "Luis =1+1"],
    ["Luis|-1", "Luis|'-1"],
  ])
    assert.equal(neutral(text), expected);
});

test("ordinary names are not touched", () => {
  for (const text of ["Luis Pérez", "María-José", "Renta S.A. de C.V.", "Tú & Yo", "a=b", "1+1", "ana@casa", ""])
    assert.equal(neutral(text), text);
});

test("a cell ends where it should", () => {
  const text = writeCsv([
    ['dice "hola"', "a,b", "c\r\nd", new Figure("-1500.50")],
    ["=1", "", "ñ", new Figure("0.05")],
  ]);
  assert.equal(text, '\ufeff"dice ""hola""","a,b","c d",-1500.50\r\n"\'=1","","ñ",0.05\r\n');
});

test("only digits are written as a number", () => {
  for (const digits of ["", "=1", "1e3", "1,000", "+1", "--1", "1.", "0x1", "1\n=2"])
    assert.throws(() => new Figure(digits), JSON.stringify(digits));
});

const entry = (fields) => ({
  entry: {
    number: 1,
    createdAt: "2026-11-21T12:00:00Z",
    type: "transfer",
    centavos: -150_050,
    balance: 849_950,
    ...fields,
  },
  state: "completed",
});

test("a file has the exact amounts as numbers, and starts with the mark of UTF-8", () => {
  const text = csvOf([
    entry({ beneficiaryName: "=Luis", speiReference: "CAUD1", concept: "+52", numericReference: 7 }),
  ]);
  const [, line] = text.split("\r\n");
  assert.equal(text.charCodeAt(0), 0xfeff);
  assert.equal(line, '"2026-11-21","06:00:00","\'=Luis","\'+52","7","Completada","CAUD1",-1500.50,8499.50');
  assert.match(csvOf([entry({ centavos: 9_007_199_254_740_991 })]), /,90071992547409\.91,/);
});

test("a search looks at names, concepts, amounts and references, without accents", () => {
  const luis = entry({
    beneficiaryName: "Luis Pérez",
    speiReference: "CAUD0198",
    concept: "Renta",
    numericReference: 42,
  });
  for (const text of [
    "perez",
    "LUIS",
    "luis pérez",
    "pérez luis",
    "0198",
    "renta",
    "42",
    "1500",
    "1,500.50",
    "$1,500.5",
    "-1500",
    "luis 1500",
  ])
    assert.ok(matches(luis, { ...noFilter(), text }), text);
  for (const text of ["maría", "luis maría", "500", "1500.51", "luis 15001", "="])
    assert.ok(!matches(luis, { ...noFilter(), text }), text);
});

test("filters: in or out, state, and days in Mexico City, both included", () => {
  const out = entry({});
  const late = entry({ createdAt: "2026-11-22T05:59:59Z", centavos: 5 });
  const seen = (movement, filter) => matches(movement, { ...noFilter(), ...filter });
  assert.ok(seen(out, { direction: "out" }) && !seen(out, { direction: "in" }) && seen(late, { direction: "in" }));
  assert.ok(seen(out, { state: "completed" }) && !seen(out, { state: "failed" }));
  assert.ok(!seen({ ...late, state: null }, { state: "completed" }));
  assert.ok(seen(late, { from: "2026-11-21", to: "2026-11-21" }));
  assert.ok(!seen(late, { from: "2026-11-22" }) && !seen(late, { to: "2026-11-20" }));
  assert.ok(!isActive(noFilter()) && isActive({ ...noFilter(), to: "2026-11-20" }));
});

test("a day begins in Mexico City, also when its clocks were ahead", () => {
  assert.equal(startOf("2026-11-21").toISOString(), "2026-11-21T06:00:00.000Z");
  assert.equal(startOf("2021-07-01").toISOString(), "2021-07-01T05:00:00.000Z");
});

test("days are named as people do", () => {
  const now = new Date("2026-03-01T05:30:00Z");
  assert.equal(shortDay(new Date("2026-02-28T23:00:00Z"), now), "Hoy");
  assert.equal(shortDay(new Date("2026-02-28T05:59:00Z"), now), "Ayer");
  assert.match(shortDay(new Date("2026-02-26T12:00:00Z"), now), /^26 feb\.?$/);
  assert.match(shortDay(new Date("2025-12-26T12:00:00Z"), now), /^26 dic\.? 2025$/);
});

test("a statement adds up: what was there, what came and went, what is there", () => {
  const lines = [entry({ centavos: 300, balance: 1_200 }), entry({ centavos: -100, balance: 900 })];
  assert.deepEqual(totalsOf(lines), { opening: 1_000, credits: 300, debits: 100, closing: 1_200 });
  assert.deepEqual(totalsOf([]), { opening: 0, credits: 0, debits: 0, closing: 0 });
});
