// No call leaves anything behind for the next, whatever a core does to remember; and the models' instances are reused.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";

import manifest from "../../components/js/lib/dist/manifest.js";
import { compile, copied } from "../../components/js/lib/src/instance.js";
import { load } from "../../components/js/lib/src/node.js";
import { Component } from "../../components/js/lib/src/scorer.js";
import { core } from "./cores.mjs";
import { SOUND, textOf } from "./hostile.mjs";

const LIB_DIST = new URL("../../components/js/lib/dist/", import.meta.url);
const RISK = textOf(SOUND.risk);

const NEXT = { next: [0, 0] };
const PAGE = [0, 1];
const FUNCTIONS = [0x70, 0, 1];
const ELEMENT = [0, 0x41, 0, 0x0b, 1, 0];
/** i32.const 7, as a function that has nothing to remember. */
const SEVEN = [0x41, 7];
const COUNT_I32 = [0x23, 0, 0x41, 1, 0x6a, 0x24, 0, 0x23, 0];
const COUNT_I64 = [0x23, 0, 0x42, 1, 0x7c, 0x24, 0, 0x23, 0, 0xa7];
const COUNT_IN_MEMORY = [0x41, 0, 0x41, 0, 0x2d, 0, 0, 0x41, 1, 0x6a, 0x3a, 0, 0, 0x41, 0, 0x2d, 0, 0];
const GROW_MEMORY = [0x41, 1, 0x40, 0];
const GROW_TABLE = [0xd0, 0x70, 0x41, 1, 0xfc, 15, 0];
const IS_NULL_AND_SET = [0x41, 0, 0x25, 0, 0xd1, 0x41, 0, 0xd0, 0x70, 0x26, 0];
const COUNT_F64 = [0x23, 0, 0x44, ...[0, 0, 0, 0, 0, 0, 0xf0, 0x3f], 0xa0, 0x24, 0, 0x23, 0, 0xaa];
const KEEP = [0x23, 0, 0xd1, 0xd2, 0, 0x24, 0];
const USE_AND_DROP_DATA = [0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 8, 0, 0, 0xfc, 9, 0, 0x41, 7];
const USE_AND_DROP_ELEMENT = [0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 12, 0, 0, 0xfc, 13, 0, 0x41, 7];

/** Passive data of 65 bytes that would also read as active data. */
const LIKE_ACTIVE = [1, 0x41, 0, 0x0b, 62, ...Array(62).fill(0)];

