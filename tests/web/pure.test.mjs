// The pure parts of the page: money, account numbers, facts, words, offers of help, behaviour, tokens.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { bankNames, bankOf, publicName } from "../../host/web/bank/banks.js";
import { observe } from "../../host/web/bank/behaviour.js";
import { groupsOf, groupWhileTyping, isSameBank, readNumber, sayNumber } from "../../host/web/bank/clabe.js";
import { riskFacts } from "../../host/web/bank/facts.js";
import { CENTAVOS_MAX, fromPesos, readAmount, sayMoney, toJson, writeMoney } from "../../host/web/bank/money.js";
import { LEVELS, mayOffer, noOffers } from "../../host/web/bank/nudge-rules.js";
import { TEXTS, t } from "../../host/web/bank/words.js";
import { claimsOf, tokenIn } from "../../host/web/shared/token.js";

const WEB = new URL("../../host/web/", import.meta.url);
const FOLDER = new URL("bank/", WEB);

test("amounts are read as they are written in Mexico", () => {
  for (const [text, centavos] of [
    ["1500.50", 150050],
    ["1,500.50", 150050],
    ["$1,500.5", 150050],
    ["1500", 150000],
    ["0.01", 1],
    [".5", 50],
    ["12.", 1200],
    [" 1 500.00 MXN ", 150000],
    ["1.500", 150],
    ["007.10", 710],
    ["90,071,992,547,409.91", CENTAVOS_MAX],
  ])
    assert.deepEqual(readAmount(text), { centavos }, text);
});

test("invalid amounts say why", () => {
  for (const [text, fault] of [
    ["", "empty"],
    ["  ", "empty"],
    ["$", "empty"],
    ["12,50", "comma"],
    ["1,5", "comma"],
    ["abc", "not-a-number"],
    ["1,2345", "not-a-number"],
    ["1,23,456", "not-a-number"],
    ["1.2.3", "not-a-number"],
    [".", "not-a-number"],
    ["1e3", "not-a-number"],
    ["0", "too-small"],
    ["0.00", "too-small"],
    ["-5", "too-small"],
    ["-x", "not-a-number"],
    ["1.005", "too-precise"],
    ["90071992547409.92", "too-large"],
    ["٣", "not-a-number"],
  ])
    assert.deepEqual(readAmount(text), { fault }, text);
});

test("money is written for the eye, the ear and the wire", () => {
  assert.equal(writeMoney(123450), "$1,234.50\u00a0MXN");
  assert.equal(writeMoney(-5), "\u2212$0.05\u00a0MXN");
  assert.equal(writeMoney(100000000), "$1,000,000.00\u00a0MXN");
  assert.equal(sayMoney(123450, "es-MX"), "1,234 pesos con 50 centavos");
  assert.equal(sayMoney(101, "es-MX"), "1 peso con 1 centavo");
  assert.equal(sayMoney(200000000, "es-MX"), "2,000,000 de pesos");
  assert.equal(sayMoney(200000000, "en"), "2,000,000 pesos");
  assert.equal(sayMoney(-200, "en"), "minus 2 pesos");
  assert.equal(toJson(150050), "1500.50");
  assert.equal(toJson(1), "0.01");
  assert.equal(toJson(CENTAVOS_MAX), "90071992547409.91");
});

test("every amount up to a million pesos survives a JSON round trip", () => {
  for (let centavos = 1; centavos < 100_000_000; centavos += 9_973) {
    assert.equal(fromPesos(JSON.parse(toJson(centavos))), centavos);
    assert.deepEqual(readAmount(writeMoney(centavos)), { centavos });
  }
});

test("account numbers say what they are", () => {
  for (const [text, kind, bank, checks] of [
    ["646180110400000007", "clabe", "STP", true],
    ["646-180 1104 0000 0007", "clabe", "STP", true],
    ["012180004643051249", "clabe", "BBVA", true],
    ["032180000118359719", "clabe", null, true],
    ["000000000000000000", "clabe", null, true],
    ["002000000000000007", "clabe", "Banamex", false],
    ["123456789012345678", "clabe", null, false],
    ["4111 1111 1111 1111", "card", null, true],
    ["378282246310005", "card", null, true],
    ["4111111111111112", "other", null, true],
    ["5512345678", "phone", null, true],
    ["ABC-1", "other", null, true],
    ["", "other", null, true],
  ]) {
    const read = readNumber(text);
    assert.deepEqual([read.kind, read.bank, read.checks], [kind, bank, checks], text);
  }
});

