// The real bank behind the page, and actions of other users or windows.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { program, Service } from "../parity/service.mjs";

const run = promisify(execFile);

export const CLABE = "646180110400000007";
export const SAVINGS = "072691004495711499";
export const PAYEE = { name: "Luis Pérez", alias: "mi hermano", accountNumber: "012180004643051249", bankName: "BBVA" };
export const OTHER = { name: "María Rodríguez", accountNumber: "002010077777777771", bankName: "Banamex" };

let users = 0;

/** A unique name. */
export function newUser() {
  users += 1;
  return `user-${process.pid}-${users}`;
}

/** `more` are arguments of the service. */
export async function startBank(more = []) {
  const service = await Service.start(more);

  /** A token as operators issue it. */
  const token = async (user, ...more) => {
    const args = ["--data-dir", service.folder, "token", "--user", user, ...more];
    return (await run(program(), args, { env: { ...process.env, CAUDAL_LOG: "warn" } })).stdout.trim();
  };

  /** One user's requests, apart from the page. */
  const as = async (user) => {
    const issued = await fetch(`${service.ledger}/sandbox/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user }),
    });
    const authorization = `Bearer ${(await issued.json()).token}`;
    const call = async (method, path, body) => {
      const headers = { authorization, "content-type": "application/json" };
      const response = await fetch(service.ledger + path, { method, headers, body: body && JSON.stringify(body) });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.status === 204 || response.status === 202 ? null : response.json();
    };
    const api = {
      user,
      call,
      accounts: () => call("GET", "/api/ledger/accounts"),
      payees: () => call("GET", "/api/ledger/beneficiaries"),
      transfers: () => call("GET", "/api/ledger/transactions"),
      openAccount: (accountNumber = CLABE) =>
        call("POST", "/api/ledger/accounts", { accountNumber, accountType: "checking" }),
      savePayee: (payee = PAYEE) => call("POST", "/api/ledger/beneficiaries", payee),
      deletePayee: (id) => call("DELETE", `/api/ledger/beneficiaries/${id}`),
      send: (from, to, amount) =>
        call("POST", "/api/ledger/transactions", { fromAccountId: from.id, toBeneficiaryId: to.id, amount }),
      profile: () => call("GET", "/api/profile/accessibility"),
      consent: () => call("GET", "/api/analytics/consent"),
    };
    return api;
  };

  return { service, token, as, end: () => service.end() };
}

/** A user with an account, a payee and `count` transfers to that payee. */
export async function settled(bank, { count = 0, amount = 100, payees = [PAYEE] } = {}) {
  const api = await bank.as(newUser());
  const account = await api.openAccount();
  const saved = [];
  for (const payee of payees) saved.push(await api.savePayee(payee));
  for (let made = 0; made < count; made += 1) await api.send(account, saved[0], amount);
  return { api, user: api.user, account, payee: saved[0], payees: saved };
}
