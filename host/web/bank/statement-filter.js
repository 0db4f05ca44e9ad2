// Which lines of a statement the person looks for.

/** @import { Filter, Movement } from "./types.js" */
import { toJson } from "./money.js";
import { nameOf } from "./movements.js";
import { dayKey } from "./times.js";

/** @returns {Filter} */
export const noFilter = () => ({ text: "", direction: "", state: "", from: "", to: "" });

/** @param {Filter} filter */
export const isActive = (filter) => Object.values(filter).some((it) => it !== "");

/** For comparisons: without accents, in lower case. @param {string} text */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether a word is the beginning of an amount, however it is written: 1,500 or $1500.5. @param {string} word @param {number} centavos */
function isAmount(word, centavos) {
  const digits = word.replace(/^[+\-\u2212]?\$?/, "").replaceAll(",", "");
  return /^\d+(\.\d*)?$/.test(digits) && toJson(Math.abs(centavos)).startsWith(digits);
}

/** @param {Movement} movement @param {string} word */
function hasWord(movement, word) {
  const { centavos, speiReference = "", concept = "", numericReference = "" } = movement.entry;
  const said = [nameOf(movement), concept, numericReference, speiReference].join(" ");
  return plain(said).includes(word) || isAmount(word, centavos);
}

/** Whether a line is among those looked for. The days are Mexico City's, and both are included. @param {Movement} movement @param {Filter} filter */
export function matches(movement, { text, direction, state, from, to }) {
  const { centavos, createdAt } = movement.entry;
  if (direction !== "" && centavos > 0 !== (direction === "in")) return false;
  if (state !== "" && movement.state !== state) return false;
  const day = dayKey(new Date(createdAt));
  if ((from !== "" && day < from) || (to !== "" && day > to)) return false;
  return plain(text.trim())
    .split(/\s+/)
    .every((word) => word === "" || hasWord(movement, word));
}
