// The warnings of the bank's page: which share of the customers sees which variant, what became of them, and how shares change.

/** @import { Change, Loaded, WarningsReport } from "./types.js" */
import { h } from "../shared/dom.js";
import * as api from "./api.js";
import { drawFailure } from "./problems.js";
import { table } from "./table.js";
import { count, interval, list, percent, when } from "./words.js";

/** Null if the token does not allow to see them. @param {Loaded<WarningsReport> | undefined} part */
export function drawWarnings(part) {
  if (!part) return null;
  if (part.failure) return h("div.notice.bad", drawFailure(part.failure));
  const { present, changed_at, changed_by, reason, outcomes } = /** @type {WarningsReport} */ (part.data);
  const shares = present.variants.map((it) => `${it.variant} for ${percent(it.percent)}`);
  const rows = outcomes.map((it) => [
    it.variant,
    [count(it.customers), "number"],
    [count(it.warnings), "number"],
    [interval(it.sent_nothing), "number"],
    [interval(it.chose_not_to), "number"],
    [interval(it.sought_help), "number"],
  ]);
  return [
    h(
      "p",
      "Experiment ",
      h("strong", present.experiment),
      `: ${list(shares)} of customers`,
      changed_by && [", set by ", changed_by, ", ", when(changed_at), ": ", h("q", reason)],
      ".",
    ),
    h("p", h("button", { type: "button", "data-key": "shares", "data-shares": "" }, "Change shares")),
    rows.length === 0
      ? h("p", "No customer who consented to analytics was warned in the last 30 days.")
      : table({
          label: "What customers did after a warning",
          heads: [
            "Variant",
            ["Customers", "number"],
            ["Warnings", "number"],
            ["Sent nothing", "number"],
            ["Chose not to send", "number"],
            ["Sent, then sought help", "number"],
          ],
          rows,
          keys: outcomes.map((it) => it.variant),
          className: "warnings",
        }),
  ];
}

/** The first variant is shown to whom the others leave. @param {WarningsReport} now @returns {Change} */
export function changeShares({ present: { experiment, variants }, change }) {
  const [first, ...others] = variants;
  /** @param {Record<string, number>} values */
  const portions = (values) => {
    const rest = others.map(({ variant }) => ({ variant, percent: values[variant] }));
    const left = rest.reduce((sum, it) => sum - it.percent, 100);
    return [{ variant: first.variant, percent: left }, ...rest];
  };
  return {
    title: "Change shares",
    verb: "Change shares",
    fields: others.map(({ variant, percent: value }) => ({
      name: variant,
      label: variant,
      hint: `Percent of customers, 0 to 100. ${first.variant} is shown to the rest.`,
      min: 0,
      max: 100,
      value,
    })),
    keepsDeployment: true,
    effects: (values) => [
      ...portions(values).map(({ variant, percent: value }) =>
        Number.isNaN(value)
          ? `${variant} is shown to some of the customers.`
          : `${variant} is shown to ${percent(value)} of customers.`,
      ),
      "The change takes effect on every host from each customer’s next payment. Some customers then see the other variant.",
      "Results are still counted under the same experiment. To start a new count, name a new experiment: caudal warnings --experiment NAME --shares … --reason …",
    ],
    send: (values, reason) => api.setWarnings(change, { experiment, reason, variants: portions(values) }),
    done: (values) =>
      `${list(portions(values).map((it) => `${it.variant} is shown to ${percent(it.percent)}`))} of customers.`,
  };
}
