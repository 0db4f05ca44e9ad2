// Comma-separated values for spreadsheets, which run a text as a formula by how it starts. What others wrote, such as a
// name, must stay text wherever the file is opened.

/** Without it Excel takes UTF-8 for an older encoding and garbles accents. */
const BOM = "\ufeff";

/** The characters that begin a formula, in any width; after spaces, controls and quotes, which spreadsheets drop. */
const FORMULA = /^[\p{Z}\p{C}"'\u0060´‘’“”]*[=+\-@\u2212＝＋－＠]/u;
/** The same after what another spreadsheet takes for the end of a cell. */
const LATER_FORMULA = /([,;|:]["'\s]*)(?=[=+\-@＝＋－＠])/gu;

/** An apostrophe makes what follows it text. @param {string} text */
export function neutral(text) {
  // A tab or a line break within a cell starts another one for some programs.
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
  const isFormula = FORMULA.test(text) || /^[\t\r\n]/.test(text);
  return (isFormula ? `'${line}` : line).replace(LATER_FORMULA, "$1'");
}

/** A number that a spreadsheet can add up: the exact digits. */
export class Figure {
  /** @param {string} digits such as -1500.50 */
  constructor(digits) {
    if (!/^-?\d+(\.\d+)?$/.test(digits)) throw new Error("not the digits of a number");
    this.digits = digits;
  }
}

/** @param {string | Figure} value */
function cell(value) {
  return value instanceof Figure ? value.digits : `"${neutral(value).replaceAll('"', '""')}"`;
}

/** A file: a row for each list of cells, by RFC 4180. @param {(string | Figure)[][]} rows */
export function writeCsv(rows) {
  return BOM + rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Hands a file to the browser's downloads. @param {string} name @param {string} text @param {string} type */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the data by the next task; keeping the address would keep the data.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
