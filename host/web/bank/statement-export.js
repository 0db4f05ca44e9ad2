// A statement outside the page: as a file for spreadsheets, and on paper.

/** @import { Account, Movement } from "./types.js" */
import { h } from "../shared/dom.js";
import { groupsOf, lastFour } from "./clabe.js";
import { download, Figure, writeCsv } from "./csv.js";
import { pair, typeName } from "./drawing.js";
import { toJson, writeMoney } from "./money.js";
import { nameOf } from "./movements.js";
import { nameNow } from "./session.js";
import { clock, day, dayKey } from "./times.js";
import { t } from "./words.js";

const COLUMNS = ["date", "time", "name", "concept", "numeric", "state", "reference", "amount", "balance"];

/** @param {Movement[]} movements */
export function csvOf(movements) {
  const rows = movements.map((movement) => {
    const { createdAt, centavos, balance, ...entry } = movement.entry;
    const at = new Date(createdAt);
    const text = [
      dayKey(at),
      clock(at, { withSeconds: true }),
      nameOf(movement),
      entry.concept ?? "",
      String(entry.numericReference ?? ""),
      movement.state ? t(`status.${movement.state}`) : "",
      entry.speiReference ?? "",
    ];
    return [...text, new Figure(toJson(centavos)), new Figure(toJson(balance))];
  });
  return writeCsv([COLUMNS.map((it) => t(`export.${it}`)), ...rows]);
}

/** @param {Account} account @param {Movement[]} movements */
export function downloadCsv(account, movements) {
  // The whole number would be in the list of downloads of a shared device.
  const name = `${t("export.file")}-${lastFour(account.accountNumber)}-${dayKey(new Date())}.csv`;
  download(name, csvOf(movements), "text/csv;charset=utf-8");
}

/** What came in, what went out, and the balances around it. @param {Movement[]} movements newest first, without gaps */
export function totalsOf(movements) {
  const sums = movements.map((it) => it.entry.centavos);
  const last = movements.at(-1)?.entry;
  return {
    opening: last ? last.balance - last.centavos : 0,
    credits: sums.filter((it) => it > 0).reduce((sum, it) => sum + it, 0),
    debits: Math.abs(sums.filter((it) => it < 0).reduce((sum, it) => sum + it, 0)),
    closing: movements[0]?.entry.balance ?? 0,
  };
}

/** @param {Movement} movement */
function line(movement) {
  const { createdAt, speiReference, concept, centavos, balance } = movement.entry;
  const at = new Date(createdAt);
  const figure = (/** @type {number} */ amount) => writeMoney(amount).replace("\u00a0MXN", "");
  return h(
    "tr",
    h("td", dayKey(at), " ", clock(at)),
    h(
      "td",
      nameOf(movement),
      movement.state && movement.state !== "completed" && ` (${t(`status.${movement.state}`)})`,
      [concept, speiReference].map((it) => it && h("span.below", it)),
    ),
    h("td.figure", centavos < 0 && figure(-centavos)),
    h("td.figure", centavos > 0 && figure(centavos)),
    h("td.figure", figure(balance)),
  );
}

/**
 * The statement as it is printed. `coverage` says what it contains; with a search, balances do not add up line by line, so
 * only the sums are given.
 * @param {Account} account @param {Movement[]} movements newest first @param {{ coverage: string, isSearch: boolean }} about
 */
export function drawPaper(account, movements, { coverage, isSearch }) {
  const { opening, credits, debits, closing } = totalsOf(movements);
  const [newest, oldest] = [movements[0], movements.at(-1)].map((it) => it && day(new Date(it.entry.createdAt)));
  const now = new Date();
  return h(
    "div.paper",
    { "aria-hidden": "true" },
    h("p.heading", t("paper.title")),
    h(
      "dl.facts",
      pair(t("paper.holder"), nameNow()),
      pair(t("paper.account"), typeName(account.accountType)),
      pair("CLABE", groupsOf(account.accountNumber).join(" ")),
      newest && oldest && pair(t("paper.period"), t("paper.from-to", { from: oldest, to: newest })),
      !isSearch && pair(t("paper.opening"), writeMoney(opening)),
      pair(t("paper.credits"), writeMoney(credits)),
      pair(t("paper.debits"), writeMoney(debits)),
      !isSearch && pair(t("paper.closing"), writeMoney(closing)),
    ),
    h(
      "table",
      h(
        "thead",
        h(
          "tr",
          ["when", "what", "debit", "credit", "balance"].map((it, place) =>
            h(place < 2 ? "th" : "th.figure", { scope: "col" }, t(`paper.${it}`)),
          ),
        ),
      ),
      h("tbody", movements.toReversed().map(line)),
    ),
    h("p", coverage),
    h("p", t("paper.note", { day: day(now), clock: clock(now) })),
  );
}
