// The two ways in which a call has no answer: the request is at fault, or the model is.

/** The request was refused. Status, code, detail and errors are those of the HTTP API for the same body. */
export class InvalidRequest extends Error {
  constructor(status, code, title, detail, errors = []) {
    super(`${title}: ${detail}`);
    Object.assign(this, { name: "InvalidRequest", status, code, title, detail, errors });
  }
}

/** The model gave no usable answer. `cause` says why, for logs; the rest is what the HTTP API says. */
export class ModelFailed extends Error {
  constructor(cause) {
    super("A model is not available", { cause });
    Object.assign(this, {
      name: "ModelFailed",
      status: 503,
      code: "model-unavailable",
      title: this.message,
      detail: "Nothing was decided and nothing was changed. Try again later.",
      errors: [],
    });
  }
}
