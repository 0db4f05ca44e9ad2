// A provider, a host that trusts it, and people who sign in by keyboard.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { launch } from "../parity/chromium.mjs";
import { Service } from "../parity/service.mjs";
import { Person } from "../web/person.mjs";

const PROGRAM = fileURLToPath(new URL("./provider.mjs", import.meta.url));
/** Numbers that the bank issues, without their check digits: any range will do. */
const CLABES = "64618011040000000-64618011049999999";

/** The provider as a process, which ends with this one. */
export class Issuer {
  static async start(args = []) {
    const issuer = new Issuer();
    issuer.process = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    for await (const line of createInterface(issuer.process.stdout)) {
      Object.assign(issuer, JSON.parse(line));
      return issuer;
    }
    throw new Error("the provider did not start");
  }

  async tell(path, body = {}) {
    const response = await fetch(this.control + path, { method: "POST", body: JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    return answer;
  }

  /** Any token; see provider.mjs. */
  async mint(about) {
    return (await this.tell("/mint", about)).token;
  }

  end() {
    this.process.stdin.end();
  }
}

let users = 0;

/** A unique name. */
export function newUser() {
  users += 1;
  return `user-${process.pid}-${users}`;
}

/** One user's request, apart from the page. */
export async function call({ service, issuer }, user, method, path, body) {
  const headers = { authorization: `Bearer ${await issuer.mint({ user })}`, "content-type": "application/json" };
  return fetch(service.ledger + path, { method, headers, body: body && JSON.stringify(body) });
}

/** A user with an account. */
export async function withAccount(stage) {
  const user = newUser();
  const opened = await call(stage, user, "POST", "/api/ledger/accounts", { accountType: "checking" });
  if (!opened.ok) throw new Error(`${opened.status} ${await opened.text()}`);
  return user;
}

export class Customer extends Person {
  static async at(stage, { hash = "", ...about } = {}) {
    const person = await Person.at(stage.browser, stage.service.ledger + hash, about);
    const customer = Object.setPrototypeOf(person, Customer.prototype);
    customer.stage = stage;
    return customer;
  }

  /** To the provider's login. */
  async departs() {
    await this.activates("button", /^(Entrar con mi usuario|Sign in with my bank login)$/);
    await this.arrives("Acceso de prueba");
  }

  /** There and back again. */
  async signsInAs(user) {
    await this.departs();
    await this.types(user);
    await this.press("Enter");
    await this.page.waitForSelector("#leave");
    await this.settles();
  }

  stored(key) {
    return this.page.evaluate((name) => sessionStorage.getItem(name), key);
  }

  /** Waits until the page has renewed its token. */
  async renews() {
    const before = await this.stored("caudal.token");
    await this.page.waitForFunction((old) => ![null, old].includes(sessionStorage.getItem("caudal.token")), {}, before);
  }

  address() {
    return this.page.evaluate(() => location.href);
  }
}

/** @param {string[]} settings more of the host's */
export async function setUp(settings = []) {
  const [issuer, browser] = await Promise.all([Issuer.start(), launch(["--lang=es-MX"])]);
  const trust = ["--jwt-keys", "discover", "--jwt-issuer", issuer.issuer, "--jwt-audience", issuer.audience];
  const more = [...trust, "--sign-in-client", issuer.client, "--console-client", "caudal-console", ...settings];
  // The private Postgres has one role.
  const service = await Service.start(more, ["--rail", "instant", "--clabe-range", CLABES]).catch(async (error) => {
    issuer.end();
    await browser.close();
    throw error;
  });
  return { issuer, browser, service };
}

export async function tearDown({ issuer, browser, service }) {
  await browser?.close();
  await service?.end();
  issuer?.end();
}