test("the page has the host's list of banks", () => {
  const host = readFileSync(new URL("../../host/core/src/domain/banks.rs", import.meta.url), "utf8");
  const pairs = [
    ...host
      .split("BANKS: &[")[1]
      .split("];")[0]
      .matchAll(/\("(\d{3})", "([^"]+)"\)/g),
  ];
  assert.equal(pairs.length, bankNames().length);
  for (const [, code, name] of pairs) assert.equal(bankOf(code), name);
  const inUse = [
    ...host
      .split("PUBLIC_NAMES: &[")[1]
      .split("];")[0]
      .matchAll(/\("([^"]+)", "([^"]+)"\)/g),
  ];
  assert.ok(inUse.length > 0);
  for (const [, published, name] of inUse) assert.equal(publicName(published), name);
});

test("numbers are grouped, also while they are typed, and said digit by digit", () => {
  assert.deepEqual(groupsOf("646180110400000007"), ["646", "180", "11040000000", "7"]);
  assert.deepEqual(groupsOf("4111111111111111"), ["4111", "1111", "1111", "1111"]);
  assert.deepEqual(groupsOf("5512345678"), ["55", "1234", "5678"]);
  assert.deepEqual(groupsOf("GB33 BUKB"), ["GB33 BUKB"]);
  assert.equal(groupWhileTyping("6461801"), "646 180 1");
  assert.equal(groupWhileTyping("646 "), "646");
  assert.equal(groupWhileTyping("MX-12"), "MX-12");
  assert.equal(groupWhileTyping("6".repeat(19)), "6".repeat(19));
  assert.equal(sayNumber("5512345678"), "5 5, 1 2 3 4, 5 6 7 8");
  assert.ok(isSameBank("BBVA", "bbva México"));
  assert.ok(isSameBank("Uala", "Ualá"));
  assert.ok(isSameBank("Bajio", "BanBajío"));
  assert.ok(isSameBank("VePorMas", "Ve por Más"));
  assert.ok(isSameBank("BaBien", "Banco del Bienestar"));
  assert.ok(isSameBank("BaBien", "BaBien"));
  assert.ok(isSameBank("SpinOXXO", "Spin by OXXO"));
  assert.ok(!isSameBank("BaBien", "Banorte"));
  assert.ok(!isSameBank("BBVA", "Banorte"));
  assert.ok(!isSameBank("BBVA", "B"));
});

// ---- facts ----

const LUIS = { id: "p1", accountNumber: "012180004643051249" };
const LUIS_AGAIN = { id: "p2", accountNumber: "012-180 00464305124 9" };
const sent = (id, to, centavos, status = "completed") => ({ id, toBeneficiaryId: to, centavos, status });
const facts = (changes) =>
  riskFacts({
    draft: { payee: LUIS, centavos: 150050 },
    history: [],
    payees: [LUIS, LUIS_AGAIN],
    hour: 12,
    isNewDevice: false,
    hasMoved: false,
    ...changes,
  });

test("an empty history makes the payee new and the history low", () => {
  assert.deepEqual(facts({}), {
    amount: 1500.5,
    is_new_beneficiary: true,
    hour_of_day: 12,
    num_past_transactions: 0,
    avg_transaction_amount: 0,
    max_transaction_amount: 0,
    num_transactions_to_beneficiary: 0,
    is_new_device: false,
    geolocation_changed: false,
  });
});

test("only completed transfers count, by the payee's number", () => {
  const history = [
    sent("a", "p1", 10000),
    sent("b", "p2", 30000),
    sent("c", "gone", 20000),
    sent("d", "p1", 90000, "failed"),
    sent("e", "p1", 90000, "pending"),
  ];
  const found = facts({ history });
  assert.equal(found.num_past_transactions, 3);
  assert.equal(found.avg_transaction_amount, 200);
  assert.equal(found.max_transaction_amount, 300);
  assert.equal(found.num_transactions_to_beneficiary, 2);
  assert.equal(found.is_new_beneficiary, false);
});

