//! Where random pauses come from: the machine, or a seed that gives the same ones again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A source of numbers from 0 to 1.
#[derive(Debug, Clone)]
pub enum Jitter {
    /// The machine's random numbers.
    System,
    /// A sequence that a seed fixes.
    Seeded(Arc<AtomicU64>),
}

impl Jitter {
    /// The sequence of a seed.
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Arc::new(AtomicU64::new(seed)))
    }

    /// The next number.
    pub fn share(&self) -> f64 {
        let number = match self {
            // Without a random number nobody waits at all, and only meets again.
            Self::System => getrandom::u32().unwrap_or(0),
            Self::Seeded(state) => split_mix(state.fetch_add(STEP, Relaxed).wrapping_add(STEP)),
        };
        f64::from(number) / f64::from(u32::MAX)
    }
}

/// The odd number of SplitMix64: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function of SplitMix64; its upper half.
fn split_mix(state: u64) -> u32 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_its_sequence_and_it_spreads() {
        let draw = |seed| {
            let jitter = Jitter::seeded(seed);
            (0..100).map(|_| jitter.share()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let mean = draw(3).iter().sum::<f64>() / 100.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
    }
}
