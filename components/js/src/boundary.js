// Between the HTTP API and a component, as the schema of a kind describes both.

/** @import { AnswerField, RequestField, Schema } from "./internal.js" */
/** @import { Fields } from "./fields.js" */

/** Names in a component; the declarations have a few dozen. @type {Map<string, string>} */
const NAMES = new Map();

/** `is_new_device` is `isNewDevice` in a component. @param {string} name */
function camel(name) {
  let camel = NAMES.get(name);
  if (camel === undefined) {
    camel = name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
    NAMES.set(name, camel);
  }
  return camel;
}

/** What a component gets beyond the fields of a request. @type {Record<string, (schema: Schema, fields: Fields, options?: { language?: string }) => unknown>} */
const HIDDEN = {
  /** Whether everything was sent that an alias makes optional. */
  behaviour_observed: ({ request }, fields) => request.every((it) => !it.optional_with || fields.has(it.name)),
  // `en-US` is English too; everything else gets the bank's first language.
  language: (_schema, _fields, options) => (/^en(-|$)/i.test(options?.language ?? "") ? "en" : "es-mx"),
};

/**
 * Reads a request, in the order of the server's errors.
 * @param {Schema} schema @param {Fields} fields @param {{ language?: string }} [options]
 */
export function read(schema, fields, options) {
  /** @type {Record<string, unknown>} */
  const request = {};
  /** @type {Record<string, unknown>} */
  const sent = {};
  for (const field of schema.request) {
    const { name, type, cases, texts = [] } = field;
    const value = type === "hidden" ? HIDDEN[name](schema, fields, options) : fields.read(field);
    sent[name] = value;
    if (!field.echoed) request[camel(name)] = cases ? cases[texts.indexOf(/** @type {string} */ (value))] : value;
  }
  return { request, sent };
}

/**
 * The answer on the wire. Fields of the request that it repeats are absent when they were not sent.
 * @param {Schema} schema @param {any} assessment @param {Record<string, unknown>} sent @param {string} modelVersion
 */
export function answer(schema, assessment, sent, modelVersion) {
  const known = { ...sent, model_version: modelVersion };
  /** @param {AnswerField[]} fields @returns {any} */
  const write = (fields) =>
    Object.fromEntries(
      fields
        .map((field) => {
          if (field.fields) return [field.name, write(field.fields)];
          const own = /** @type {Record<string, unknown>} */ (known);
          return [field.name, field.name in own ? own[field.name] : assessment[field.component ?? camel(field.name)]];
        })
        .filter(([, value]) => value !== undefined),
    );
  return write(schema.answer);
}
