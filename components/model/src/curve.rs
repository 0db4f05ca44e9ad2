//! The logarithm and the logistic function, monotone to the last bit.
//!
//! A library's `log` and `exp` are accurate, but none guarantees that a larger argument never gives a
//! result that is smaller in the last digit, and the scorers guarantee that a larger amount never
//! lowers the score. Rounding preserves order, so a function composed only of order-preserving steps
//! (adding a constant, multiplying by a non-negative constant, taking a reciprocal) is exactly monotone.
//! These functions use only addition, multiplication and division, which also give the same bits in
//! every runtime.
//!
//! Not a general mathematics library: the domains are those that the scorers need.

use core::f64::consts::{LN_2, LOG2_E};

/// Bits in the fraction of an `f64`.
const FRACTION_BITS: u32 = 52;
const EXPONENT_BIAS: u64 = 1023;
const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;

/// Terms of the logarithm's series. Its argument stays below 1/3, so the first omitted term is
/// less than 1e-17 of the sum.
const LN_TERMS: u32 = 17;
/// Terms of the exponential's series. Its argument stays below ln 2, so the first omitted term is
/// less than 1e-18.
const EXP_TERMS: u32 = 18;
/// Larger arguments of `exp` are clamped: `exp(700)` is finite, and the logistic function is 0 or 1
/// long before.
const EXPONENT_MAX: f64 = 700.0;

/// The natural logarithm of `x` for `x >= 1`, and 0 for everything else, including NaN.
///
/// Monotone: `a <= b` implies `ln_from_one(a) <= ln_from_one(b)`. Infinity counts as `f64::MAX`, so
/// the result is at most 709.8. The absolute error is below 1e-15 for each power of two in `x`.
#[must_use]
pub fn ln_from_one(x: f64) -> f64 {
    if x.is_nan() || x <= 1.0 {
        return 0.0;
    }
    let bits = if x > f64::MAX { f64::MAX } else { x }.to_bits();
    // At most 11 bits, and not negative because x > 1.
    let power = ((bits >> FRACTION_BITS) - EXPONENT_BIAS) as u32;
    let mantissa = f64::from_bits((bits & FRACTION_MASK) | (EXPONENT_BIAS << FRACTION_BITS));

    // ln m = 2 artanh((m - 1) / (m + 1)). Written as 1 - 2 / (m + 1), each step preserves order.
    let ratio = 1.0 - 2.0 / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut series = 0.0;
    for term in (0..LN_TERMS).rev() {
        series = series * square + 1.0 / f64::from(2 * term + 1);
    }
    let sum = f64::from(power) * LN_2 + 2.0 * ratio * series;
    // Rounding must not carry the end of one binade past the start of the next.
    let next = f64::from(power + 1) * LN_2;
    if sum < next { sum } else { next }
}

/// `e` to the power of `x`, clamped to `0 <= x <= 700`.
fn exp_from_zero(x: f64) -> f64 {
    let x = x.clamp(0.0, EXPONENT_MAX);
    // At most 1010, so neither the cast nor the exponent below overflows.
    let power = (x * LOG2_E) as u32;
    let rest = x - f64::from(power) * LN_2;
    let rest = if rest > 0.0 { rest } else { 0.0 };
    let mut series = 1.0;
    for term in (1..=EXP_TERMS).rev() {
        series = 1.0 + rest * series / f64::from(term);
    }
    // As above: the end of one binade stays at or below the start of the next.
    let series = if series < 2.0 { series } else { 2.0 };
    series * f64::from_bits((u64::from(power) + EXPONENT_BIAS) << FRACTION_BITS)
}

/// The logistic function `1 / (1 + e^-x)`, for any `x` except NaN; 0 to 1.
///
/// Monotone: `a <= b` implies `sigmoid(a) <= sigmoid(b)`.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { 1.0 / (1.0 + exp_from_zero(-x)) } else { 1.0 / (1.0 + 1.0 / exp_from_zero(x)) }
}
