// Reads the fields of a request and collects all faults, in the words and order of the server. A method that finds a fault
// returns undefined; `finish` then refuses the request. Unknown fields are ignored, `null` counts as absent, 3.0 is an
// integer, and larger counts saturate.

import { invalid, readObject, readString } from "./json.js";

/** Larger counts saturate at 32 bits. */
const COUNT_MAX = 0xffffffff;

/** The limit of user and session identifiers. */
const ID_CHARS_MAX = 255;

/** Unicode's blanks. String.prototype.trim has U+FEFF in addition and lacks U+0085. */
const BLANK = /^\p{White_Space}*$/u;

/** Only JSON numbers start with one of these. */
const NUMBER = /^[-\d]/;

/** What is wrong with a value. */
class Fault {
  /** @param {string} code @param {string} detail */
  constructor(code, detail) {
    this.code = code;
    this.detail = detail;
  }
}

export class Fields {
  #values;
  /** @type {{ field: string, code: string, detail: string }[]} */
  #errors = [];

  /** @param {string} text */
  constructor(text) {
    this.#values = readObject(text);
  }

  /** Refuses the request if it has faults. */
  finish() {
    if (this.#errors.length > 0) throw invalid(this.#errors);
  }

  /** @param {string} field @param {string} code @param {string} detail */
  refuse(field, code, detail) {
    this.#errors.push({ field, code, detail });
  }

  /** Whether the field is present and not null. @param {string} field */
  has(field) {
    return (this.#values.get(field) ?? "null") !== "null";
  }

  /** @template T @param {string} field @param {(literal: string) => T | Fault} read @returns {T | undefined} */
  #optional(field, read) {
    const literal = this.#values.get(field) ?? "null";
    if (literal === "null") return undefined;
    const value = read(literal);
    if (!(value instanceof Fault)) return value;
    this.refuse(field, value.code, value.detail);
    return undefined;
  }

  /** @template T @param {string} field @param {(literal: string) => T | Fault} read */
  #required(field, read) {
    if (!this.has(field)) this.refuse(field, "required", "is required");
    return this.#optional(field, read);
  }

  /** A string of 1 to `charsMax` characters that is not blank. @param {string} field @param {number} charsMax */
  text(field, charsMax) {
    return this.#required(field, (literal) => readText(literal, charsMax, true));
  }

  /** An identifier to echo. @param {string} field */
  id(field) {
    return this.#optional(field, (literal) => readText(literal, ID_CHARS_MAX, false));
  }

  /** @param {string} field */
  boolean(field) {
    return this.#required(field, (literal) => {
      if (literal === "true" || literal === "false") return literal === "true";
      return new Fault("wrong-type", "must be true or false");
    });
  }

  /** A finite number >= 0. @param {string} field */
  nonNegative(field) {
    return this.#required(field, (literal) => {
      if (!NUMBER.test(literal)) return new Fault("wrong-type", "must be a number");
      const number = Number(literal);
      if (number >= 0 && number < Infinity) return number;
      return new Fault("out-of-range", "must be a finite number of at least 0");
    });
  }

  /** An integer >= `min`. @param {string} field */
  count(field, min = 0) {
    return this.#required(field, (literal) => readInteger(literal, min));
  }

  /** @param {string} field */
  optionalCount(field) {
    return this.#optional(field, (literal) => readInteger(literal, 0));
  }

  /** An integer from 0 to `max`. @param {string} field @param {number} max */
  integerUpTo(field, max) {
    return this.#required(field, (literal) => readInteger(literal, 0, max));
  }

  /** @template {string} S @param {string} field @param {readonly S[]} known */
  oneOf(field, known) {
    if (!this.has(field)) this.refuse(field, "required", "is required");
    return this.optionalOneOf(field, known);
  }

  /** @template {string} S @param {string} field @param {readonly S[]} known @returns {S | undefined} */
  optionalOneOf(field, known) {
    return this.#optional(field, (literal) => {
      const text = readString(literal);
      if (text === null) return new Fault("wrong-type", "must be a string");
      const found = known.find((it) => it === text);
      return found ?? new Fault("unknown-value", `must be one of ${known.join(", ")}`);
    });
  }
}

/** @param {string} literal @param {number} charsMax @param {boolean} isRequired */
function readText(literal, charsMax, isRequired) {
  const text = readString(literal);
  if (text === null) return new Fault("wrong-type", "must be a string");
  if (text.includes("\0")) return new Fault("invalid-characters", "must not contain the character U+0000");
  if (isRequired && BLANK.test(text)) return new Fault("blank", "must not be blank");
  // Characters are code points, of which some have two UTF-16 units.
  if ([...text].length > charsMax) return new Fault("too-long", `must have at most ${charsMax} characters`);
  return text;
}

/** @param {string} literal @param {number} min */
function readInteger(literal, min, max = Infinity) {
  const number = NUMBER.test(literal) ? Number(literal) : 0.5;
  // Beyond the range of doubles a number is infinite, and larger than every bound.
  if (Number.isFinite(number) && !Number.isInteger(number)) return new Fault("wrong-type", "must be an integer");
  if (number >= min && number <= max) return Math.min(number, COUNT_MAX);
  return new Fault("out-of-range", max === Infinity ? `must be at least ${min}` : `must be from ${min} to ${max}`);
}
