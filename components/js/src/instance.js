// Instances of a core, for one call at a time. If all that a core can remember is within reach, one instance serves many
// calls and is restored after each, which takes a fraction of the time of a new one.
//
// An instance remembers in its memories, mutable globals and tables, in which of its passive segments are dropped, in
// objects that these refer to, and behind its imports. Declarations tell which of these a core has, whatever its code
// does. Cores keep their globals and tables to themselves, so a copy that also exports them is compiled instead.

/** @import { Core } from "./internal.js" */

/** Begins the names of what a copy exports in addition. */
const STATE = "caudal:state/";

/** With more of these, restoring an instance takes as long as making one. */
const PAGES_MAX = 8;
const ENTRIES_MAX = 64;
const STATES_MAX = 16;

/** Identifiers of sections. */
const [IMPORT, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, DATA, DATA_COUNT] = [2, 4, 5, 6, 7, 8, 9, 11, 12];

/** Tables, memories and globals are numbered in this order as exports, too. */
const EXPORTED_FROM = TABLE - 1;

const [I32, I64, FUNCREF] = [0x7f, 0x7e, 0x70];
const [I32_CONST, I64_CONST, END] = [0x41, 0x42, 0x0b];

/** Fails if the core has state that is not restored, or is not valid. @param {boolean} holds */
function must(holds) {
  if (!holds) throw new Error("the core cannot be restored");
}

/** An integer as modules spell it. @param {number} value @returns {number[]} */
const spell = (value) => (value < 128 ? [value] : [(value % 128) + 128, ...spell(Math.floor(value / 128))]);

/** Reads a module, or a component. */
export class Reader {
  /** After magic and version. */
  at = 8;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new Error("the file ends too early");
    return this.bytes[this.at++];
  }

  /** An integer; meaningless if it is negative. @returns {number} */
  integer() {
    const byte = this.byte();
    return byte < 128 ? byte : byte - 128 + 128 * this.integer();
  }

  /** The lower limit of what is neither shared nor has addresses of 64 bits. */
  limits() {
    const flags = this.byte();
    must(flags < 2);
    const least = this.integer();
    if (flags === 1) this.integer();
    return least;
  }

  /** An initial value: an integer, because others may be objects with state. */
  constant() {
    const code = this.byte();
    must(code === I32_CONST || code === I64_CONST);
    this.integer();
    must(this.byte() === END);
  }

  /** The length of an active segment, which is dropped from the start. */
  segment() {
    must(this.byte() === 0);
    this.constant();
    return this.integer();
  }
}

/** Reads an item of a section, and tells whether it is state. @type {Record<number, (reader: Reader) => boolean | void>} */
const ITEMS = {
  [IMPORT]: () => must(false),
  [TABLE](reader) {
    must(reader.byte() === FUNCREF && reader.limits() <= ENTRIES_MAX);
    return true;
  },
  [MEMORY](reader) {
    must(reader.limits() <= PAGES_MAX);
    return true;
  },
  [GLOBAL](reader) {
    const type = reader.byte();
    const isMutable = reader.byte() === 1;
    must(!isMutable || type === I32 || type === I64);
    reader.constant();
    return isMutable;
  },
  [ELEMENT](reader) {
    for (let left = reader.segment(); left > 0; left -= 1) reader.integer();
  },
  [DATA](reader) {
    const length = reader.segment();
    reader.at += length;
  },
};

/** A copy of a core that exports its state, and how many exports that adds. @param {Uint8Array<ArrayBuffer>} bytes */
export function exporting(bytes) {
  const reader = new Reader(bytes);
  const names = new TextEncoder();
  /** @type {number[]} */
  const added = [];
  let states = 0;
  /** @type {(BlobPart | number[])[]} */
  const sections = [bytes.subarray(0, reader.at)];
  /** Where the exports are among the sections, and the present ones. @type {[number, number, Uint8Array] | undefined} */
  let exports;
  while (reader.at < bytes.length) {
    const from = reader.at;
    const id = reader.byte();
    const length = reader.integer();
    const end = reader.at + length;
    must(end <= bytes.length && id <= DATA_COUNT && id !== START);
    if (id === EXPORT) exports = [sections.length, reader.integer(), bytes.subarray(reader.at, end)];
    if (ITEMS[id]) {
      const count = reader.integer();
      for (let index = 0; index < count; index += 1) {
        if (!ITEMS[id](reader)) continue;
        const name = names.encode(STATE + states);
        added.push(name.length, ...name, id - EXPORTED_FROM, ...spell(index));
        states += 1;
        must(states <= STATES_MAX);
      }
      must(reader.at === end);
    }
    sections.push(bytes.subarray(from, end));
    reader.at = end;
  }
  if (exports) {
    const [place, count, present] = exports;
    const content = [...spell(count + states), ...present, ...added];
    sections[place] = new Uint8Array([EXPORT, ...spell(content.length), ...content]);
  }
  return { copy: new Blob(/** @type {BlobPart[]} */ (sections)).arrayBuffer(), states };
}

/** A core that was compiled from such a copy; of any other, each call gets a new instance. @param {WebAssembly.Module} module */
export function copied(module) {
  const names = WebAssembly.Module.exports(module).map((it) => it.name);
  const states = names.filter((name) => name.startsWith(STATE));
  return { module, states: states.length > 0 ? states : null };
}

/** Compiles a core, if possible so that an instance can be restored. @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Core>} */
export async function compile(bytes) {
  try {
    const { copy, states } = exporting(bytes);
    const core = copied(await WebAssembly.compile(await copy));
    // None, if it has no exports at all; more, if there are such names among its own.
    if (core.states?.length === states) return core;
  } catch {
    // Whatever is wrong with the core itself, compiling it as it is says so.
  }
  return { module: await WebAssembly.compile(bytes), states: null };
}

/** The exports of a new instance, and what restores it: false if it cannot be used again. @param {Core} core */
export function instantiate({ module, states }) {
  const { exports } = new WebAssembly.Instance(module, {});
  const restores = states?.map((name) => restorer(exports[name]));
  return { exports, restore: () => restores?.every((restore) => restore()) ?? false };
}

/** @param {WebAssembly.ExportValue} state @returns {() => boolean} */
function restorer(state) {
  if (state instanceof WebAssembly.Global) {
    const { value } = state;
    return () => {
      state.value = value;
      return true;
    };
  }
  if (state instanceof WebAssembly.Memory) {
    const { buffer } = state;
    const bytes = new Uint8Array(buffer);
    const initial = bytes.slice();
    return () => {
      // One that grew has another buffer, and does not shrink.
      if (state.buffer !== buffer) return false;
      bytes.set(initial);
      return true;
    };
  }
  const table = /** @type {WebAssembly.Table} */ (state);
  const entries = Array.from({ length: table.length }, (_, index) => table.get(index));
  return () => table.length === entries.length && entries.every((entry, index) => table.get(index) === entry);
}
