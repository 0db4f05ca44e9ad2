// Reads the fields of a request and collects everything that is wrong with it, in the server's words and order.
//
// A reading method that meets a fault notes it and gives undefined; `finish` then refuses the request with all
// notes. Unknown fields are ignored, `null` counts as absent, 3.0 is an integer, larger counts saturate.

import { invalid, readObject, readString } from "./json.js";

/** Counts are 32 bits wide; larger ones count as this. */
const COUNT_MAX = 0xffffffff;

/** Longest user or session identifier in characters. */
const ID_CHARS_MAX = 255;

/** Unicode's blanks. String.prototype.trim has U+FEFF in addition and lacks U+0085. */
const BLANK = /^\p{White_Space}*$/u;

/** A JSON text that is a number begins with one of these, and no other does. */
const NUMBER = /^[-\d]/;

/** What is wrong with a value; never leaves this file. */
class Fault {
  constructor(code, detail) {
    Object.assign(this, { code, detail });
  }
}

export class Fields {
  #values;
  #errors = [];

  constructor(text) {
    this.#values = readObject(text);
  }

  /** Refuses the request if anything was wrong. */
  finish() {
    if (this.#errors.length > 0) throw invalid(this.#errors);
  }

  refuse(field, code, detail) {
    this.#errors.push({ field, code, detail });
  }

  /** Whether the field is there and not null. */
  has(field) {
    return (this.#values.get(field) ?? "null") !== "null";
  }

  #optional(field, read) {
    if (!this.has(field)) return undefined;
    const value = read(this.#values.get(field));
    if (!(value instanceof Fault)) return value;
    this.refuse(field, value.code, value.detail);
    return undefined;
  }

  #required(field, read) {
    if (!this.has(field)) this.refuse(field, "required", "is required");
    return this.#optional(field, read);
  }

  /** A string of 1 to `charsMax` characters that is not blank. */
  text(field, charsMax) {
    return this.#required(field, (literal) => readText(literal, charsMax, true));
  }

  /** An identifier that is echoed. */
  id(field) {
    return this.#optional(field, (literal) => readText(literal, ID_CHARS_MAX, false));
  }

  boolean(field) {
    return this.#required(field, (literal) => {
      if (literal === "true" || literal === "false") return literal === "true";
      return new Fault("wrong-type", "must be true or false");
    });
  }

  /** A finite number >= 0. */
  nonNegative(field) {
    return this.#required(field, (literal) => {
      if (!NUMBER.test(literal)) return new Fault("wrong-type", "must be a number");
      const number = Number(literal);
      if (number >= 0 && number < Infinity) return number;
      return new Fault("out-of-range", "must be a finite number of at least 0");
    });
  }

  /** An integer >= `min`. */
  count(field, min = 0) {
    return this.#required(field, (literal) => readInteger(literal, min));
  }

  /** A count that may be missing. */
  optionalCount(field) {
    return this.#optional(field, (literal) => readInteger(literal, 0));
  }

  /** An integer from 0 to `max`. */
  integerUpTo(field, max) {
    return this.#required(field, (literal) => readInteger(literal, 0, max));
  }

  /** One of the strings of `known`. */
  oneOf(field, known) {
    if (!this.has(field)) this.refuse(field, "required", "is required");
    return this.optionalOneOf(field, known);
  }

  /** One of the strings of `known`, if it is there. */
  optionalOneOf(field, known) {
    return this.#optional(field, (literal) => {
      const text = readString(literal);
      if (text === null) return new Fault("wrong-type", "must be a string");
      return known.includes(text) ? text : new Fault("unknown-value", `must be one of ${known.join(", ")}`);
    });
  }
}

function readText(literal, charsMax, isRequired) {
  const text = readString(literal);
  if (text === null) return new Fault("wrong-type", "must be a string");
  if (text.includes("\0")) return new Fault("invalid-characters", "must not contain the character U+0000");
  if (isRequired && BLANK.test(text)) return new Fault("blank", "must not be blank");
  // Characters are code points, of which some have two UTF-16 units.
  if ([...text].length > charsMax) return new Fault("too-long", `must have at most ${charsMax} characters`);
  return text;
}

function readInteger(literal, min, max = Infinity) {
  const number = NUMBER.test(literal) ? Number(literal) : 0.5;
  // Beyond the range of doubles a number is infinite, and larger than every bound.
  if (Number.isFinite(number) && !Number.isInteger(number)) return new Fault("wrong-type", "must be an integer");
  if (number >= min && number <= max) return Math.min(number, COUNT_MAX);
  return new Fault("out-of-range", max === Infinity ? `must be at least ${min}` : `must be from ${min} to ${max}`);
}
