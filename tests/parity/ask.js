// Scores bodies with the package, in Node or in a page, and writes outcomes so that two runtimes can be compared bit for
// bit: as the host would answer, with every number spelled by the bits of its double.

/** Calls that are timed together, because clocks of browsers are coarse. */
const TIMED_TOGETHER = 10;

const view = new DataView(new ArrayBuffer(8));

/** A value with every number as `f64:` and 16 hex digits. */
export function spell(value) {
  if (typeof value === "number") {
    view.setFloat64(0, value);
    return `f64:${view.getBigUint64(0).toString(16).padStart(16, "0")}`;
  }
  if (Array.isArray(value)) return value.map(spell);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, spell(inner)]));
}

/** The comparable part of a refusal; parsers word malformed JSON differently. */
export function refusal({ status, code, detail, errors = [] }) {
  return { status, code, detail: code === "malformed-json" ? "" : detail, errors };
}

function outcome(scorer, text, how) {
  try {
    return { status: 200, answer: spell(scorer.assessText(text, how)) };
  } catch (error) {
    if (error.status === undefined) throw error;
    return refusal(error);
  }
}

/** The outcome for each text and, on request, the median time of a call in microseconds. */
export async function ask({ load }, kind, options, texts, how) {
  const { language, isTimed = false } = how ?? {};
  const scorer = await load(kind, options);
  const outcomes = texts.map((text) => outcome(scorer, text, { language }));
  const times = [];
  for (let start = 0; isTimed && start + TIMED_TOGETHER <= texts.length; start += TIMED_TOGETHER) {
    const begin = performance.now();
    for (const text of texts.slice(start, start + TIMED_TOGETHER)) outcome(scorer, text, { language });
    times.push(((performance.now() - begin) / TIMED_TOGETHER) * 1000);
  }
  return { outcomes, median: median(times) };
}

export function median(numbers) {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? null;
}
