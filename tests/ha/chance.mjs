// Random choices that a seed repeats.

const MASK = (1n << 64n) - 1n;

/** SplitMix64, as in tests/random.rs. */
export class Chance {
  #state;

  constructor(seed) {
    this.#state = BigInt(seed) & MASK;
  }

  below(count) {
    this.#state = (this.#state + 0x9e3779b97f4a7c15n) & MASK;
    let mixed = ((this.#state ^ (this.#state >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return Number((mixed ^ (mixed >> 31n)) % BigInt(count));
  }

  pick(items) {
    return items[this.below(items.length)];
  }

  /** The items in a random order. */
  shuffled(items) {
    const left = [...items];
    return items.map(() => left.splice(this.below(left.length), 1)[0]);
  }
}
