//! Pairs of transfers that differ in one fact, and the order that their scores must have.
//!
//! Half of the pairs are at thresholds, where a violation is most likely. The fact that differs takes a
//! step across its own threshold (around twice the average, between counts of 0 to 3, from 6 or 22 to 5
//! or 23 hours, around half an hour since a beneficiary was saved). The facts that both transfers share
//! are at their thresholds, or put the score as close to a cut-off as an amount can.
//!
//! An average of 0 means that there is no history of amounts, not a small average. So it is never
//! compared with a positive one, and occurs only among the shared facts.

use caudal_model::risk::{HIGH_FROM, MEDIUM_FROM, Request, Weights, assess};

use crate::random::Random;

/// The fact that differs within a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A larger amount never lowers the score.
    Amount,
    /// A larger average, if positive, never raises it.
    Average,
    /// A larger maximum never raises it.
    Maximum,
    /// A new beneficiary never lowers it.
    NewBeneficiary,
    /// More transfers to the beneficiary never raise it.
    ToBeneficiary,
    /// More past transfers never raise it.
    Past,
    /// A new device never lowers it.
    NewDevice,
    /// A changed location never lowers it.
    Location,
    /// An unusual hour never scores lower than a usual one.
    Hour,
    /// Having saved the beneficiary earlier never raises it.
    Saved,
}

impl Direction {
    pub const ALL: [Self; 10] = [
        Self::Amount,
        Self::Average,
        Self::Maximum,
        Self::NewBeneficiary,
        Self::ToBeneficiary,
        Self::Past,
        Self::NewDevice,
        Self::Location,
        Self::Hour,
        Self::Saved,
    ];

    /// The guarantee, for a card.
    pub(crate) fn guarantee(self) -> &'static str {
        match self {
            Self::Amount => "larger amount: never lower",
            Self::Average => "larger average (above 0): never higher",
            Self::Maximum => "larger maximum: never higher",
            Self::NewBeneficiary => "new beneficiary: never lower",
            Self::ToBeneficiary => "more transfers to the beneficiary: never higher",
            Self::Past => "more past transfers: never higher",
            Self::NewDevice => "new device: never lower",
            Self::Location => "changed location: never lower",
            Self::Hour => "unusual hour: never lower than a usual one",
            Self::Saved => "beneficiary saved earlier: never higher",
        }
    }
}

/// Two different transfers. The score of the first must not exceed that of the second.
#[must_use]
pub fn pair(direction: Direction, weights: &Weights<'_>, random: &mut Random) -> (Request, Request) {
    let at_edge = random.chance(0.5);
    loop {
        let base = if at_edge { edge(weights, random) } else { any(random) };
        let (safer, riskier) = vary(direction, base, at_edge, random);
        if safer != riskier {
            return (safer, riskier);
        }
    }
}

/// Two copies of a transfer with different values of the fact.
fn vary(direction: Direction, mut base: Request, at_edge: bool, random: &mut Random) -> (Request, Request) {
    if matches!(direction, Direction::Average | Direction::Maximum) {
        base.avg_transaction_amount = base.avg_transaction_amount.max(LEAST);
    }
    let (average, maximum) = (base.avg_transaction_amount, base.max_transaction_amount);
    let (mut safer, mut riskier) = (base, base);
    match direction {
        Direction::Amount => {
            let edges = [2.0 * average, average, maximum, average * RATIO_MAX, base.amount];
            (safer.amount, riskier.amount) = amounts(at_edge, &edges, random);
        }
        Direction::Average => {
            let edges = [base.amount / 2.0, base.amount, maximum, average, f64::MIN_POSITIVE];
            let (low, high) = amounts(at_edge, &edges, random);
            riskier.avg_transaction_amount = low.max(LEAST);
            safer.avg_transaction_amount = high.max(LEAST);
        }
        Direction::Maximum => {
            let edges = [base.amount, average, maximum, 0.0];
            (riskier.max_transaction_amount, safer.max_transaction_amount) = amounts(at_edge, &edges, random);
        }
        Direction::NewBeneficiary => (safer.is_new_beneficiary, riskier.is_new_beneficiary) = (false, true),
        Direction::NewDevice => (safer.is_new_device, riskier.is_new_device) = (false, true),
        Direction::Location => (safer.geolocation_changed, riskier.geolocation_changed) = (false, true),
        Direction::ToBeneficiary => {
            (riskier.num_transactions_to_beneficiary, safer.num_transactions_to_beneficiary) = counts(at_edge, random);
        }
        Direction::Past => (riskier.num_past_transactions, safer.num_past_transactions) = counts(at_edge, random),
        Direction::Hour => {
            safer.hour_of_day = if at_edge { random.pick(&[6, 22]) } else { 6 + random.below(17) as u8 };
            riskier.hour_of_day = if at_edge { random.pick(&[5, 23]) } else { (23 + random.below(7) as u8) % 24 };
        }
        Direction::Saved => {
            let (less, more) = counts(false, random);
            let (less, more) = if at_edge { random.pick(&[(30, 31), (29, 31), (31, 32)]) } else { (less, more) };
            riskier.beneficiary_saved_minutes = if random.chance(0.2) { None } else { Some(less) };
            safer.beneficiary_saved_minutes = Some(more);
        }
    }
    (safer, riskier)
}

