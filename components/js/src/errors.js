// The two reasons why a call has no answer: the request is at fault, or the model is.

/** @import { FieldError } from "./index.js" */

/** The request was refused. Status, code, detail and errors are those of the HTTP API for the same body. */
export class InvalidRequest extends Error {
  name = "InvalidRequest";

  /**
   * @param {number} status @param {string} code @param {string} title @param {string} detail @param {FieldError[]} errors
   */
  constructor(status, code, title, detail, errors = []) {
    super(`${title}: ${detail}`);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = errors;
  }
}

/** The model gave no usable answer. `cause` says why, for logs; the rest is what the HTTP API says. */
export class ModelFailed extends Error {
  name = "ModelFailed";
  status = 503;
  code = "model-unavailable";
  title = this.message;
  detail = "Nothing was decided and nothing was changed. Try again later.";
  /** @type {FieldError[]} */
  errors = [];

  /** @param {unknown} cause */
  constructor(cause) {
    super("A model is not available", { cause });
  }
}

/** The model has too little to go by, which it says itself: `reason`. A host would let its previous model answer. */
export class Abstained extends ModelFailed {
  name = "Abstained";

  /** @param {string} reason */
  constructor(reason) {
    super(new Error(`the model abstains: ${reason}`));
    this.reason = reason;
  }
}
