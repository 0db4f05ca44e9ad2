// Odd bodies, by what is odd about them; the host's answers are the reference. Cases are text, or bytes that are not text
// (which reach the package only through HTTP).

/** A sound body of each kind: names and the JSON text of their values. */
export const SOUND = {
  risk: {
    amount: "1500.50",
    is_new_beneficiary: "true",
    hour_of_day: "12",
    num_past_transactions: "4",
    avg_transaction_amount: "900.25",
    max_transaction_amount: "2000",
    num_transactions_to_beneficiary: "0",
    is_new_device: "false",
    geolocation_changed: "false",
  },
  nudge: {
    screen: '"confirm_transfer"',
    num_validation_errors: "2",
    time_on_screen_seconds: "80",
    num_back_navigations: "1",
    steps_total: "3",
    current_step: "2",
  },
  accessibility: {
    can_read_small_text: "false",
    uses_screen_reader: "false",
    feels_confident_with_apps: '"low"',
    age_range: '"51_60"',
    avg_time_per_screen_seconds: "40",
    total_validation_errors: "1",
    requested_help_count: "0",
  },
};

/** The JSON text of an object; a value of undefined leaves the field out. */
export function textOf(members) {
  const present = Object.entries(members).filter(([, literal]) => literal !== undefined);
  return `{${present.map(([name, literal]) => `${JSON.stringify(name)}:${literal}`).join(",")}}`;
}

/** A sound body with some fields changed. */
const body = (kind, changes) => textOf({ ...SOUND[kind], ...changes });

/** The text of a sound body with more members, verbatim, at its end. */
const more = (kind, members) => `${textOf(SOUND[kind]).slice(0, -1)},${members}}`;

const string = (text) => JSON.stringify(text);

/** What can replace any value. */
const ODD_VALUES = {
  "left out": undefined,
  null: "null",
  "a string of digits": '"5"',
  "an empty string": '""',
  true: "true",
  "an array": "[]",
  "an object": "{}",
  "-1": "-1",
  1.5: "1.5",
  "1e400": "1e400",
  "-0": "-0",
};

const NUMBERS = {
  24: "24",
  23: "23",
  300: "300",
  "3.0": "3.0",
  "0.3e1": "0.3e1",
  "30e-1": "30e-1",
  "1E2": "1E2",
  "2^32": "4294967296",
  "2^32-1": "4294967295",
  "2^53+1": "9007199254740993",
  "2^64": "18446744073709551616",
  "a hundred nines": "9".repeat(100),
  "four hundred nines": "9".repeat(400),
  "-1e400": "-1e400",
  "1e-400": "1e-400",
  "-1e-400": "-1e-400",
  "the least double": "5e-324",
  "the largest double": "1.7976931348623157e308",
  "just beyond it": "1.7976931348623159e308",
  "half to even, beyond it": "1.797693134862315808e308",
  "a long fraction": `0.${"3".repeat(300)}`,
  "many zeros": `1${"0".repeat(300)}e-300`,
  "almost an integer": "0.9999999999999999999999",
  "-1e-1": "-1e-1",
  NaN: "NaN",
  Infinity: "Infinity",
  "-Infinity": "-Infinity",
  inf: "inf",
  "+1": "+1",
  "01": "01",
  "1.": "1.",
  ".5": ".5",
  "0x10": "0x10",
  "1_000": "1_000",
  "1n": "1n",
  "-": "-",
  "--1": "--1",
  "1e": "1e",
  "1e+": "1e+",
  undefined: "undefined",
};