test("a payee that is not known any more is still found by its id", () => {
  const found = facts({ history: [sent("a", "p1", 100)], payees: [] });
  assert.equal(found.num_transactions_to_beneficiary, 1);
  const unknown = facts({ draft: { payee: null, centavos: 100 }, history: [sent("a", "p1", 100)] });
  assert.deepEqual([unknown.is_new_beneficiary, unknown.num_transactions_to_beneficiary], [true, 0]);
});

test("how long a payee has been saved is sent only when known", () => {
  assert.equal("beneficiary_saved_minutes" in facts({}), false);
  assert.equal("beneficiary_saved_minutes" in facts({ savedAt: 200, now: 100 }), false);
  assert.equal(facts({ savedAt: 0, now: 31 * 60_000 + 59_999 }).beneficiary_saved_minutes, 31);
});

// ---- words ----

test("both languages have the same texts with the same places to fill in", () => {
  const { "es-MX": es, en } = TEXTS;
  assert.deepEqual(Object.keys(es).sort(), Object.keys(en).sort());
  const places = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((it) => it[1]).sort();
  for (const key of Object.keys(es)) {
    assert.deepEqual(places(es[key]), places(en[key]), key);
    assert.ok(es[key].trim() && en[key].trim(), key);
  }
});

test("the page does not speak like a translation", () => {
  const { "es-MX": es, en } = TEXTS;
  const said = (texts) => Object.values(texts).join("\n");
  for (const odd of [
    /le(s)? faltan? \{|te faltan? \{/,
    /Cómo le dices/,
    /De dónde sale y a quién/,
    /Te quedan/,
    /tu mejor forma/,
    /lo que llevabas/,
  ])
    assert.doesNotMatch(said(es), odd);
  for (const odd of [/in all\b/, /As it stands/, /looks like no/, /needs \{\w+\} more/])
    assert.doesNotMatch(said(en), odd);
  // One of something is never many: a number in a text is counted, or has words that fit any.
  const COUNTED = /\.(one|many)$/;
  const FITS_ANY = ["number.short"];
  for (const [key, text] of Object.entries({ ...es, ...en }))
    if (text.includes("{count}")) assert.ok(COUNTED.test(key) || FITS_ANY.includes(key), key);
});

test("a name that ends with a full stop ends the sentence", () => {
  assert.equal(t("payees.deleted", { name: "Renta S.A. de C.V." }), "Se eliminó a Renta S.A. de C.V.");
  assert.equal(t("payees.deleted", { name: "Luis" }), "Se eliminó a Luis.");
});

test("no version and no code is in a text that stands outside the details", () => {
  const INSIDE = /^(risk\.by\.|risk\.codes|nudge\.model|recommended\.model|problem\.(reference|code)$)/;
  for (const texts of Object.values(TEXTS)) {
    for (const [key, text] of Object.entries(texts))
      if (/\{(modelVersion|codes|what)\}/.test(text)) assert.match(key, INSIDE);
  }
  // Each of them is asked for in a call of `details`, or where one is filled.
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".js") && !name.startsWith("words-"));
  for (const name of files) {
    const source = readFileSync(new URL(name, FOLDER), "utf8");
    if (/modelVersion \}\)/.test(source)) assert.match(source, /details\(/, name);
  }
});

test("every text that the page asks for is there, and says nothing of age", () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".js") && !name.startsWith("words-"));
  const source = files.map((name) => readFileSync(new URL(name, FOLDER), "utf8")).join("\n");
  const asked = [...source.matchAll(/\bt\("([^"]+)"/g)].map((it) => it[1]);
  const counted = [...source.matchAll(/\bcounted\("([^"]+)"/g)].flatMap((it) => [`${it[1]}.one`, `${it[1]}.many`]);
  assert.ok(asked.length > 150);
  for (const key of [...asked, ...counted]) assert.ok(key in TEXTS.en, key);
  // A recommendation is never explained by an age, in either language.
  for (const texts of Object.values(TEXTS)) {
    const said = Object.entries(texts)
      .filter(([key]) => key.startsWith("recommended"))
      .map(([, text]) => text)
      .join(" ");
    assert.doesNotMatch(said, /\b(edad|age|años|years)\b/i);
  }
});

