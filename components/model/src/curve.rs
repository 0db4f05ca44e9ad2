//! The logarithm and the logistic function, monotone to the last bit.
//!
//! A library's `log` and `exp` are accurate, but none guarantees that a larger argument never gives a
//! result that is smaller in the last digit, and the scorers guarantee that a larger amount never
//! lowers the score. Rounding preserves order, so a function composed only of order-preserving steps
//! (adding a constant, multiplying by a non-negative constant, taking a reciprocal) is exactly monotone.
//! These functions use only addition, multiplication and division, which also give the same bits in
//! every runtime.
//!
//! Each term of a series depends on the one before, so a processor mostly waits. Several arguments at once take hardly
//! longer than one.
//!
//! Not a general mathematics library: the domains are those that the scorers need.

use core::f64::consts::{LN_2, LOG2_E};

/// Bits in the fraction of an `f64`.
const FRACTION_BITS: u32 = 52;
const EXPONENT_BIAS: u64 = 1023;
const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;

/// Terms of the logarithm's series. Its argument stays below 1/3, so the first omitted term is
/// less than 1e-17 of the sum.
const LN_TERMS: usize = 17;
/// Terms of the exponential's series. Its argument stays below ln 2, so the first omitted term is
/// less than 1e-18.
const EXP_TERMS: u32 = 18;
/// Larger arguments of `exp` are clamped: `exp(700)` is finite, and the logistic function is 0 or 1
/// long before.
const EXPONENT_MAX: f64 = 700.0;

/// Coefficients of the logarithm's series: 1, 1/3, 1/5 and so on. A table, because compilers for WebAssembly leave the
/// division in the loop.
const ODD_RECIPROCALS: [f64; LN_TERMS] = {
    let mut all = [0.0; LN_TERMS];
    let mut term = 0;
    while term < LN_TERMS {
        all[term] = 1.0 / (2 * term + 1) as f64;
        term += 1;
    }
    all
};

/// The natural logarithm of `x` for `x >= 1`, and 0 for everything else, including NaN.
///
/// Monotone: `a <= b` implies `ln_from_one(a) <= ln_from_one(b)`. Infinity counts as `f64::MAX`, so
/// the result is at most 709.8. The absolute error is below 1e-15 for each power of two in `x`.
#[must_use]
pub fn ln_from_one(x: f64) -> f64 {
    let [ln] = each_ln_from_one([x]);
    ln
}

/// [`ln_from_one`] of each.
#[must_use]
pub fn each_ln_from_one<const N: usize>(all: [f64; N]) -> [f64; N] {
    let mut powers = [0; N];
    let mut ratios = [0.0; N];
    for (at, x) in all.into_iter().enumerate() {
        let x = if x > f64::MAX { f64::MAX } else { x };
        // The logarithm of 1 is exactly 0.
        let bits = if x > 1.0 { x } else { 1.0 }.to_bits();
        // At most 11 bits, and not negative because x >= 1.
        powers[at] = ((bits >> FRACTION_BITS) - EXPONENT_BIAS) as u32;
        let mantissa = f64::from_bits((bits & FRACTION_MASK) | (EXPONENT_BIAS << FRACTION_BITS));
        // ln m = 2 artanh((m - 1) / (m + 1)). Written as 1 - 2 / (m + 1), each step preserves order.
        ratios[at] = 1.0 - 2.0 / (mantissa + 1.0);
    }
    let squares = ratios.map(|ratio| ratio * ratio);
    let mut series = [0.0; N];
    for reciprocal in ODD_RECIPROCALS.into_iter().rev() {
        for (sum, square) in series.iter_mut().zip(squares) {
            *sum = *sum * square + reciprocal;
        }
    }
    let mut logarithms = [0.0; N];
    for (at, logarithm) in logarithms.iter_mut().enumerate() {
        let sum = f64::from(powers[at]) * LN_2 + 2.0 * ratios[at] * series[at];
        // Rounding must not carry the end of one binade past the start of the next.
        let next = f64::from(powers[at] + 1) * LN_2;
        *logarithm = if sum < next { sum } else { next };
    }
    logarithms
}

/// `e` to the power of each, clamped to `0 <= x <= 700`.
fn each_exp_from_zero<const N: usize>(all: [f64; N]) -> [f64; N] {
    let all = all.map(|x| x.clamp(0.0, EXPONENT_MAX));
    // At most 1010, so neither the cast nor the exponent below overflows.
    let powers = all.map(|x| (x * LOG2_E) as u32);
    let mut rests = all;
    for (rest, power) in rests.iter_mut().zip(powers) {
        let above = *rest - f64::from(power) * LN_2;
        *rest = if above > 0.0 { above } else { 0.0 };
    }
    let mut series = [1.0; N];
    for term in (1..=EXP_TERMS).rev() {
        for (sum, rest) in series.iter_mut().zip(rests) {
            *sum = 1.0 + rest * *sum / f64::from(term);
        }
    }
    for (sum, power) in series.iter_mut().zip(powers) {
        // As above: the end of one binade stays at or below the start of the next.
        let limited = if *sum < 2.0 { *sum } else { 2.0 };
        *sum = limited * f64::from_bits((u64::from(power) + EXPONENT_BIAS) << FRACTION_BITS);
    }
    series
}

/// The logistic function `1 / (1 + e^-x)`, for any `x` except NaN; 0 to 1.
///
/// Monotone: `a <= b` implies `sigmoid(a) <= sigmoid(b)`.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    let [y] = each_sigmoid([x]);
    y
}

/// [`sigmoid`] of each.
#[must_use]
pub fn each_sigmoid<const N: usize>(all: [f64; N]) -> [f64; N] {
    let mut results = each_exp_from_zero(all.map(|x| if x < 0.0 { -x } else { x }));
    for (result, x) in results.iter_mut().zip(all) {
        *result = if x < 0.0 { 1.0 / (1.0 + *result) } else { 1.0 / (1.0 + 1.0 / *result) };
    }
    results
}