const STRINGS = {
  "a single blank": '" "',
  "a no-break space": string("\u00a0"),
  "a next-line": string("\u0085"),
  "a byte order mark": string("\ufeff"),
  "an ideographic space": string("\u3000"),
  "a line separator": string("\u2028"),
  "a zero-width space": string("\u200b"),
  "an ogham space and a figure space": string("\u1680\u2007"),
  "a Mongolian vowel separator": string("\u180e"),
  "blanks escaped": '"\\u0020\\t\\n\\u0085"',
  "an information separator": '"\\u001f"',
  "NUL alone": '"\\u0000"',
  "NUL inside": '"a\\u0000b"',
  "a raw NUL": '"a\u0000b"',
  "a raw tab": '"a\tb"',
  "a raw newline": '"a\nb"',
  "a raw delete": '"a\u007fb"',
  "64 characters": string("a".repeat(64)),
  "65 characters": string("a".repeat(65)),
  "64 characters of two units": string("\u{1f600}".repeat(64)),
  "65 characters of two units": string("\u{1f600}".repeat(65)),
  "64 letters with marks": string("e\u0301".repeat(32)),
  "255 characters": string("ñ".repeat(255)),
  "256 characters": string("ñ".repeat(256)),
  "a high half": '"\\ud800"',
  "a low half": '"\\udc00"',
  "halves in the wrong order": '"\\udc00\\ud800"',
  "a pair, escaped": '"\\ud83d\\ude00"',
  "a pair, half of it raw": '"\\ud83d\ude00"',
  "a raw half": '"a\ud800b"',
  "a pair and a half": '"\\ud83d\\ude00\\ud83d"',
  "U+FFFE and U+FFFF": string("\ufffe\uffff"),
  "the last character": string("\u{10ffff}"),
  "an upper-case escape": '"\\u00E1"',
  "an upper-case U": '"\\U00e1"',
  "an escape with three digits": '"\\u0e1"',
  "an unknown escape": '"\\x41"',
  "an escaped slash": '"a\\/b"',
  "single quotes": "'a'",
  "no end": '"a',
  "a backslash at its end": '"a\\"',
  LOW: '"LOW"',
  "low and a blank": '"low "',
  "low, escaped": '"l\\u006fw"',
  "the name of the prototype": '"__proto__"',
  constructor: '"constructor"',
};

function* matrix() {
  const fields = {
    risk: ["amount", "is_new_device", "hour_of_day", "num_past_transactions", "beneficiary_saved_minutes", "user_id"],
    nudge: ["screen", "num_validation_errors", "steps_total", "session_id"],
    accessibility: ["can_read_small_text", "feels_confident_with_apps", "age_range", "total_validation_errors"],
  };
  for (const [kind, names] of Object.entries(fields)) {
    for (const field of names) {
      for (const [odd, literal] of Object.entries(ODD_VALUES)) {
        yield { name: `${field}: ${odd}`, kind, text: body(kind, { [field]: literal }) };
      }
    }
  }
  for (const field of ["amount", "hour_of_day", "num_past_transactions"]) {
    for (const [odd, literal] of Object.entries(NUMBERS)) {
      yield { name: `${field}: ${odd}`, kind: "risk", text: body("risk", { [field]: literal }) };
    }
  }
  for (const field of ["steps_total", "current_step"]) {
    for (const literal of ["0", "0.0", "1", "-0.0", "0.5", "4294967296"]) {
      yield { name: `${field}: ${literal}`, kind: "nudge", text: body("nudge", { [field]: literal }) };
    }
  }
  for (const [kind, field] of [
    ["nudge", "screen"],
    ["nudge", "user_id"],
    ["accessibility", "age_range"],
  ]) {
    for (const [odd, literal] of Object.entries(STRINGS)) {
      yield { name: `${field}: ${odd}`, kind, text: body(kind, { [field]: literal }) };
    }
  }
}

const DEPTH = 20_000;

