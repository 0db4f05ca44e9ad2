// The tables of a model card in Markdown, by the heading above them: for each column what each row says.

/** @param {string} line */
export const cellsOf = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());

/** @param {string} markdown @returns {Map<string, Map<string, Map<string, string>>>} heading, column, row */
export function tablesOf(markdown) {
  /** @type {Map<string, Map<string, Map<string, string>>>} */
  const tables = new Map();
  let title = "";
  /** @type {string[] | null} */
  let heads = null;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("#")) title = line.replace(/^#+ /, "");
    if (!line.startsWith("|")) {
      heads = null;
      continue;
    }
    const cells = cellsOf(line);
    if (!heads) {
      heads = cells;
      continue;
    }
    // The rule below the heads.
    if (cells.every((cell) => /^:?-+:?$/.test(cell))) continue;
    const columns = tables.get(title) ?? new Map();
    tables.set(title, columns);
    heads.slice(1).forEach((head, at) => {
      const rows = columns.get(head) ?? new Map();
      rows.set(cells[0], cells[at + 1] ?? "–");
      columns.set(head, rows);
    });
  }
  return tables;
}
