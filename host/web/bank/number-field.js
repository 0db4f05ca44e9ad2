// The field for an account number. It groups a CLABE while it is typed and describes the number. Of its shape it refuses
// only a CLABE that cannot exist.

/** @import { TextField } from "./types.js" */
import { h, show } from "../shared/dom.js";
import { groupsOf, groupWhileTyping, normalise, readNumber } from "./clabe.js";
import { textField } from "./fields.js";
import { profileNow } from "./profile.js";
import { whenReleased } from "./released.js";
import { t } from "./words.js";

/** The service's limit. */
const NUMBER_CHARS_MAX = 50;
const CLABE_DIGITS = 18;
/** The description follows after a pause in typing: after every digit it would only be noise. */
const PAUSE_MS = 600;

/**
 * What a number seems to be: only a CLABE that is right in all that can be checked is good.
 * @param {string} text @returns {{ text: string, mood: "good" | "warn" | "plain" }}
 */
function description(text) {
  const { kind, bank, checks, digits } = readNumber(text);
  if (digits === "") return { text: "", mood: "plain" };
  if (kind === "clabe" && !checks) return { text: t("number.clabe.wrong"), mood: "warn" };
  if (kind === "clabe" && bank) return { text: t("number.clabe.bank", { bank }), mood: "good" };
  if (kind === "clabe") return { text: t("number.clabe.unknown", { code: digits.slice(0, 3) }), mood: "warn" };
  if (kind === "card") return { text: t("number.card"), mood: "plain" };
  if (kind === "phone") return { text: t("number.phone"), mood: "plain" };
  const isShort = /^[0-9]+$/.test(digits) && digits.length < CLABE_DIGITS;
  if (isShort) return { text: t("number.short", { count: digits.length }), mood: "plain" };
  return { text: t("number.other"), mood: "warn" };
}

/**
 * `onBank` is called with the bank that a number names, or "": also for a CLABE with a wrong digit, which may be any of them.
 * @param {{ label: string, hint: string, onBank?: (bank: string) => void }} about
 * @returns {TextField}
 */
export function numberField({ label, hint, onBank = () => {} }) {
  const below = h("p.derived", { role: "status" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const drawDescription = () => {
    const { text, mood } = description(field.control.value);
    below.className = `derived ${mood}`;
    show(below, text);
  };
  const describe = () => {
    whenReleased(drawDescription);
    // At once, because what is pressed may be the button that sends the form.
    const { bank, checks } = readNumber(field.control.value);
    onBank((checks && bank) || "");
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
      onChange: () => {
        // A card or a telephone is not read in the groups of a CLABE.
        const { kind } = readNumber(field.control.value);
        if (kind === "card" || kind === "phone") field.control.value = groupsOf(field.control.value).join(" ");
        describe();
      },
    },
    check: (text) => {
      const { kind, checks } = readNumber(text);
      if (kind === "clabe" && !checks) return t("number.clabe.wrong");
      return /[\p{L}\p{N}]/u.test(text) ? "" : t("fault.account-number");
    },
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
