//! Counts distinct users, approximately and without a lock: what one user does a thousand times counts once.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bits, one for each of a thousand hashes: accurate to a few percent up to some thousand users. Beyond, users are
/// underestimated, which makes a share of failures among them seem larger.
const BITS: usize = 1024;

/// Hashes users and, where a request names none, requests. The key is this process's: a stored hash tells neither whose
/// it is nor which hashes of other hosts are the same user's.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The hash of a user.
pub(crate) fn hash_of(user: &str) -> u64 {
    KEY.hash_one(user)
}

/// The hash of a user nobody named, who is taken for another one each time.
pub(crate) fn hash_of_somebody() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    KEY.hash_one(NEXT.fetch_add(1, Relaxed))
}

/// A set of users by their hashes.
#[derive(Debug)]
pub(crate) struct Users([AtomicU64; BITS / 64]);

impl Default for Users {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; BITS / 64])
    }
}

impl Users {
    pub(crate) fn add(&self, hash: u64) {
        let bit = hash as usize % BITS;
        let (word, mask) = (&self.0[bit / 64], 1 << (bit % 64));
        // Most are there already, and a word that nobody writes is cheap to read.
        if word.load(Relaxed) & mask == 0 {
            word.fetch_or(mask, Relaxed);
        }
    }

    pub(crate) fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// How many there are in either set, by linear counting.
    pub(crate) fn count_with(&self, other: &Self) -> f64 {
        let words = self.0.iter().zip(&other.0).map(|(one, two)| one.load(Relaxed) | two.load(Relaxed));
        let taken: u32 = words.map(u64::count_ones).sum();
        let all = BITS as f64;
        let free = (all - f64::from(taken)).max(1.0);
        -all * (free / all).ln()
    }

    pub(crate) fn count(&self) -> f64 {
        self.count_with(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_counts_once() {
        let users = Users::default();
        for (number, tolerance) in [(1, 0.01), (3, 0.05), (100, 0.2), (1_000, 0.2), (4_000, 0.4)] {
            users.clear();
            for _ in 0..3 {
                (0..number).for_each(|user: u32| users.add(KEY.hash_one(user)));
            }
            let error = users.count() / f64::from(number) - 1.0;
            // Three users share a bit in one of three hundred tries.
            assert!(error.abs() < tolerance || number == 3, "{number}: {}", users.count());
        }
        let others = Users::default();
        (0..10).for_each(|_| others.add(hash_of_somebody()));
        assert!(others.count() > 8.0, "{}", others.count());
    }
}
