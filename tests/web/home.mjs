// The home and the statement in the browser: a transfer with one tap, what a search covers, a file, a page on paper.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { newUser, OTHER, PAYEE, SAVINGS } from "./bank.mjs";
import { tooWide } from "./looks.mjs";
import { Person } from "./person.mjs";

/** Of a person who would like to run a formula on somebody else's computer. */
const HOSTILE = { ...OTHER, name: '=HYPERLINK("x";"Premio")' };

/** Resolves to the only file that a browser has downloaded, once it is whole. */
async function downloaded(folder) {
  for (;;) {
    const [name] = (await readdir(folder)).filter((it) => it.endsWith(".csv"));
    if (name) return { name, text: await readFile(join(folder, name), "utf8") };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function home(stage) {
  const signedIn = (more, looks) => Person.signedIn(stage, more, looks);

  test("the home of somebody new says what comes next", async () => {
    const { browser, line } = stage;
    const it = await Person.at(browser, line.url);
    await it.signsIn(newUser());
    await it.sees("Todavía no tienes una cuenta");
    await it.sees("Recibir dinero con la CLABE que te asigna el banco");
    await it.activates("link", "Abrir una cuenta");
    await it.picks("Cuenta de ahorro");
    await it.activates("button", "Abrir la cuenta");
    await it.arrives("Mis cuentas");
    await it.sees("Cuenta de ahorro", ".total");
    await it.sees("$10,000.00", ".total");
    await it.sees("Agrega a alguien y podrás empezar aquí una transferencia");
    await it.sees("Depósito de apertura");
    await it.leaves();
  });

  test("one tap on a recent payee starts a transfer to them", async () => {
    const { it, api } = await signedIn({ payees: [OTHER, PAYEE], count: 1 });
    // The one who was paid comes first.
    const names = () => it.page.$$eval(".person strong", (all) => all.map((one) => one.textContent));
    assert.deepEqual(await names(), [OTHER.name, "Luis Pérez (mi hermano)"]);
    await it.sees(/Hoy, \d\d:\d\d · Completada/);
    await it.activates("link", /Transferir a Luis Pérez/);
    await it.arrives("Cuánto");
    await it.sees("Luis Pérez (mi hermano)");
    // With two accounts, the person first sees where the money comes from.
    await api.openAccount(SAVINGS);
    await it.page.evaluate(() => Object.assign(location, { hash: "/accounts" }));
    await it.arrives("Mis cuentas");
    await it.sees("En 2 cuentas");
    await it.activates("link", /Transferir a María/);
    await it.arrives("Desde qué cuenta");
    const chosen = await it.page.$$eval("input:checked", (all) => all.map((one) => one.closest("label").innerText));
    assert.match(chosen.join(), /646[\s\S]*María/);
    await it.leaves();
  });

  test("payees and movements that fail do not take the balance with them", async () => {
    const { line } = stage;
    const { it } = await signedIn({ count: 1 });
    line.answer("GET", "/api/ledger/beneficiaries", { status: 503, body: "{}" });
    await it.page.reload();
    await it.arrives("Mis cuentas");
    await it.sees("$9,900.00", ".total");
    await it.sees("−$100.00", ".movements");
    line.restore();
    await it.activates("button", "Intentar de nuevo");
    await it.sees("Luis Pérez", ".payees");
    await it.leaves();
  });

  test("the home follows the money while it is open, under the same focus, and comes back with the connection", async (t) => {
    const { line } = stage;
    t.after(() => line.restore());
    const { it, api, account, payee } = await signedIn({ count: 1 });
    await it.sees("$9,900.00", ".total");
    await it.sees("−$100.00", ".movements");
    const online = () => it.page.evaluate(() => void window.dispatchEvent(new Event("online")));
    await it.tabsTo("link", /Luis Pérez/);
    const { name } = await it.focused();
    // From another device.
    await api.send(account, payee, 250);
    await online();
    await it.sees("$9,650.00", ".total");
    await it.sees("−$250.00", ".movements");
    await it.settles();
    assert.equal((await it.focused()).name, name);
    line.cut();
    await it.opens("Ayuda y accesibilidad");
    await it.opens("Mis cuentas");
    await it.sees("Sin conexión con el banco. Última actualización");
    line.restore();
    await online();
    await it.page.waitForFunction(() => !document.querySelector("main").innerText.includes("Sin conexión"));
    await it.leaves();
  });

  test("the home and the statement fit every width, up to 400 % zoom", async () => {
    const { it } = await signedIn({ count: 2, payees: [PAYEE, OTHER] });
    for (const path of ["/accounts", "/history"]) {
      await it.page.evaluate((hash) => Object.assign(location, { hash }), path);
      await it.settles();
      for (const width of [320, 390, 768, 1280, 1920]) {
        await it.page.setViewport({ width, height: 800 });
        assert.equal(await tooWide(it), null, `${path} at ${width}`);
      }
    }
    // The width is used: movements stand beside the balance.
    await it.page.setViewport({ width: 1280, height: 800 });
    await it.opens("Mis cuentas");
    const [total, movements] = await it.page.$$eval(".total, .movements", (all) =>
      all.map((one) => one.getBoundingClientRect().left),
    );
    assert.ok(movements > total + 400);
    await it.leaves();
  });

  test("a search goes through all pages, says so, and outlives a receipt", async () => {
    const { line } = stage;
    const { it, api, account, payees } = await signedIn({ count: 12, payees: [PAYEE, OTHER] });
    await api.send(account, payees[1], 77.5);
    await it.opens("Movimientos");
    const rows = () => it.page.$$eval(".movement", (all) => all.length);
    assert.equal(await rows(), 10);
    const search = async (text) => {
      await it.tabsTo("searchbox", "Buscar");
      await it.page.$eval("[name=text]", (input) => input.select());
      await it.types(text);
      await it.press("Enter");
    };
    await search("apertura");
    await it.sees("1 movimiento encontrado Periodo revisado: desde la apertura de la cuenta (14 movimientos).");
    assert.equal(await rows(), 1);
    await search("maria 77.5");
    await it.sees("1 movimiento encontrado");
    await it.activates("link", OTHER.name);
    await it.arrives(/Transferencia/);
    await it.page.goBack();
    await it.arrives("Movimientos");
    await it.sees("1 movimiento encontrado");
    assert.equal(await it.page.$eval("[name=text]", (input) => input.value), "maria 77.5");
    await search("nadie");
    await it.sees("Ningún movimiento coincide");
    await it.activates("button", "Borrar búsqueda y filtros");
    await it.page.waitForFunction(() => document.querySelectorAll(".movement").length === 10);

    // In or out, and days: the ledger is asked for no more than these.
    const from = line.requests.length;
    await it.page.select("[name=direction]", "in");
    const today = new Intl.DateTimeFormat("en-CA", { timeZone: "America/Mexico_City" }).format();
    await it.page.$eval("[name=from]", (input, day) => Object.assign(input, { value: day }), today);
    await it.activates("button", "Buscar");
    await it.sees(/1 movimiento encontrado Periodo revisado: desde el \S+ \d+ de/);
    const asked = line.seen("GET", "/api/ledger/accounts/", from).map(({ path }) => path);
    assert.match(asked.join(), /entries\?limit=1000&from=\d{4}-\d\d-\d\dT0[5-7]:00:00\.000Z/);
    // What was looked for is not in the address.
    assert.doesNotMatch(await it.page.evaluate(() => location.href.slice(location.origin.length)), /maria|77/);
    await it.activates("button", "Salir");
    await it.arrives("Entrar");
    await it.leaves();
  });

  test("a file has every movement, and no formula of others", async () => {
    const folder = await mkdtemp(join(tmpdir(), "caudal-csv-"));
    const { it } = await signedIn({ count: 12, payees: [HOSTILE] });
    await it.cdp.send("Browser.setDownloadBehavior", {
      behavior: "allow",
      downloadPath: folder,
      browserContextId: it.context.id,
    });
    await it.opens("Movimientos");
    await it.activates("button", "Descargar para Excel (CSV)");
    const { name, text } = await downloaded(folder);
    assert.match(name, /^caudal-movimientos-0007-\d{4}-\d\d-\d\d\.csv$/);
    assert.equal(text.charCodeAt(0), 0xfeff);
    const [head, ...lines] = text.slice(1).trimEnd().split("\r\n");
    assert.match(head, /^"Fecha","Hora \(Ciudad de México\)","Movimiento"/);
    assert.equal(lines.length, 13);
    for (const line of lines.slice(0, 12)) {
      assert.match(line, /,"'=HYPERLINK\(""x"";""Premio""\)",/);
      assert.match(line, /,-100\.00,\d+\.00$/);
    }
    await it.sees("Periodo revisado: desde la apertura de la cuenta (13 movimientos).");
    await it.leaves();
    await rm(folder, { recursive: true });
  });

  test("on paper it is a statement: whose, of which account, from when, and sums that add up", async () => {
    const { it, user } = await signedIn({ count: 12 });
    await it.opens("Movimientos");
    await it.page.evaluate(() => Object.assign(window, { print: () => Object.assign(window, { isPrinted: true }) }));
    await it.activates("button", "Imprimir");
    await it.page.waitForFunction(() => window.isPrinted);
    // As browsers do around printing.
    await it.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await it.page.emulateMediaType("print");
    const paper = await it.text("body");
    for (const said of [
      "Movimientos de la cuenta",
      user,
      "Cuenta de cheques",
      "646 180 11040000000 7",
      "Saldo inicial $0.00 MXN",
      "Abonos $10,000.00 MXN",
      "Cargos $1,200.00 MXN",
      "Saldo final $8,800.00 MXN",
      "sin validez fiscal",
    ])
      assert.ok(paper.includes(said), `${said} in ${paper}`);
    assert.doesNotMatch(paper, /Descargar|Buscar|Salir|Menú/);
    assert.equal(await it.page.$$eval(".paper tbody tr", (all) => all.length), 13);
    await it.page.emulateMediaType("screen");
    await it.page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await it.page.$(".paper"), null);
    await it.leaves();
  });
}
