// How often ordinary customers meet the page's questions, warnings and pauses, and how many staged frauds do: the bank's
// real risk component and the page's real rules over simulated months. Run it as a program for the report:
//
//   node tests/web/frequency.mjs [seed]

import { pathToFileURL } from "node:url";

import { load } from "../../components/js/src/node.js";
import { riskFacts } from "../../host/web/bank/facts.js";
import { warningCodes } from "../../host/web/bank/payee-warnings.js";
import { cautionOf, isPaused } from "../../host/web/bank/warning-rules.js";
import { Customer, FRAUDS, KINDS } from "./customers.mjs";

export const SEED = 18;
const CUSTOMERS = 60;
const MONTHS = 18;
/** While everyone is a new payee and the bank knows nothing. */
const SETTLING_MONTHS = 2;
/** Frauds of each sort against each customer's copy. */
const FRAUDS_EACH = 2;
const HOURS = [9, 12, 15, 18, 21];

/** How the page meets a payment. */
export function meet(scorer, { seen, purpose }) {
  const facts = riskFacts(seen.facts);
  const { risk_level: level, risk_factors: factors } = scorer.assess(facts).result;
  const verdict = { level, factors, facts, scoredBy: "page" };
  const caution = cautionOf(verdict, warningCodes(seen.payee, seen.payees).length > 0);
  return { level, facts, caution, isPaused: caution === "question" && isPaused(verdict, purpose) };
}

const nothing = () => ({
  payments: 0,
  months: 0,
  low: 0,
  medium: 0,
  high: 0,
  question: 0,
  reasons: 0,
  doubts: 0,
  pause: 0,
});

function count(counts, { level, caution, isPaused: waits }) {
  counts.payments += 1;
  counts[level] += 1;
  if (caution in counts) counts[caution] += 1;
  if (waits) counts.pause += 1;
}

/** Runs the simulation; `each` sees every ordinary payment. */
export async function simulate(seed, { each = () => {}, customers = CUSTOMERS, months = MONTHS } = {}) {
  const scorer = await load("risk");
  const ordinary = {};
  const staged = Object.fromEntries(Object.keys(FRAUDS).map((name) => [name, nothing()]));
  Object.keys(KINDS).forEach((kind, place) => {
    const [settling, settled] = [nothing(), nothing()];
    ordinary[kind] = { settling, settled };
    for (let number = 0; number < customers; number += 1) {
      const customer = new Customer(kind, seed + 7_919 * (place * customers + number));
      for (let month = 0; month < months; month += 1) {
        const counts = month < SETTLING_MONTHS ? settling : settled;
        counts.months += 1;
        for (const payment of customer.month()) {
          const met = meet(scorer, payment);
          each(payment, met);
          count(counts, met);
        }
      }
      stage(scorer, customer, staged);
    }
  });
  return { ordinary, staged };
}

/** Stages each fraud against a customer, who is as before afterwards. */
function stage(scorer, customer, staged) {
  for (const [name, fraud] of Object.entries(FRAUDS)) {
    for (let time = 0; time < FRAUDS_EACH; time += 1) {
      const before = [customer.history.length, customer.payees.length, customer.minute];
      const { payee, centavos, purpose } = fraud(customer);
      const hour = HOURS[Math.floor(customer.chance() * HOURS.length)];
      customer.isNewDevice = false;
      count(staged[name], meet(scorer, { seen: customer.seen(payee, centavos, { hour }), purpose }));
      [customer.history.length, customer.payees.length, customer.minute] = before;
    }
  }
}

const share = (part, whole) => `${Math.round((100 * part) / whole)}%`;

/** The report, as tables of a document. */
export function report({ ordinary, staged }) {
  const rows = [];
  for (const [period, title] of [
    ["settling", `first ${SETTLING_MONTHS} months`],
    ["settled", "later"],
  ])
    for (const [kind, counts] of Object.entries(ordinary)) {
      const { payments, months, low, medium, high, question, reasons, doubts, pause } = counts[period];
      const monthly = (what) => (what / months).toFixed(2);
      const levels = [low, medium, high].map((level) => share(level, payments)).join(", ");
      const cells = [`${kind}, ${title}`, (payments / months).toFixed(1), levels];
      rows.push([...cells, ...[question, pause, reasons, doubts].map(monthly)]);
    }
  const frauds = Object.entries(staged).map(([name, { payments, high, question, pause, reasons, doubts }]) => [
    name,
    ...[high, question, pause, reasons + doubts, payments - question - reasons - doubts].map((it) =>
      share(it, payments),
    ),
  ]);
  return [
    "| Each month | payments | low, medium, high | question and warning | of these, pause | reasons only | payee's warnings only |",
    "|---|---|---|---|---|---|---|",
    ...rows.map((row) => `| ${row.join(" | ")} |`),
    "",
    "| Staged fraud | high | question and warning | of these, pause | reasons only | nothing |",
    "|---|---|---|---|---|---|",
    ...frauds.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  console.log(report(await simulate(Number(process.argv[2] ?? SEED))));
