// What registered versions would have decided about past orders.

/** @import { Cell, Compared } from "./types.js" */
import { button, h } from "../shared/dom.js";
import * as api from "./api.js";
import { copyButton } from "./copy.js";
import { drawField, markRejected, numberField, openDialog } from "./dialog.js";
import { kindOf } from "./kinds.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { known } from "./state.js";
import { markScrollable, table } from "./table.js";
import { newestFirst } from "./versions.js";
import { count, pesos } from "./words.js";

/** The kinds whose decisions are kept. */
const TRIED = [
  {
    kind: "risk",
    hint: "A different level also reaches the rules.",
    none: " Orders are scored only with risk enforcement, shadow or enforce.",
  },
  { kind: "transfer-rules", hint: "One that asks for a person is reviewed.", none: "" },
];

/** @param {string} kind */
export const isTried = (kind) => TRIED.some((it) => it.kind === kind);

/** @param {typeof TRIED[number]} about */
function versionField({ kind, hint }) {
  const champion = known.deployments.get(kind)?.champion;
  const options = newestFirst(known.versions.get(kind)?.versions ?? []).map(({ model_version: name }) =>
    h("option", { value: name }, name === champion ? `${name}, in service` : name),
  );
  const control = h("select", h("option", { value: "" }, "As decided"), options);
  return drawField({ name: kind, label: kindOf(kind).name, hint }, control, () => "");
}

/** @param {string} name of a class, a reason or an outcome */
const nameOf = (name) => name.replaceAll(/[-_]/g, " ");

/** Ranges of amounts in their order. @param {Record<string, number>} counts @returns {Cell} */
function drawCounts(counts) {
  const start = (/** @type {string} */ range) => Number.parseInt(range.replaceAll(",", ""), 10) || 0;
  const sorted = Object.entries(counts).toSorted(([a], [b]) => start(a) - start(b));
  const items = sorted.map(([name, orders]) => h("li", `${nameOf(name)}: ${count(orders)}`));
  return [h("ul.plain", items), "words"];
}

/** @param {string} label @param {Compared["changes"]} changes */
function drawChanges(label, changes) {
  const rows = changes.map((it) => {
    const unknown = it.count - Object.values(it.by_outcome).reduce((sum, orders) => sum + orders, 0);
    /** @type {Cell[]} */
    const row = [
      nameOf(it.was),
      nameOf(it.is),
      [count(it.count), "number"],
      [pesos(it.amount / 100), "number"],
      drawCounts(it.by_amount),
      drawCounts(it.by_payee),
      drawCounts({ ...it.by_outcome, ...(unknown > 0 && { "not known": unknown }) }),
    ];
    return row;
  });
  const examples = changes.map((it) => [
    h("p", `${nameOf(it.is)} instead of ${nameOf(it.was)}:`),
    it.examples.map((id) => h("p", h("code.long", id), copyButton(id, "the id"))),
  ]);
  const heads = [
    "Was",
    "Would be",
    ["Orders", "number"],
    ["MXN", "number"],
    "By amount",
    "By payee",
    "What became of it",
  ];
  return [
    table({ label, heads: /** @type {Cell[]} */ (heads), rows }),
    h("details", h("summary", "Examples"), examples),
  ];
}

/** @param {typeof TRIED[number]} about @param {Compared} found @param {boolean} isAsked */
function drawCompared({ kind, none }, { decisions, different, failed, changes }, isAsked) {
  // The decisions of the other kind only where they follow.
  if (decisions === 0 && !isAsked) return null;
  const { name } = kindOf(kind);
  const counted = `Decided again: ${count(decisions)}. Different: ${count(different)}. Without a usable answer: ${count(failed)}.`;
  return [
    h("h3", name),
    h("p", decisions > 0 ? counted : `No decision was kept in this time.${none}`),
    changes.length > 0 && drawChanges(`${name}: what would differ`, changes),
  ];
}

/** Opens the form; the answer appears below it. */
export function openWhatIf() {
  let isAsking = false;
  const [risk, rules] = TRIED.map(versionField);
  risk.check = () => (risk.text() || rules.text() ? "" : "Choose a version of one kind or of both.");
  const period = { name: "days", label: "Orders of the last", hint: "As far as decisions are kept.", unit: "days" };
  const most = { name: "limit", label: "At most", hint: "If there are more, any of them.", unit: "orders" };
  const days = numberField({ ...period, min: 1, max: 400, value: 30 });
  const limit = numberField({ ...most, min: 1, max: 100_000, value: 10_000 });
  const fields = [risk, rules, days, limit];
  const summary = h("div", { role: "status" });
  const answer = h("div.details");
  const verb = h("button.main", { type: "submit" }, "Try");

  const ask = async () => {
    const asked = { risk: risk.text() || undefined, rules: rules.text() || undefined };
    const found = await api.whatIf({ ...asked, days: Number(days.read()), limit: Number(limit.read()) });
    const different = found.risk.different + found.rules.different;
    update(summary, h("p.notice", `Orders: ${count(found.orders)}. Decisions that would differ: ${count(different)}.`));
    update(
      answer,
      drawCompared(TRIED[0], found.risk, asked.risk !== undefined),
      drawCompared(TRIED[1], found.rules, asked.rules !== undefined),
    );
  };
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    fields.forEach((it) => it.setFault(it.check()));
    const wrong = fields.find((it) => it.check());
    wrong?.focus();
    if (wrong || isAsking) return;
    isAsking = true;
    verb.setAttribute("aria-disabled", "true");
    update(summary, h("p.notice", "Deciding again…"));
    update(answer);
    await ask().catch((error) => {
      const failure = asFailure(error);
      update(summary, h("div.notice.bad", drawFailure(failure)));
      markRejected(fields, failure);
    });
    isAsking = false;
    verb.removeAttribute("aria-disabled");
    markScrollable(dialog);
    summary.scrollIntoView({ block: "nearest" });
  };
  const form = h(
    "form",
    { novalidate: true, onSubmit: submit },
    h(
      "p",
      "Registered versions decide on past orders again, deployed or not. Nothing is changed. Each order meets the facts that it had: only a fork shows what stopping it would have changed for later ones.",
    ),
    h("div.fields", risk.element, rules.element),
    h("div.fields", days.element, limit.element),
    summary,
    answer,
    h(
      "div.choice",
      button("Close", () => dialog.close()),
      verb,
    ),
  );
  const dialog = openDialog({ eyebrow: "What if", title: "Try on past orders", isWide: true, parts: form });
}
