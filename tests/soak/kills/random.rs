//! Choices that a seed repeats.

/// SplitMix64: a few lines, and good enough to choose by.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Choices of somebody else, which no longer depend on these.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// From 0 up to, and without, `count`.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let count = u64::try_from(choices.len()).unwrap();
        &choices[usize::try_from(self.below(count)).unwrap()]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, usize::try_from(self.below(u64::try_from(last).unwrap() + 1)).unwrap());
        }
    }
}
