// The field for an account number: groups a CLABE while it is typed, takes what is pasted, and tells what the number
// says of itself. It hints; it refuses nothing for its shape.

import { groupWhileTyping, normalise, readNumber } from "./clabe.js";
import { h, show } from "./dom.js";
import { textField } from "./fields.js";
import { profileNow } from "./profile.js";
import { counted, t } from "./words.js";

/** Longest account number that the service takes. */
const NUMBER_CHARS_MAX = 50;
const CLABE_DIGITS = 18;
/** After this pause in typing the hint is said; with every digit it would only be noise. */
const PAUSE_MS = 600;

/** What a number says of itself, in words; '' while it says nothing. */
function hintOf(text) {
  const { kind, bank, checks, digits } = readNumber(text);
  if (digits === "") return "";
  if (kind === "clabe" && !checks) return t("number.clabe.wrong");
  if (kind === "clabe") return bank ? t("number.clabe.bank", { bank }) : t("number.clabe");
  if (kind === "card") return t("number.card");
  if (kind === "phone") return t("number.phone");
  const isShort = /^[0-9]+$/.test(digits) && digits.length < CLABE_DIGITS;
  return isShort ? counted("number.short", digits.length, { left: CLABE_DIGITS - digits.length }) : t("number.other");
}

/** `derived(bank)` is called when a number names its bank. */
export function numberField({ label, hint, derived = () => {} }) {
  const below = h("p", { class: "derived", role: "status" });
  let waiting = 0;
  const tell = () => {
    const { kind, checks, bank } = readNumber(field.control.value);
    below.className = kind === "clabe" && !checks ? "derived warn" : "derived";
    show(below, hintOf(field.control.value));
    if (kind === "clabe" && checks && bank) derived(bank);
  };
  const typed = ({ target }) => {
    // Only at the end, where regrouping does not move the cursor; and not where each change is read aloud.
    const isAtEnd = target.selectionStart === target.value.length;
    if (isAtEnd && !profileNow().screenReaderMode) {
      const grouped = groupWhileTyping(target.value);
      if (grouped !== target.value) target.value = grouped;
    }
    clearTimeout(waiting);
    waiting = setTimeout(tell, PAUSE_MS);
  };
  const field = textField({
    name: "accountNumber",
    label,
    hint,
    below,
    inputmode: "numeric",
    maxlength: NUMBER_CHARS_MAX,
    class: "digits",
    spellcheck: "false",
    onInput: typed,
    onChange: tell,
    check: (text) => (/[\p{L}\p{N}]/u.test(text) ? "" : t("fault.account-number")),
  });
  const { write } = field;
  return {
    ...field,
    // A number of digits is sent as digits; anything else as it was written.
    read: () =>
      /^[0-9]+$/.test(normalise(field.control.value)) ? normalise(field.control.value) : field.control.value.trim(),
    write: (text) => {
      write(groupWhileTyping(text));
      tell();
    },
  };
}
