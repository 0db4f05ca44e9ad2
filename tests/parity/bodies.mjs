// Random bodies, the same for each seed: sound ones, damaged as people, programs and attackers would. About a third remain
// acceptable.

import { chanceFrom } from "../web/customers.mjs";
import { SOUND } from "./hostile.mjs";

/** Literals that may or may not suit a field. */
const LITERALS = [
  "0",
  "1",
  "2",
  "23",
  "24",
  "300",
  "-1",
  "1.5",
  "3.0",
  "-0",
  "0.1",
  "1e3",
  "1e400",
  "-1e400",
  "1e-400",
  "1500.5",
  "99999999999",
  "4294967295",
  "4294967296",
  "9007199254740993",
  "123456789012345678901234567890",
  "2.5e-1",
  "0.30000000000000004",
  "true",
  "false",
  "null",
  '"5"',
  '""',
  '" "',
  '"a"',
  '"low"',
  '"high"',
  '"18_30"',
  '"60_plus"',
  '"login"',
  '"\\ud800"',
  '"\\u0000"',
  '"\\u0085"',
  '"\u0085"',
  '"\ufeff"',
  '"\ud83d\ude00"',
  '"\\ud83d\\ude00"',
  '"\ud83d"',
  '"x\\"y"',
  '"\\\\"',
  "[]",
  "{}",
  "[1,2]",
  '{"a":1}',
];

/** Literals that are not JSON. */
const BROKEN = [
  "nul",
  "True",
  "NaN",
  "Infinity",
  "01",
  "1.",
  "+1",
  "- 1",
  "1e",
  "[",
  "]",
  '"',
  "'a'",
  "undefined",
  '"\t"',
  '"\\x"',
];

const NAMES = [
  "user_id",
  "session_id",
  "beneficiary_saved_minutes",
  "app_confidence",
  "x",
  "",
  "__proto__",
  "amount",
  "screen",
];

const BLANKS = ["", "", "", "", " ", "\n", "\t ", "\r\n"];

/** The parts of random text: everything that matters to a JSON parser, and some that should not. */
const CHARACTERS = [
  ...'{}[]:,"\\/-+.eEu0159tfn ',
  "\u0000",
  "\u001f",
  "\u0085",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "\ud800",
  "\udc00",
  "ñ",
  "\u{1f600}",
];

/** `count` bodies as {kind, text}. */
export function* bodies(seed, count) {
  const random = chanceFrom(seed);
  const below = (limit) => Math.floor(random() * limit);
  const pick = (list) => list[below(list.length)];
  const kinds = Object.keys(SOUND);

  /** A random value of the type that the field has. */
  const sound = (literal) => {
    if (literal === "true" || literal === "false") return pick(["true", "false"]);
    if (literal[0] === '"') return literal;
    const integer = String(below(24));
    const money = (random() * 1e4).toFixed(below(3));
    return pick([integer, integer, money, String(random() * 10 ** below(300)), `${below(1e6)}e${below(9)}`]);
  };

  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const name = (text) => `"${random() < 0.05 ? [...text].map(escaped).join("") : text}"`;
  const member = ([field, literal]) => `${pick(BLANKS)}${name(field)}${pick(BLANKS)}:${literal}`;

  for (let made = 0; made < count; made += 1) {
    const kind = pick(kinds);
    const members = Object.entries(SOUND[kind]);
    for (const it of members) if (random() < 0.3) it[1] = sound(it[1]);
    for (let harm = below(4); harm > 0; harm -= 1) {
      const at = below(members.length + 1);
      const how = random();
      if (how < 0.4 && at < members.length) members[at][1] = pick(LITERALS);
      else if (how < 0.5 && at < members.length) members.splice(at, 1);
      else if (how < 0.9) members.splice(at, 0, [pick(NAMES), pick(LITERALS)]);
      else if (how < 0.95) members.splice(at, 0, [pick(NAMES), pick(BROKEN)]);
      else if (members.length > 0) members.splice(at, 0, pick(members));
    }
    if (random() < 0.3) members.reverse();
    let text = `{${members.map(member).join(",")}}`;
    if (random() < 0.15) {
      const at = below(text.length + 1);
      text = text.slice(0, at) + pick([...CHARACTERS, ""]) + text.slice(at + below(3));
    }
    if (random() < 0.05) text = Array.from({ length: below(20) }, () => pick(CHARACTERS)).join("");
    yield { kind, text };
  }
}