/** How a core may remember; `states`: how many exports restore it, if they can. */
const REMEMBERING = {
  "nothing at all": { states: undefined, code: [SEVEN] },
  "a global": { states: 1, code: [COUNT_I32], globals: [[0x7f, 1, 0x41, 5, 0x0b]] },
  "a global of 64 bits": { states: 1, code: [COUNT_I64], globals: [[0x7e, 1, 0x42, 5, 0x0b]] },
  "a global that it exports": {
    states: 1,
    code: [COUNT_I32],
    globals: [[0x7f, 1, 0x41, 5, 0x0b]],
    exports: { ...NEXT, own: [3, 0] },
  },
  memory: { states: 1, code: [COUNT_IN_MEMORY], memories: [PAGE] },
  "memory with data": { states: 1, code: [COUNT_IN_MEMORY], memories: [PAGE], data: [[0, 0x41, 0, 0x0b, 1, 9]] },
  "the size of its memory": { states: 1, code: [GROW_MEMORY], memories: [PAGE] },
  "an entry of a table": { states: 1, code: [IS_NULL_AND_SET], tables: [FUNCTIONS], elements: [ELEMENT] },
  "the size of a table": { states: 1, code: [GROW_TABLE], tables: [FUNCTIONS] },
  "a global and memory behind constants": {
    states: 2,
    code: [[0x23, 1, 0x41, 1, 0x6a, 0x24, 1, ...COUNT_IN_MEMORY, 0x23, 1, 0x6a]],
    memories: [PAGE],
    globals: [
      [0x7f, 0, 0x41, 3, 0x0b],
      [0x7f, 1, 0x41, 4, 0x0b],
    ],
  },
  "a global that is no integer": { code: [COUNT_F64], globals: [[0x7c, 1, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b]] },
  "a reference in a global": {
    code: [KEEP],
    globals: [[0x70, 1, 0xd0, 0x70, 0x0b]],
    exports: { ...NEXT, declared: [0, 0] },
  },
  "that it dropped its data": { code: [USE_AND_DROP_DATA], memories: [PAGE], counted: 1, data: [LIKE_ACTIVE] },
  "that it dropped its elements": {
    code: [USE_AND_DROP_ELEMENT],
    tables: [FUNCTIONS],
    elements: [[1, 0, 1, 0]],
  },
  "that it started": { code: [COUNT_I32, []], globals: [[0x7f, 1, 0x41, 5, 0x0b]], start: 1, functions: [[0], [1]] },
  "much memory": { code: [COUNT_IN_MEMORY], memories: [[0, 9]] },
  "a large table": { code: [GROW_TABLE], tables: [[0x70, 0, 65]] },
  "a table of anything": { code: [SEVEN], tables: [[0x6f, 0, 1]] },
  "many globals": { code: [COUNT_I32], globals: Array(17).fill([0x7f, 1, 0x41, 0, 0x0b]) },
  "a name of what is added": {
    code: [COUNT_I32],
    globals: [
      [0x7f, 1, 0x41, 5, 0x0b],
      [0x7f, 0, 0x41, 5, 0x0b],
    ],
    exports: { ...NEXT, "caudal:state/1": [3, 1] },
  },
  "the very name of what is added": {
    code: [COUNT_I32],
    globals: [[0x7f, 1, 0x41, 5, 0x0b]],
    exports: { ...NEXT, "caudal:state/0": [0, 0] },
  },
};

describe("a core that remembers", () => {
  for (const [what, { states, exports = NEXT, ...parts }] of Object.entries(REMEMBERING)) {
    test(what, async () => {
      const compiled = await compile(core({ exports, ...parts }));
      assert.equal(compiled.states?.length, states);
      const seen = [];
      const wrap = (getCoreModule, imports, instantiateCore) => {
        const { next } = instantiateCore(getCoreModule("core.wasm"), imports).exports;
        const assess = () => seen.push(next());
        return { risk: { assess }, model: {} };
      };
      const component = new Component("risk", compiled, wrap);
      for (let call = 0; call < 3; call += 1) component.assess();
      assert.deepEqual(seen, Array(3).fill(seen[0]));
    });
  }

  test("what would be an object in a global that never changes", async () => {
    // (struct (mut i32)), made by a constant expression; engines of today's Node may not know it.
    const types = [
      [0x5f, 1, 0x7f, 1],
      [0x60, 0, 1, 0x7f],
    ];
    const globals = [[0x64, 0, 0, 0x41, 0, 0xfb, 0, 0, 0x0b]];
    const counting = [0x23, 0, 0x23, 0, 0xfb, 2, 0, 0, 0x41, 1, 0x6a, 0xfb, 5, 0, 0, 0x23, 0, 0xfb, 2, 0, 0];
    const bytes = core({ types, functions: [[1]], globals, code: [counting], exports: NEXT });
    const compiled = await compile(bytes).catch((error) => error);
    assert.ok(compiled instanceof WebAssembly.CompileError || compiled.states === null);
  });
});

test("one instance of a model serves all calls", async (t) => {
  const scorer = await load("risk");
  const expected = scorer.assessText(RISK);
  const made = t.mock.method(WebAssembly, "Instance");
  for (let call = 0; call < 10; call += 1) assert.deepEqual(scorer.assessText(RISK), expected);
  assert.equal(made.mock.callCount(), 0);
});

test("workerd gets copies of the models whose instances can be restored", async () => {
  for (const name of Object.keys(manifest.models)) {
    const module = await WebAssembly.compile(await readFile(new URL(`core/${name}.copy.wasm`, LIB_DIST)));
    assert.equal(copied(module).states?.length, 3, name);
  }
});
