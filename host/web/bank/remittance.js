// What a sender tells the payee: the payment concept and the numeric reference, with the limits of SPEI.

/** @import { Remittance, TextField } from "./types.js" */
import { h } from "../shared/dom.js";
import { pair } from "./drawing.js";
import { textField } from "./fields.js";
import { t } from "./words.js";

/** The service's limits. */
const CONCEPT_CHARS_MAX = 40;
const REFERENCE_DIGITS_MAX = 7;

/** What the service refuses: control characters, and those that cannot be seen or turn the text around. */
const FORBIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800\ufff0-\ufffb]/u;

/** One line, or null. @param {string} text */
export function readConcept(text) {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? null : line;
}

/** @param {string} text */
export function conceptFault(text) {
  const concept = readConcept(text) ?? "";
  if (FORBIDDEN.test(concept)) return t("concept.invalid");
  const { length } = [...concept];
  return length > CONCEPT_CHARS_MAX ? t("concept.too-long", { length, most: CONCEPT_CHARS_MAX }) : "";
}

/** From 1 to seven digits, or null; zeros in front count as digits. @param {string} text */
export function readReference(text) {
  const digits = text.replace(/\s/g, "");
  const isReference = /^[0-9]+$/.test(digits) && digits.length <= REFERENCE_DIGITS_MAX && Number(digits) > 0;
  return isReference ? Number(digits) : null;
}

/** @param {string} text */
export function referenceFault(text) {
  return text === "" || readReference(text) !== null ? "" : t("reference.invalid", { most: REFERENCE_DIGITS_MAX });
}

/** Both fields, filled in; `onInput` gets their texts while they are typed. @param {{ concept: string, numericReference: string }} texts @param {(texts: { concept: string, numericReference: string }) => void} onInput */
export function remittanceFields(texts, onInput) {
  const noteTyped = () => onInput({ concept: concept.control.value, numericReference: reference.control.value });
  /** @type {TextField} */
  const concept = textField({
    name: "concept",
    label: t("concept.label"),
    hint: t("concept.hint", { most: CONCEPT_CHARS_MAX }),
    check: conceptFault,
    isOptional: true,
    attributes: { onInput: noteTyped },
  });
  /** @type {TextField} */
  const reference = textField({
    name: "numericReference",
    label: t("reference.label"),
    hint: t("reference.hint", { most: REFERENCE_DIGITS_MAX }),
    check: referenceFault,
    isOptional: true,
    attributes: { inputmode: "numeric", class: "digits short", onInput: noteTyped },
  });
  concept.write(texts.concept);
  reference.write(texts.numericReference);
  return [concept, reference];
}

/** Rows of facts; none for what was left empty. @param {Partial<Remittance>} told */
export function remittancePairs({ concept, numericReference }) {
  return [
    concept ? pair(t("concept.label"), concept) : null,
    numericReference ? pair(t("reference.label"), h("span.digits", String(numericReference))) : null,
  ];
}

/** The same on one line of a list, or null. @param {Partial<Remittance>} told */
export function remittanceLine({ concept, numericReference }) {
  const reference = numericReference && t("reference.line", { number: numericReference });
  const parts = [concept, reference].filter(Boolean);
  return parts.length > 0 ? h("p.hint.whole", parts.join(" · ")) : null;
}
