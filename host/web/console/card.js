// A model card as elements. Reads the little of Markdown that cards use: headings, paragraphs, lists,
// tables, `code`, **bold** and [links]. Anything else stays text, as it was written.

import { h, table } from "./dom.js";

/** A card's first heading stands below the dialog's own (h2) and the part's (h3). */
const FIRST_LEVEL = 4;

function inline(text) {
  // A picture stands beside the card in the repository, not here; a link leads to files there.
  const plain = text
    .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, "$1: a picture beside the card.")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return plain.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return h("code", null, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return h("strong", null, part.slice(2, -2));
    return part;
  });
}

const cellsOf = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());

function drawTable(lines) {
  const [heads, rule, ...rows] = lines.map(cellsOf);
  // A colon at the end of a rule: numbers, to the right.
  const kinds = rule.map((it) => (it.endsWith(":") ? "number" : null));
  return table({
    label: "Table of the card",
    heads: heads.map((it, at) => [it || "Of", kinds[at]]),
    rows: rows.map((row) => row.map((it, at) => [inline(it), kinds[at]])),
  });
}

const KINDS = [
  { kind: "heading", is: /^#{1,6} / },
  { kind: "list", is: /^- / },
  { kind: "table", is: /^\|/ },
  { kind: "blank", is: /^\s*$/ },
];

function drawBlock(kind, lines) {
  if (kind === "heading") {
    return lines.map((line) => {
      const depth = line.match(/^#+/)[0].length;
      return h(`h${Math.min(6, FIRST_LEVEL + Math.max(0, depth - 2))}`, null, inline(line.slice(depth + 1)));
    });
  }
  if (kind === "list")
    return h(
      "ul",
      null,
      lines.map((line) => h("li", null, inline(line.slice(2)))),
    );
  if (kind === "table" && lines.length > 1) return drawTable(lines);
  return kind === "blank" ? null : h("p", null, inline(lines.join(" ")));
}

/** The elements of a card. */
export function drawCard(markdown) {
  const blocks = [];
  for (const line of markdown.split("\n")) {
    const kind = KINDS.find((it) => it.is.test(line))?.kind ?? "text";
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  }
  return blocks.map(({ kind, lines }) => drawBlock(kind, lines));
}
