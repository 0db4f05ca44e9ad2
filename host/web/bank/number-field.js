// The field for an account number. It groups a CLABE while it is typed and describes the number, but never refuses one for
// its shape.

/** @import { TextField } from "./types.js" */
import { h, show } from "../shared/dom.js";
import { groupWhileTyping, normalise, readNumber } from "./clabe.js";
import { textField } from "./fields.js";
import { profileNow } from "./profile.js";
import { counted, t } from "./words.js";

/** The service's limit. */
const NUMBER_CHARS_MAX = 50;
const CLABE_DIGITS = 18;
/** The description follows after a pause in typing: after every digit it would only be noise. */
const PAUSE_MS = 600;

/** @param {string} text */
function description(text) {
  const { kind, bank, checks, digits } = readNumber(text);
  if (digits === "") return "";
  if (kind === "clabe" && !checks) return t("number.clabe.wrong");
  if (kind === "clabe") return bank ? t("number.clabe.bank", { bank }) : t("number.clabe");
  if (kind === "card") return t("number.card");
  if (kind === "phone") return t("number.phone");
  const isShort = /^[0-9]+$/.test(digits) && digits.length < CLABE_DIGITS;
  return isShort ? counted("number.short", digits.length, { left: CLABE_DIGITS - digits.length }) : t("number.other");
}

/**
 * `onBank` is called when a number names its bank.
 * @param {{ label: string, hint: string, onBank?: (bank: string) => void }} about
 * @returns {TextField}
 */
export function numberField({ label, hint, onBank = () => {} }) {
  const below = h("p.derived", { role: "status" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const describe = () => {
    const { kind, checks, bank } = readNumber(field.control.value);
    below.className = kind === "clabe" && !checks ? "derived warn" : "derived";
    show(below, description(field.control.value));
    if (kind === "clabe" && checks && bank) onBank(bank);
  };
  const group = () => {
    // Only at the end, where grouping does not move the cursor, and not where every change is read aloud.
    const { control } = field;
    const isAtEnd = control.selectionStart === control.value.length;
    if (isAtEnd && !profileNow().screenReaderMode) {
      const grouped = groupWhileTyping(control.value);
      if (grouped !== control.value) control.value = grouped;
    }
    clearTimeout(timer);
    timer = setTimeout(describe, PAUSE_MS);
  };
  const field = textField({
    name: "accountNumber",
    label,
    hint,
    below,
    attributes: {
      inputmode: "numeric",
      maxlength: NUMBER_CHARS_MAX,
      class: "digits",
      spellcheck: "false",
      onInput: group,
      onChange: describe,
    },
    check: (text) => (/[\p{L}\p{N}]/u.test(text) ? "" : t("fault.account-number")),
  });
  const { write } = field;
  return {
    ...field,
    // Digits are sent without gaps, anything else as it was typed.
    read: () =>
      /^[0-9]+$/.test(normalise(field.control.value)) ? normalise(field.control.value) : field.control.value.trim(),
    write: (text) => {
      write(groupWhileTyping(text));
      describe();
    },
  };
}
