//! Random pauses between attempts. A parameter, so that a simulation can reproduce a run.

use std::fmt;
use std::sync::Arc;

/// A source of numbers from 0 to 1.
#[derive(Clone)]
pub struct Jitter(Arc<dyn Fn() -> f64 + Send + Sync>);

impl Jitter {
    pub fn new(next: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(next))
    }

    /// The operating system's random numbers.
    pub fn system() -> Self {
        // Without randomness there is no pause, at the cost of another collision.
        Self::new(|| f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX))
    }

    pub(super) fn next(&self) -> f64 {
        (self.0)()
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jitter")
    }
}
