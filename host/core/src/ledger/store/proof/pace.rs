//! How much of Postgres' time a verification takes from transfers.

use std::time::Duration;

/// Least share: at a hundredth, a million transfers take hours.
const SHARE_MIN: f64 = 0.01;

/// The share of the time in which a verification works.
#[derive(Debug, Clone, Copy)]
pub struct Pace(f64);

impl Pace {
    /// Without pauses.
    pub const FULL: Self = Self(1.0);

    /// `None` unless the share is from 0.01 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (SHARE_MIN..=1.0).contains(&share).then_some(Self(share))
    }

    /// The pause after work that took this long.
    pub(super) fn pause(self, work: Duration) -> Duration {
        work.mul_f64(1.0 / self.0 - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_its_share_of_the_time() {
        let pause = |share| Pace::new(share).unwrap().pause(Duration::from_secs(2));
        assert_eq!(pause(1.0), Duration::ZERO);
        assert_eq!(pause(0.5), Duration::from_secs(2));
        assert_eq!(pause(0.25), Duration::from_secs(6));
        assert_eq!(pause(SHARE_MIN), Duration::from_secs(198));
        for share in [0.0, -0.5, 0.009, 1.01, f64::INFINITY, f64::NAN] {
            assert!(Pace::new(share).is_none(), "{share}");
        }
    }
}