test("no file of a page parses markup, has inline styles or loads anything from elsewhere", () => {
  const files = ["bank", "console", "shared"].flatMap((it) =>
    readdirSync(new URL(it, WEB)).map((name) => `${it}/${name}`),
  );
  for (const name of [...files, "vendored/uPlot.iife.min.js"]) {
    const source = readFileSync(new URL(name, WEB), "utf8");
    assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, name);
    if (name.startsWith("vendored/")) continue;
    assert.doesNotMatch(source, /\sstyle="|\son\w+="/, name);
    assert.doesNotMatch(source, /https?:\/\/(?!www\.w3\.org\/2000\/svg|www\.banxico\.org\.mx\/cep\/")/, name);
    const isGenerated = source.includes("; generated from the host's declarations.");
    assert.ok(isGenerated || source.split("\n").length <= 400, `${name} is too long`);
  }
});

// ---- nudges and behaviour ----

const MINUTE_MS = 60_000;
const help = (kind) => ({ needs_help: kind !== "warning", recommended_nudge_type: kind });

test("help is offered once a screen, quietly after a dismissal, and as the level allows", () => {
  const memory = noOffers();
  const ask = (screen, kind, level, now) => mayOffer(memory, { screen, result: help(kind), level, now });
  assert.ok(ask("amount", "info", "medium", 0));
  assert.ok(!ask("amount", "warning", "high", 0));
  assert.ok(!ask("amount", "info", "low", 0));
  assert.ok(ask("amount", "assist", "low", 0));
  assert.ok(ask("amount", "info", "a level that is not known", 0));
  assert.ok(!mayOffer(memory, { screen: "amount", result: undefined, level: "high", now: 0 }));
  memory.offered.add("amount");
  assert.ok(!ask("amount", "assist", "high", 0));
  memory.dismissedAt = 0;
  assert.ok(!ask("payee", "assist", "medium", LEVELS.medium.quietMs - 1));
  assert.ok(ask("payee", "assist", "medium", LEVELS.medium.quietMs));
  assert.ok(ask("payee", "assist", "high", MINUTE_MS));
});

test("time counts while the page is in sight, going back by screen, errors by visit", () => {
  let now = 0;
  const seen = observe(() => now);
  assert.equal(seen.screenFacts(), null);
  seen.enter({ name: "amount", step: 2, steps: 4 });
  now = 30_000;
  seen.hidden();
  now = 100_000;
  seen.visible();
  now = 105_500;
  seen.failed(2);
  assert.deepEqual(seen.screenFacts(), {
    screen: "amount",
    num_validation_errors: 2,
    time_on_screen_seconds: 35,
    num_back_navigations: 0,
    steps_total: 4,
    current_step: 2,
  });
  seen.enter({ name: "review", step: 3, steps: 4 });
  now += 4_500;
  seen.askedForHelp();
  seen.enter({ name: "amount", step: 2, steps: 4, wentBack: true });
  assert.equal(seen.screenFacts().num_back_navigations, 1);
  assert.equal(seen.screenFacts().num_validation_errors, 0);
  assert.deepEqual(seen.visitFacts(), {
    avg_time_per_screen_seconds: 13,
    total_validation_errors: 2,
    requested_help_count: 1,
  });
  seen.forget();
  assert.deepEqual(seen.visitFacts(), {
    avg_time_per_screen_seconds: 0,
    total_validation_errors: 0,
    requested_help_count: 0,
  });
});

// ---- tokens ----

test("a token is found in what was pasted, and read without being trusted", () => {
  assert.equal(tokenIn("export TOKEN=aa.bb.cc"), "aa.bb.cc");
  assert.equal(tokenIn("  Bearer aa-_.bb.cc\n"), "aa-_.bb.cc");
  const payload = Buffer.from(JSON.stringify({ sub: "José", exp: 1_800_000_000 })).toString("base64url");
  assert.deepEqual(claimsOf(`x.${payload}.y`), { user: "José", expires: new Date(1_800_000_000_000), scopes: null });
  assert.deepEqual(claimsOf("nonsense"), { user: null, expires: null, scopes: null });
});
