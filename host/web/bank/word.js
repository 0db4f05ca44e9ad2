// What went well, said on the screen that comes after it.

let word = null;

export function leaveWord(text) {
  word = text;
}

/** The word that was left, once. */
export function takeWord() {
  const taken = word;
  word = null;
  return taken;
}
