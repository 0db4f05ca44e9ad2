// Draws a model card from the Markdown that cards use: headings, paragraphs, lists, tables, `code`, **bold** and [links].
// Anything else stays text.

/** @import { Child } from "../shared/dom.js" */
import { h } from "../shared/dom.js";
import { cellsOf } from "./card-tables.js";
import { table } from "./table.js";

/** Below the headings of the dialog (h2) and of its part (h3). */
const FIRST_LEVEL = 4;

/** @param {string} text @returns {Child[]} */
function inline(text) {
  // Pictures and linked files are in the repository, not here.
  const plain = text
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, "$1 (image not shown).")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return plain.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return h("code", part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return h("strong", part.slice(2, -2));
    return part;
  });
}

/** @param {string[]} lines */
function drawTable(lines) {
  const [heads, rule, ...rows] = lines.map(cellsOf);
  // A rule that ends in a colon: numbers, aligned right.
  const kinds = rule.map((it) => (it.endsWith(":") ? "number" : null));
  return table({
    label: "Table from the card",
    heads: heads.map((it, at) => [it || "Row", kinds[at]]),
    rows: rows.map((row) => row.map((it, at) => [inline(it), kinds[at]])),
  });
}

const KINDS = [
  { kind: "heading", is: /^#{1,6} / },
  { kind: "list", is: /^- / },
  { kind: "table", is: /^\|/ },
  { kind: "blank", is: /^\s*$/ },
];

/** @param {string} kind @param {string[]} lines @returns {Child} */
function drawBlock(kind, lines) {
  if (kind === "heading") {
    return lines.map((line) => {
      const depth = line.search(/[^#]/);
      return h(`h${Math.min(6, FIRST_LEVEL + Math.max(0, depth - 2))}`, inline(line.slice(depth + 1)));
    });
  }
  if (kind === "list")
    return h(
      "ul",
      lines.map((line) => h("li", inline(line.slice(2)))),
    );
  if (kind === "table" && lines.length > 1) return drawTable(lines);
  return kind === "blank" ? null : h("p", inline(lines.join(" ")));
}

/** @param {string} markdown */
export function drawCard(markdown) {
  /** @type {{ kind: string, lines: string[] }[]} */
  const blocks = [];
  for (const line of markdown.split("\n")) {
    const kind = KINDS.find((it) => it.is.test(line))?.kind ?? "text";
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  }
  return blocks.map(({ kind, lines }) => drawBlock(kind, lines));
}
