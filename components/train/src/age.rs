//! Ages of the synthetic people, for slices and for their pace. Risk and nudge models do not see them.

use caudal_model::accessibility::AgeRange;

use crate::random::Random;

/// In ascending order.
pub const ALL: [AgeRange; 4] = [AgeRange::From18To30, AgeRange::From31To50, AgeRange::From51To60, AgeRange::Over60];

/// The share of each range among the people of the generators; made up.
pub(crate) const SHARES: [f64; 4] = [0.28, 0.40, 0.18, 0.14];

pub(crate) fn draw(random: &mut Random) -> AgeRange {
    ALL[random.weighted(&SHARES)]
}
