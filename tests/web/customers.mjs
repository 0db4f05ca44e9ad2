// Ordinary customers for the warning-frequency report, and frauds staged against them. Every number follows from a seed;
// the kinds are our assumptions, stated here in full.

/** Uniform in [0, 1), the same on every machine. */
export function chanceFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * What a kind of customer does in a month. `regular`: payees that are paid each month as often, and about so much (pesos).
 * `others`: new people and shops per month, and the range of what they get. `night`: share of payments from 23:00 to 5:59.
 * `devices`: new ones per year. `travels`: share of payments in another time zone than the last.
 * `answers`: what they say of a payment, in shares.
 */
export const KINDS = {
  retired: {
    regular: [
      [1, 1_800],
      [1, 1_500],
      [2, 350],
      [2, 500],
    ],
    others: [0.3, 200, 3_000],
    night: 0.01,
    devices: 0.3,
    travels: 0.01,
    answers: { known: 0.8, own: 0.1, purchase: 0.05, other: 0.05 },
  },
  student: {
    regular: [
      [6, 80],
      [4, 150],
      [3, 250],
      [1, 1_500],
    ],
    others: [1.5, 50, 900],
    night: 0.15,
    devices: 0.6,
    travels: 0.02,
    answers: { known: 0.65, purchase: 0.25, own: 0.05, other: 0.05 },
  },
  "small business": {
    regular: [
      [8, 1_200],
      [8, 2_500],
      [4, 4_000],
      [4, 6_000],
      [4, 3_500],
      [4, 3_500],
      [4, 3_500],
      [2, 12_000],
      [1, 15_000],
    ],
    others: [2.5, 500, 12_000],
    night: 0.02,
    devices: 0.8,
    travels: 0.01,
    answers: { known: 0.8, purchase: 0.15, other: 0.05 },
  },
  family: {
    regular: [
      [1, 9_000],
      [1, 4_500],
      [4, 600],
      [4, 900],
      [2, 1_500],
      [3, 300],
    ],
    others: [1, 150, 4_000],
    night: 0.04,
    devices: 0.5,
    travels: 0.02,
    answers: { known: 0.7, purchase: 0.15, own: 0.1, number: 0.01, other: 0.04 },
  },
};

/** Share of new payees that are saved at least a day before they are paid. */
const SAVED_EARLIER = 0.25;
/** Of new payees, whose bank is saved under a name that the CLABE contradicts. */
const ODD_BANK = 0.03;

const weights = [3, 7, 1];
const BANKS = [
  ["012", "BBVA"],
  ["002", "Banamex"],
  ["072", "Banorte"],
  ["646", "STP"],
];