/** Bodies of one kind that are odd as a whole. */
const WHOLE = {
  "nothing at all": "",
  "blanks only": " \t\r\n",
  "an empty object": "{}",
  null: "null",
  true: "true",
  "a wrong word": "nul",
  "a number": "5",
  "a number out of range": "1e400",
  "a negative number out of range": "-1e400",
  "four hundred digits": "9".repeat(400),
  "nothing, in a large spelling": "0e400",
  "a string": '"{}"',
  "a string with a half": '"\\ud800"',
  "a list with a half": '["\\ud800"]',
  "a list": "[]",
  "a list of a sound body": `[${textOf(SOUND.risk)}]`,
  "a list that does not end": "[1,2",
  "a list with a comma too many": "[1,]",
  "a string and more": '"a" "b"',
  "two objects": "{}{}",
  "an object and a word": "{} x",
  "a comma too many": "{,}",
  "a comma at the end": '{"a":1,}',
  "no colon": '{"a" 1}',
  "a number as a name": "{1:2}",
  "no quotes": "{a:1}",
  "a comment": '/* x */ {"a":1}',
  "a comment inside": '{"a":1 // x\n}',
  "a byte order mark": `\ufeff${textOf(SOUND.risk)}`,
  "a byte order mark at the end": `${textOf(SOUND.risk)}\ufeff`,
  "blanks around": ` \r\n\t${textOf(SOUND.risk)}\n\n`,
  "a no-break space in front": `\u00a0${textOf(SOUND.risk)}`,
  "a form feed in front": `\f${textOf(SOUND.risk)}`,
  "blanks everywhere": textOf(SOUND.risk).replaceAll(/[:,]/g, " \n$& \t"),
  "a name in escapes": textOf(SOUND.risk).replace("amount", "\\u0061mount"),
  "an unknown field": more("risk", '"extra":{"a":[1,"x",null]}'),
  "unknown fields that are like ours": more("risk", '"Amount":1,"amount ":2,"amoun\\u200bt":3'),
  "a field twice": more("risk", '"amount":1'),
  "a field twice, the same": more("risk", '"hour_of_day":12'),
  "a field twice, once in escapes": more("risk", '"\\u0061mount":1'),
  "a field twice, once null": more("risk", '"user_id":null,"user_id":"a"'),
  "an unknown field twice": more("risk", '"x":1,"x":2'),
  "a field twice inside another": more("risk", '"x":{"a":1,"a":2}'),
  "a field twice, then broken": '{"a":1,"a":2',
  "an empty name": more("risk", '"":1'),
  "an empty name twice": more("risk", '"":1,"":2'),
  "a field __proto__": more("risk", '"__proto__":{"amount":5}'),
  "__proto__ instead": `{"__proto__":${textOf(SOUND.risk)}}`,
  "__proto__ twice": more("risk", '"__proto__":1,"__proto__":2'),
  "constructor, toString and more": more("risk", '"constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":4'),
  "toJSON and then": more("risk", '"toJSON":1,"then":2'),
  "a name with a half": more("risk", '"\\ud800":1'),
  "a name with a raw half": more("risk", '"\ud800":1'),
  "two names with halves": more("risk", '"\ud800":1,"\ud801":2'),
  "a name with NUL": more("risk", '"a\\u0000":1'),
  "names in other normal forms": more("risk", '"\u00e9":1,"e\u0301":2'),
  "a half in an unknown field": more("risk", '"x":"\\ud800"'),
  "a half deep in an unknown field": more("risk", '"x":[{"y":"\\udfff"}]'),
  "a number out of range in an unknown field": more("risk", '"x":1e999'),
  "a broken number in an unknown field": more("risk", '"x":1e'),
  "structure inside of strings": more("risk", '"x":"}],:{[\\"amount\\":1","y{":"\\\\"'),
  "an unknown field full of escapes": more("risk", `"x":"${"\\\\".repeat(5000)}"`),
  "deep lists in an unknown field": more("risk", `"x":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`),
  "deep objects in an unknown field": more("risk", `"x":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`),
  "deep lists as a value": body("risk", { amount: `${"[".repeat(200)}${"]".repeat(200)}` }),
  "deep lists as the body": `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`,
  "deep lists that do not end": "[".repeat(DEPTH),
  "deep lists that end too soon": `${"[".repeat(DEPTH)}${"]".repeat(DEPTH - 1)}}`,
  "a thousand unknown fields": `{${Array.from({ length: 1000 }, (_, index) => `"x${index}":${index}`).join(",")}}`,
  "64 KiB": padded(64 << 10),
  "64 KiB and one byte": padded((64 << 10) + 1),
  "64 KiB and one byte of nothing": " ".repeat((64 << 10) + 1),
  "64 KiB of characters with two bytes": more("risk", `"x":"${"ñ".repeat(33_000)}"`),
  "less than 64 KiB of characters with three bytes": more("risk", `"x":"${"€".repeat(21_000)}"`),
  "all faults at once": '{"amount":"x","is_new_beneficiary":1,"hour_of_day":24,"num_past_transactions":-1,"user_id":5}',
};

