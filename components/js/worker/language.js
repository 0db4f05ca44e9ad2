// Content negotiation between the two languages.

/** A weight as the host parses it. */
const WEIGHT = /^[+-]?(inf|infinity|nan|\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)$/i;

/** The preferred language, Spanish or English; Spanish by default. @param {string | null} header */
export function preferredLanguage(header) {
  const text = /^[\t\x20-\x7e]*$/.test(header ?? "") ? (header ?? "") : "";
  const ranges = text.split(",").map((range) => {
    const [language, ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((part) => part.startsWith("q="))?.slice(2) ?? "1";
    return { primary: language.split("-")[0].toLowerCase(), weight: readWeight(weight) };
  });
  /** @param {string} language */
  const weightOf = (language) => Math.max(0, ...ranges.filter((it) => it.primary === language).map((it) => it.weight));
  return weightOf("en") > weightOf("es") ? "en" : "es-MX";
}

/** Anything but a number counts as 0. @param {string} text */
function readWeight(text) {
  if (!WEIGHT.test(text)) return 0;
  if (/inf/i.test(text)) return text.startsWith("-") ? 0 : Infinity;
  return Number(text) || 0;
}
