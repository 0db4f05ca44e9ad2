// How people sign in here: with the bank's OpenID provider, as any user in the sandbox, or with a token.

/** @import { Provider } from "./types.js" */
import * as api from "./api.js";

let isSandbox = false;
/** Undefined until the service has said whether there is one. @type {Provider | null | undefined} */
let provider;

export const inSandbox = () => isSandbox;
export const providerNow = () => provider;

/** Asks the service about its provider, until it has answered once. Throws a Problem when it does not. */
export async function knowProvider() {
  if (provider === undefined) provider = await api.provider();
  return provider;
}

export async function knowEntrance() {
  await Promise.all([
    api.isSandbox().then((it) => {
      isSandbox = it;
    }),
    // The sign-in screen asks again.
    knowProvider().catch(() => {}),
  ]);
}
