// Visits every state of every screen, by the shortest way; other tests go there by keyboard.

import { OTHER, PAYEE, SAVINGS } from "./bank.mjs";

/** A number with a wrong check digit and another bank. */
const DOUBTFUL = {
  name: "Renta Departamento S.A. de C.V.",
  alias: "la renta",
  accountNumber: "646180110400000008",
  bankName: "Santander",
};

/**
 * Takes `it`, a Person who has not signed in, through the page and calls `at(name)` in each state. `api` acts for the same
 * user.
 */
export async function tour(it, { api, line, at }) {
  const { page } = it;
  const go = async (path) => {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, path);
    await it.settles();
  };
  const click = async (selector) => {
    await page.evaluate((wanted) => document.querySelector(wanted).click(), selector);
    await it.settles();
  };
  const write = (selector, text) =>
    page.evaluate(
      (wanted, value) => {
        const input = document.querySelector(wanted);
        input.value = value;
        for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
      },
      selector,
      text,
    );
  const submit = () => click("main form button[type=submit]");
  const pick = (value) => click(`input[type=radio][value="${value}"]`);

  const visit = async (path, name) => {
    await go(path);
    await at(name);
  };
  const refuse = async (name) => {
    await submit();
    await at(name);
  };

  await at("sign-in");
  await refuse("sign-in-errors");
  await write("[name=user]", api.user);
  await submit();
  await page.waitForSelector("#leave");
  await it.settles();

  await at("accounts-none");
  await visit("/beneficiaries", "payees-none");
  await visit("/schedules", "schedules-none");
  await visit("/history", "history-none");
  await visit("/transfer/parties", "transfer-without-account");
  await visit("/accounts/new", "account-new");
  await refuse("account-new-errors");
  await pick("checking");
  await submit();
  await it.arrives("Mis cuentas");
  await it.sees("$10,000.00");
  await api.openAccount(SAVINGS);
  await go("/history");
  await visit("/accounts", "accounts");

  await visit("/beneficiaries/new", "payee-new");
  await refuse("payee-new-errors");
  const luis = await api.savePayee(PAYEE);
  const doubtful = await api.savePayee(DOUBTFUL);
  const maria = await api.savePayee(OTHER);
  await visit("/beneficiaries", "payees");
  await click(".rows button");
  await at("payee-delete");
  await page.keyboard.press("Escape");
  await go(`/beneficiaries/edit?id=${luis.id}`);
  await click("[name=isFavorite]");
  await at("payee-edit");
  await write("[name=name]", "");
  await refuse("payee-edit-errors");
  await write("[name=name]", PAYEE.name);
  await submit();
  await it.arrives("Beneficiarios");
  await at("payees-favorite");

  const [account] = await api.accounts();
  await visit("/transfer/parties", "transfer-1");
  await refuse("transfer-1-errors");
  const toReview = async (payee, amount) => {
    await go("/transfer/parties");
    await pick(account.id);
    await pick(payee.id);
    await submit();
    await write("[name=amount]", amount);
    await submit();
    await it.arrives("Revisa antes");
  };
  await pick(account.id);
  await pick(luis.id);
  await submit();
  await at("transfer-2");
  await write("[name=amount]", "1,5");
  await write("[name=concept]", "Renta de noviembre del departamento en la Narvarte");
  await write("[name=numericReference]", "12345678");
  await refuse("transfer-2-errors");
  await write("[name=amount]", "1500.50");
  await write("[name=concept]", "Renta de noviembre");
  await write("[name=numericReference]", "202611");
  await submit();
  await it.arrives("Revisa antes");
  await at("transfer-3-question");
  await refuse("transfer-3-question-errors");
  const answer = async (purpose) => {
    await pick(purpose);
    await submit();
    await page.waitForSelector(".fitted");
    // Until the pause is over.
    await it.settles();
  };
  await answer("call");
  await at("transfer-3-fraud");
  await click(".answered button");
  await answer("known");
  await at("transfer-3-high");
  await refuse("transfer-3-high-errors");
  await click("[name=acknowledged]");
  line.cut();
  await page.evaluate(() => document.querySelector("main form button[type=submit]").click());
  await it.sees("Se perdió la conexión");
  await it.settles();
  await at("transfer-3-unsettled");
  line.restore();
  await submit();
  await it.arrives("Transferencia enviada");
  await at("transfer-4");
  for (let made = 0; made < 11; made += 1) await api.send(account, luis, 100);
  await visit("/history", "history");
  await toReview(luis, "100");
  await at("transfer-3-twin");
  await toReview(maria, "100");
  await at("transfer-3-medium");
  await page.evaluate(() => document.querySelector("main form button[type=submit]").click());
  await page.waitForSelector("dialog[open]");
  await at("transfer-3-medium-asked");
  await page.keyboard.press("Escape");
  await toReview(luis, "120");
  await at("transfer-3-low");
  await go("/transfer/schedule");
  await pick("monthly");
  await at("schedule-new");
  await refuse("schedule-new-errors");
  // Never a day that a month may lack, so that its words do not depend on today.
  const month = new Date(Date.now() + 45 * 86_400_000).toISOString().slice(0, 7);
  await write("[name=firstDate]", `${month}-15`);
  await submit();
  await it.arrives("Transferencias programadas");
  await at("schedules");

  await toReview(doubtful, "100");
  await at("transfer-3-doubtful");
  await page.goBack();
  await it.arrives("Cuánto");
  await at("transfer-2-doubtful");

  await visit("/help", "help");
  await refuse("help-errors");
  await pick("no");
  for (const value of ["no", "low", "60_plus"]) {
    // Only of the questions: the settings below have equal values.
    await page.evaluate((wanted) => {
      document
        .querySelector("form")
        .querySelectorAll(`input[value="${wanted}"]`)
        .forEach((radio) => radio.click());
    }, value);
  }
  await submit();
  await page.waitForSelector(".recommended");
  await at("help-recommended");
  await visit("/privacy", "privacy");

  line.cut();
  await go("/history");
  await it.sees("Se perdió la conexión");
  await at("failed");
  line.restore();
  await page.evaluate(() => sessionStorage.setItem("caudal.token", "a.b.c"));
  await go("/beneficiaries");
  await it.arrives("Entrar");
  await at("session-ended");
}
