//! Ages of the made-up people: who they are a share of, for slices and for pace. Models of risk and
//! nudges are not shown an age.

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// Age ranges of the HTTP API, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AgeRange {
    /// 18 to 30.
    #[serde(rename = "18_30")]
    From18To30,
    /// 31 to 50.
    #[serde(rename = "31_50")]
    From31To50,
    /// 51 to 60.
    #[serde(rename = "51_60")]
    From51To60,
    /// Over 60.
    #[serde(rename = "60_plus")]
    Over60,
}

impl AgeRange {
    /// In rising order.
    pub const ALL: [Self; 4] = [Self::From18To30, Self::From31To50, Self::From51To60, Self::Over60];

    /// Share of each among the people of the generators; made up.
    pub const SHARES: [f64; 4] = [0.28, 0.40, 0.18, 0.14];

    /// One of them, as often as its share.
    pub fn drawn(random: &mut Random) -> Self {
        Self::ALL[random.weighted(&Self::SHARES)]
    }

    /// Its code in the HTTP API.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::From18To30 => "18_30",
            Self::From31To50 => "31_50",
            Self::From51To60 => "51_60",
            Self::Over60 => "60_plus",
        }
    }
}