/// A transfer whose facts are at their thresholds.
fn edge(weights: &Weights<'_>, random: &mut Random) -> Request {
    let mut base = any(random);
    base.hour_of_day = random.pick(&[5, 6, 22, 23]);
    base.num_past_transactions = random.below(4) as u32;
    base.num_transactions_to_beneficiary = random.below(4) as u32;
    let average = base.avg_transaction_amount;
    match random.below(4) {
        0 => base.avg_transaction_amount = 0.0,
        1 if (2.0 * average).is_finite() => {
            base.amount = random.pick(&[2.0 * average, (2.0 * average).next_up()]).min(f64::MAX);
        }
        _ => base = at_cut_off(weights, base, random),
    }
    base
}

/// The result of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Pairs whose scores are in the wrong order.
    pub violations: usize,
    /// Pairs whose scores differ.
    pub differ: usize,
}

/// Compares the scores of `pairs` pairs.
#[must_use]
pub fn check(direction: Direction, weights: &Weights<'_>, pairs: usize, random: &mut Random) -> Order {
    let score = |request: &Request| assess(weights, request).map_or(f64::NAN, |verdict| verdict.score);
    let mut order = Order::default();
    for _ in 0..pairs {
        let (safer, riskier) = pair(direction, weights, random);
        let (safer, riskier) = (score(&safer), score(&riskier));
        // NaN is a violation too.
        order.violations += usize::from(safer.partial_cmp(&riskier).is_none_or(core::cmp::Ordering::is_gt));
        order.differ += usize::from(safer != riskier);
    }
    order
}

/// The smallest positive amount.
const LEAST: f64 = f64::from_bits(1);

/// Cap on the ratio of amounts.
const RATIO_MAX: f64 = 12.182_493_960_703_473;

/// Any transfer: half from the generator, half with independent facts.
fn any(random: &mut Random) -> Request {
    if random.chance(0.5) {
        return super::generator::generate(1, random)[0].facts;
    }
    let saved = random.chance(0.5);
    Request {
        amount: money(random),
        is_new_beneficiary: random.chance(0.5),
        hour_of_day: random.below(24) as u8,
        num_past_transactions: count(random),
        avg_transaction_amount: money(random),
        max_transaction_amount: money(random),
        num_transactions_to_beneficiary: count(random),
        is_new_device: random.chance(0.5),
        geolocation_changed: random.chance(0.5),
        beneficiary_saved_minutes: saved.then(|| count(random)),
    }
}

/// The transfer with an amount next to where its score crosses a cut-off, if it does.
fn at_cut_off(weights: &Weights<'_>, request: Request, random: &mut Random) -> Request {
    let cut_off = random.pick(&[MEDIUM_FROM, HIGH_FROM]);
    let average = request.avg_transaction_amount;
    let with = |amount: f64| Request { amount, ..request };
    let reaches = |amount: f64| assess(weights, &with(amount)).is_ok_and(|verdict| verdict.score >= cut_off);
    let (mut below, mut above) = (0.0_f64, average * 2.0 * RATIO_MAX);
    if !above.is_finite() || reaches(below) || !reaches(above) {
        return request;
    }
    // Bisect the bits, down to two neighbouring amounts.
    while below.to_bits() + 1 < above.to_bits() {
        let middle = f64::from_bits(below.to_bits() + (above.to_bits() - below.to_bits()) / 2);
        if reaches(middle) { above = middle } else { below = middle }
    }
    with(if random.chance(0.5) { below } else { above })
}

fn money(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => 0.0,
        1 => random.pick(&[0.01, f64::MIN_POSITIVE, 1e300, f64::MAX]),
        _ => random.lognormal(6.7, 2.0),
    }
}

fn count(random: &mut Random) -> u32 {
    match random.below(8) {
        0 => random.pick(&[u32::MAX - 1, u32::MAX]),
        1..4 => random.below(4) as u32,
        _ => random.below(60) as u32,
    }
}

/// Two counts in order; at an edge, neighbours from 0 to 4.
fn counts(at_edge: bool, random: &mut Random) -> (u32, u32) {
    if at_edge {
        let low = random.below(4) as u32;
        return (low, low + 1);
    }
    let (a, b) = (count(random), count(random));
    (a.min(b), a.max(b))
}

/// Two amounts in order; at an edge, one of `edges` and a neighbour of it.
fn amounts(at_edge: bool, edges: &[f64], random: &mut Random) -> (f64, f64) {
    let edge = random.pick(edges);
    let (a, b) = if at_edge && edge.is_finite() {
        match random.below(3) {
            0 => (edge, edge.next_up()),
            1 => (edge.next_down().max(0.0), edge),
            _ => (edge, money(random)),
        }
    } else {
        (money(random), money(random))
    };
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    (low, high.min(f64::MAX))
}