/** A CLABE with a right check digit, different for each number. */
function clabe(bank, number) {
  const digits = `${bank}180${String(number).padStart(11, "0")}`;
  const sum = [...digits].reduce((total, digit, place) => total + ((Number(digit) * weights[place % 3]) % 10), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

const DAY_MINUTES = 24 * 60;
const MONTH_MINUTES = 30 * DAY_MINUTES;
const MINUTE_MS = 60_000;

/** In centavos, within a quarter of what is usual. */
const about = (pesos, chance) => Math.round(pesos * (0.75 + chance() / 2)) * 100;
const between = (low, high, chance) => Math.round(low + (high - low) * chance()) * 100;

function pick(shares, chance) {
  let left = chance();
  for (const [name, share] of Object.entries(shares)) {
    left -= share;
    if (left < 0) return name;
  }
  return Object.keys(shares)[0];
}

/** A customer of a kind, who pays month after month. */
export class Customer {
  constructor(kind, seed) {
    this.about = KINDS[kind];
    this.chance = chanceFrom(seed);
    this.history = [];
    this.payees = [];
    this.saved = new Map();
    this.isNewDevice = true;
    this.minute = 0;
    this.regular = this.about.regular.map(() => null);
  }

  /** Saves a payee so many minutes before now. */
  saves(minutesAgo) {
    const id = `p${this.payees.length}`;
    const [code, bankName] = BANKS[Math.floor(this.chance() * BANKS.length)];
    const isOdd = this.chance() < ODD_BANK;
    const accountNumber = clabe(code, this.payees.length + 1);
    const payee = { id, name: id, accountNumber, bankName: isOdd ? "Inbursa" : bankName };
    this.payees.push(payee);
    this.saved.set(id, (this.minute - minutesAgo) * MINUTE_MS);
    return payee;
  }

  /** What the page would see of a payment now. */
  seen(payee, centavos, { hour, hasMoved = false }) {
    return {
      payee,
      payees: this.payees,
      facts: {
        draft: { payee, centavos },
        history: this.history,
        payees: this.payees,
        hour,
        isNewDevice: this.isNewDevice,
        // A device that was never used cannot have moved.
        hasMoved: !this.isNewDevice && hasMoved,
        savedAt: this.saved.get(payee.id),
        now: this.minute * MINUTE_MS,
      },
    };
  }

  /** The payment is completed. */
  pays(payee, centavos) {
    this.history.push({ id: `t${this.history.length}`, toBeneficiaryId: payee.id, centavos, status: "completed" });
    this.isNewDevice = false;
  }

  hour() {
    if (this.chance() < this.about.night) return [23, 0, 1, 2, 3, 4, 5][Math.floor(this.chance() * 7)];
    return 8 + Math.floor(this.chance() * 14);
  }

  newPayee() {
    return this.saves(this.chance() < SAVED_EARLIER ? DAY_MINUTES * (1 + this.chance() * 5) : 2 + this.chance() * 8);
  }

  regularPayee(place) {
    this.regular[place] ??= this.newPayee();
    return this.regular[place];
  }

  /** A month of payments, in the order in which they fall; each is `{ seen, purpose }`. */
  *month() {
    const { regular, others, travels, devices, answers } = this.about;
    const due = regular.flatMap(([times, pesos], place) => Array.from({ length: times }, () => ({ place, pesos })));
    const [perMonth, low, high] = others;
    const strangers = Math.floor(perMonth) + (this.chance() < perMonth % 1 ? 1 : 0);
    for (let met = 0; met < strangers; met += 1) due.push({ place: null });
    const timed = due.map((one) => ({ ...one, at: this.chance() })).sort((a, b) => a.at - b.at);
    const start = this.minute;
    const changesAt = this.chance() < devices / 12 ? this.chance() : null;
    for (const { place, pesos, at } of timed) {
      this.minute = start + at * MONTH_MINUTES;
      if (changesAt !== null && at > changesAt && !this.hasChanged) {
        this.isNewDevice = true;
        this.hasChanged = true;
      }
      const payee = place === null ? this.newPayee() : this.regularPayee(place);
      const centavos = place === null ? between(low, high, this.chance) : about(pesos, this.chance);
      const circumstances = { hour: this.hour(), hasMoved: this.chance() < travels };
      yield { seen: this.seen(payee, centavos, circumstances), purpose: pick(answers, this.chance) };
      this.pays(payee, centavos);
    }
    this.hasChanged = false;
    this.minute = start + MONTH_MINUTES;
  }
}

/** A fraud: what the caller has the customer do, in payments of so many pesos. All answers are what a victim would say. */
const mule = (customer, pesos, purpose) => ({ payee: customer.saves(5), centavos: Math.round(pesos) * 100, purpose });
const average = ({ history }) => history.reduce((sum, it) => sum + it.centavos, 0) / history.length / 100;

/** @type {Record<string, (customer: Customer) => { payee: any, centavos: number, purpose: string }>} */
export const FRAUDS = {
  "call from “the bank”": (it) => mule(it, 4_000 + it.chance() * 20_000, "call"),
  "the same, answers dictated": (it) => mule(it, 4_000 + it.chance() * 20_000, it.chance() < 0.5 ? "known" : "own"),
  "false seller": (it) => mule(it, 600 + it.chance() * 5_000, "purchase"),
  "false seller, up to 500 pesos": (it) => mule(it, 200 + it.chance() * 300, "purchase"),
  "investment or job": (it) => mule(it, 1_000 + it.chance() * 8_000, "offer"),
  "relative’s new number": (it) => mule(it, 1_500 + it.chance() * 8_000, "number"),
  "a second, larger payment": (it) => {
    const first = mule(it, 400, "offer");
    it.pays(first.payee, first.centavos);
    it.minute += DAY_MINUTES;
    return { ...first, centavos: Math.round(Math.max(3 * average(it), 2_000)) * 100 };
  },
  "a second payment as usual": (it) => {
    const first = mule(it, average(it), "offer");
    it.pays(first.payee, first.centavos);
    it.minute += DAY_MINUTES;
    return { ...first, centavos: Math.round(average(it) * 0.9) * 100 };
  },
};
