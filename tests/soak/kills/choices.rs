//! Choices of the clients and the test.

use crate::random::Random;

impl Random {
    /// An independent sequence.
    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.next())
    }

    /// From 0 to `count`, exclusive.
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
