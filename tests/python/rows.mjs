// Prints payments as CSV, the ten facts of risk models and whether it is a fraud: ordinary customers who pay month after
// month, and frauds staged against some of them, as in the report on the frequency of warnings.
//
//   node tests/python/rows.mjs ROWS [SEED]

import { riskFacts } from "../../host/web/bank/facts.js";
import { Customer, chanceFrom, FRAUDS, KINDS } from "../web/customers.mjs";

const FACTS =
  "amount,is_new_beneficiary,hour_of_day,num_past_transactions,avg_transaction_amount,max_transaction_amount," +
  "num_transactions_to_beneficiary,is_new_device,geolocation_changed,beneficiary_saved_minutes";
const MONTHS = 18;
/** Share of months that end with a staged fraud: many more than in life, so that few rows suffice for training. */
const DEFRAUDED = 0.5;
/** Share of payments whose page did not see the beneficiary being saved. */
const NOT_SEEN = 0.2;

/** As pandas writes values; averages in whole centavos, as the host rounds them. */
function cell(value) {
  if (value === undefined) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  return String(Math.round(value * 100) / 100);
}

function* payments(seed) {
  const chance = chanceFrom(seed);
  const kinds = Object.keys(KINDS);
  const frauds = Object.values(FRAUDS);
  const facts = ({ facts: seen }) => riskFacts(chance() < NOT_SEEN ? { ...seen, savedAt: undefined } : seen);
  for (let number = 0; ; number += 1) {
    const customer = new Customer(kinds[number % kinds.length], seed + 7_919 * number);
    for (let month = 0; month < MONTHS; month += 1) {
      for (const { seen } of customer.month()) yield [facts(seen), false];
      if (customer.history.length === 0 || chance() >= DEFRAUDED) continue;
      const before = [customer.history.length, customer.payees.length, customer.minute];
      const { payee, centavos } = frauds[Math.floor(chance() * frauds.length)](customer);
      const circumstances = { hour: customer.hour(), hasMoved: chance() < 0.1 };
      yield [facts(customer.seen(payee, centavos, circumstances)), true];
      [customer.history.length, customer.payees.length, customer.minute] = before;
    }
  }
}

const [, , count, seed = "1"] = process.argv;
const lines = [`${FACTS},fraud`];
for (const [facts, isFraud] of payments(Number(seed))) {
  if (lines.length > Number(count)) break;
  lines.push([...FACTS.split(",").map((name) => cell(facts[name])), cell(isFraud)].join(","));
}
process.stdout.write(`${lines.join("\n")}\n`);
