//! Bits of the header, and of a fact.

/// Inputs are rounded to `f32`.
pub const INPUTS_F32: u8 = 1;
/// Sums are rounded to `f32`.
pub const SUM_F32: u8 = 1 << 1;
/// The score is the predictor, not its logistic function.
pub const IDENTITY: u8 = 1 << 2;
/// A fact is required, so the last reason is [`MISSING_FACT`](crate::MISSING_FACT).
pub const REQUIRES: u8 = 1 << 3;
/// The number of splits on the left has 16 bits, not 8.
pub const WIDE: u8 = 1 << 4;
/// There are linear terms.
pub const LINEAR: u8 = 1 << 5;

/// Of a fact, the bits of its kind.
pub(crate) const KIND: u8 = 3;
pub(crate) const REQUIRED: u8 = 1 << 2;
/// The model was trained on hundredths of the fact.
pub(crate) const HUNDREDTHS: u8 = 1 << 3;
/// The model takes a zero for a missing value.
pub(crate) const ZERO_IS_MISSING: u8 = 1 << 4;
