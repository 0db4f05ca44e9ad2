//! Reproducible random numbers: a ChaCha stream, and distributions computed from it with `libm` and
//! arithmetic.
//!
//! Not a library of distributions, which may change its stream between versions or use the platform's
//! logarithm.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// `2^-53`: the spacing of [`Random::uniform`].
const UNIFORM_STEP: f64 = 1.0 / 9_007_199_254_740_992.0;

#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Streams of one seed do not overlap, so adding rows to one data set does not change another.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// In the open interval from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) * UNIFORM_STEP
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Uniform below `bound`, which must be positive. The bias is at most `bound / 2^64`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// One of `from`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// An index into `weights`, with a probability proportional to the weight.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.uniform() * weights.iter().sum::<f64>();
        for (place, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return place;
            }
        }
        weights.len() - 1
    }

    /// Normal, by the Box-Muller transform.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        mean + deviation * radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    /// Log-normal; the parameters are those of the logarithm.
    pub fn lognormal(&mut self, mean: f64, deviation: f64) -> f64 {
        libm::exp(self.normal(mean, deviation))
    }

    /// Logistic with mean 0.
    pub fn logistic(&mut self, scale: f64) -> f64 {
        let p = self.uniform();
        scale * libm::log(p / (1.0 - p))
    }

    /// Failures before the first success, which has probability `p`.
    pub fn geometric(&mut self, p: f64) -> u32 {
        (libm::log(self.uniform()) / libm::log(1.0 - p)) as u32
    }

    /// Negative binomial: Poisson counts with gamma-distributed rates.
    pub fn negative_binomial(&mut self, size: f64, mean: f64) -> u32 {
        let fail = mean / (mean + size);
        let mut left = self.uniform();
        let mut mass = libm::pow(1.0 - fail, size);
        let mut count = 0_u32;
        while left > mass && mass > 0.0 {
            left -= mass;
            mass *= fail * (f64::from(count) + size) / (f64::from(count) + 1.0);
            count += 1;
        }
        count
    }
}