/** A sound body of a given length in bytes. */
function padded(bytes) {
  const text = textOf(SOUND.risk);
  return text + " ".repeat(bytes - text.length);
}

const NO_BEHAVIOUR = {
  avg_time_per_screen_seconds: undefined,
  total_validation_errors: undefined,
  requested_help_count: undefined,
};

/** The short name of a questionnaire's field, and what comes with it. */
const ALIASES = {
  "alias alone": { feels_confident_with_apps: undefined, app_confidence: '"low"' },
  "alias alone, no behaviour": { ...NO_BEHAVIOUR, feels_confident_with_apps: undefined, app_confidence: '"low"' },
  "alias alone, some behaviour": {
    ...NO_BEHAVIOUR,
    feels_confident_with_apps: undefined,
    app_confidence: '"high"',
    total_validation_errors: "2",
  },
  "alias and a null name, behaviour null": {
    feels_confident_with_apps: "null",
    app_confidence: '"medium"',
    avg_time_per_screen_seconds: "null",
    total_validation_errors: "null",
    requested_help_count: "null",
  },
  "both, the same": { app_confidence: '"low"' },
  "both, no behaviour": { ...NO_BEHAVIOUR, app_confidence: '"low"' },
  "both, in conflict": { app_confidence: '"high"' },
  "both, the alias unknown": { app_confidence: '"none"' },
  "both, the name unknown": { feels_confident_with_apps: '"none"', app_confidence: '"low"' },
  "both unknown": { feels_confident_with_apps: "5", app_confidence: '"none"' },
  "alias of a wrong type": { feels_confident_with_apps: undefined, app_confidence: "true" },
  "alias null": { app_confidence: "null" },
  "alias null, no name": { feels_confident_with_apps: undefined, app_confidence: "null" },
  "alias, wrong behaviour": {
    feels_confident_with_apps: undefined,
    app_confidence: '"low"',
    requested_help_count: "-1",
  },
  "alias in conflict, and other faults": { app_confidence: '"high"', age_range: '"60"', uses_screen_reader: "1" },
};

function bytes(...parts) {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

/** Not UTF-8. */
const BYTES = {
  "a stray byte": [[0xff]],
  "a stray byte in a value": ['{"amount":"', [0xff], '"}'],
  "a stray byte in an unknown value": [textOf(SOUND.risk).slice(0, -1), ',"x":"', [0xc3], '"}'],
  "a stray byte in a name": ['{"', [0xc3, 0x28], '":1}'],
  "a stray byte in a string alone": ['"', [0x80], '"'],
  "a stray byte in a list": ['["', [0x80], '"]'],
  "a stray byte outside of strings in a list": ["[", [0x80], "]"],
  "a list with a stray byte that does not end": ['["', [0x80], '"'],
  "a half in three bytes": ['{"user_id":"', [0xed, 0xa0, 0x80], '"}'],
  "a slash in two bytes": ['{"user_id":"', [0xc0, 0xaf], '"}'],
  "an end in the middle of a character": ['{"user_id":"', [0xe2, 0x82]],
  "UTF-16": [Buffer.from("\ufeff{}", "utf16le")],
  "a byte order mark in bytes": [[0xef, 0xbb, 0xbf], "{}"],
};

/** Every case as {name, kind, text} or {name, kind, bytes}. */
export function* cases() {
  yield* matrix();
  for (const [name, text] of Object.entries(WHOLE)) yield { name, kind: "risk", text };
  for (const [name, changes] of Object.entries(ALIASES)) {
    yield { name, kind: "accessibility", text: body("accessibility", changes) };
  }
  for (const kind of ["nudge", "accessibility"]) {
    yield { name: "an empty object", kind, text: "{}" };
    yield { name: "fields of another kind", kind, text: textOf(SOUND.risk) };
    yield { name: "identifiers", kind, text: body(kind, { user_id: '"u-1"', session_id: '"s-1"' }) };
    yield { name: "identifiers, empty", kind, text: body(kind, { user_id: '""', session_id: '" "' }) };
    yield { name: "__proto__", kind, text: more(kind, '"__proto__":{"screen":"x","age_range":"18_30"}') };
  }
  for (const [name, parts] of Object.entries(BYTES)) yield { name, kind: "risk", bytes: bytes(...parts) };
}
