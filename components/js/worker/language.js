// Which of the two languages a client likes better.

/** A number as the host reads one after `q=`. */
const WEIGHT = /^[+-]?(inf|infinity|nan|\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)$/i;

/** The better-liked of Spanish and English in `Accept-Language`; Spanish when in doubt. */
export function preferredLanguage(header) {
  const text = /^[\t\x20-\x7e]*$/.test(header ?? "") ? (header ?? "") : "";
  const likes = text.split(",").map((range) => {
    const [language, ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((part) => part.startsWith("q="))?.slice(2) ?? "1";
    return { primary: language.split("-")[0].toLowerCase(), weight: readWeight(weight) };
  });
  const weightOf = (language) => Math.max(0, ...likes.filter((it) => it.primary === language).map((it) => it.weight));
  return weightOf("en") > weightOf("es") ? "en" : "es-MX";
}

/** What is no number weighs nothing. */
function readWeight(text) {
  if (!WEIGHT.test(text)) return 0;
  if (/inf/i.test(text)) return text.startsWith("-") ? 0 : Infinity;
  return Number(text) || 0;
}
