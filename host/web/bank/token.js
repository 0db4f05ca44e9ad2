// The token lives in sessionStorage only: it is gone with the tab, no other tab can read it, and a reload does not
// sign a person out.

const KEY = "caudal.token";

export const token = () => sessionStorage.getItem(KEY) ?? "";

/** @param {string} text */
export const storeToken = (text) => sessionStorage.setItem(KEY, text);

export const clearToken = () => sessionStorage.removeItem(KEY);
