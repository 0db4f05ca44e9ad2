// Reads the fields of a request and collects all faults, in the words and order of the server. A method that finds a fault
// returns undefined; `finish` then refuses the request. Unknown fields are ignored, `null` counts as absent, 3.0 is an
// integer, and larger counts saturate.

/** @import { RequestField } from "./internal.js" */
import { invalid, readObject, readString } from "./json.js";

/** Larger counts saturate at 32 bits. */
const COUNT_MAX = 0xffffffff;

/** Unicode whitespace. `String.prototype.trim` also strips U+FEFF, but not U+0085. */
export const BLANK = /^\p{White_Space}*$/u;

/** Nothing to see: whitespace, and what Unicode lets be drawn as nothing. */
const UNSEEN = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\u{2800}\u{fff9}-\u{fffb}]*$/u;

/** Control characters other than tabs and the ends of lines, and those that reverse the text around them. */
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u;

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

  /** The value of a declared field. @param {RequestField} field */
  read(field) {
    const { name, synonym, optional, optional_with } = field;
    const isPresent = this.has(name) || (synonym !== undefined && this.has(synonym));
    if (!isPresent && optional_with) {
      const [other, full] = optional_with;
      if (this.has(other) && !this.has(full)) return 0;
    }
    if (!isPresent && !optional) this.refuse(name, "required", "is required");
    const value = this.#value(name, field);
    if (synonym === undefined || !this.has(synonym)) return value;
    const other = this.#value(synonym, field);
    if (value !== undefined && other !== undefined && value !== other) {
      this.refuse(synonym, "conflict", `differs from ${name}`);
    }
    return other ?? value;
  }

  /** @param {string} name @param {RequestField} field */
  #value(name, field) {
    const literal = this.#values.get(name) ?? "null";
    if (literal === "null") return undefined;
    const value = READERS[field.type](literal, field);
    if (!(value instanceof Fault)) return value;
    this.refuse(name, value.code, value.detail);
    return undefined;
  }
}

/** Reads a value of a type, or says what is wrong with it. @type {Record<string, (literal: string, field: RequestField) => unknown>} */
const READERS = {
  boolean(literal) {
    if (literal === "true" || literal === "false") return literal === "true";
    return new Fault("wrong-type", "must be true or false");
  },

  number(literal, { at_least: min = -Number.MAX_VALUE, at_most: max }) {
    if (!NUMBER.test(literal)) return new Fault("wrong-type", "must be a number");
    const number = Number(literal);
    if (number >= min && number <= (max ?? Number.MAX_VALUE)) return number;
    const bounds = max === undefined ? `a finite number of at least ${min}` : `from ${min} to ${max}`;
    return new Fault("out-of-range", `must be ${bounds}`);
  },

  integer(literal, { at_least: min = 0, at_most: max = Infinity }) {
    const number = NUMBER.test(literal) ? Number(literal) : 0.5;
    // Beyond the range of doubles a number is infinite, and larger than every bound.
    if (Number.isFinite(number) && !Number.isInteger(number)) return new Fault("wrong-type", "must be an integer");
    if (number >= min && number <= max) return Math.min(number, COUNT_MAX);
    return new Fault("out-of-range", max === Infinity ? `must be at least ${min}` : `must be from ${min} to ${max}`);
  },

  text(literal, { blank, chars_max: charsMax = Infinity }) {
    const text = readString(literal);
    if (text === null) return new Fault("wrong-type", "must be a string");
    const forbidden = FORBIDDEN.exec(text)?.[0].codePointAt(0);
    if (forbidden !== undefined) {
      const code = forbidden.toString(16).toUpperCase().padStart(4, "0");
      return new Fault("invalid-characters", `must not contain the character U+${code}`);
    }
    if (!blank && UNSEEN.test(text)) return new Fault("blank", "must not be blank");
    // Characters are code points, of which some have two UTF-16 units.
    if ([...text].length > charsMax) return new Fault("too-long", `must have at most ${charsMax} characters`);
    return text;
  },

  one_of(literal, { texts = [] }) {
    const text = readString(literal);
    if (text === null) return new Fault("wrong-type", "must be a string");
    return texts.includes(text) ? text : new Fault("unknown-value", `must be one of ${texts.join(", ")}`);
  },
};
