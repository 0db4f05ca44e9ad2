//! Random requests for the gate.

/// SplitMix64: the same sequence on every machine, so that a seed reproduces an examination.
pub struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`. The bias is negligible for a small `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap_or_default()
    }

    pub(super) fn flag(&mut self) -> bool {
        self.next() & 1 == 1
    }

    /// An amount from a centavo to a million, with every order of magnitude equally likely.
    pub(super) fn money(&mut self) -> f64 {
        let exponent = f64::from(self.below(8001)) / 1000.0 - 2.0;
        (10.0_f64.powf(exponent) * 100.0).round() / 100.0
    }
}
