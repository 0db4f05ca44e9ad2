//! Assigns a fixed share of the users to a canary.

use sha2::{Digest as _, Sha256};

use crate::domain::model::Digest;

/// Resolution of a share: a hundred parts are one percent.
const PARTS: u64 = 10_000;

/// Whether a canary serves `user`. The result depends only on the canary and the user: hosts agree, a
/// larger share includes every smaller one, and another canary serves other users.
pub fn is_in_share(canary: Digest, user: &str, percent: u8) -> bool {
    let mut hash = Sha256::new();
    hash.update(canary.0);
    hash.update(user.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_be_bytes(first) % PARTS < u64::from(percent) * 100
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: u32 = 10_000;

    /// How many users each of twenty canaries serves at this share.
    fn shares(percent: u8) -> Vec<u32> {
        let salt = |index: u8| Digest(Sha256::digest([index]).into());
        let users = || (0..USERS).map(|user| format!("user-{user}"));
        let count = |index| users().filter(|user| is_in_share(salt(index), user, percent)).count();
        (0..20).map(|index| u32::try_from(count(index)).unwrap()).collect()
    }

    #[test]
    fn a_share_is_binomially_distributed() {
        for percent in [1, 10, 50] {
            let counts = shares(percent);
            let share = f64::from(percent) / 100.0;
            let (mean, variance) = (f64::from(USERS) * share, f64::from(USERS) * share * (1.0 - share));
            for count in &counts {
                let deviations = (f64::from(*count) - mean) / variance.sqrt();
                assert!(deviations.abs() < 4.0, "{percent} %: {count} users, {deviations:.1} deviations off");
            }
            // The sum of squares of 20 standard normals: 5.9 and 45.3 are its .1 % and 99.9 % points.
            let square = |count: &u32| (f64::from(*count) - mean).powi(2) / variance;
            let chi_squared: f64 = counts.iter().map(square).sum();
            assert!((5.9..45.3).contains(&chi_squared), "{percent} %: {chi_squared:.1}, {counts:?}");
        }
    }

    #[test]
    fn a_larger_share_includes_a_smaller_one() {
        let canary = Digest([3; 32]);
        for user in (0..USERS).map(|user| user.to_string()) {
            let met: Vec<bool> = (1..=99).map(|percent| is_in_share(canary, &user, percent)).collect();
            assert!(met.is_sorted(), "{user}");
        }
    }

    #[test]
    fn another_canary_serves_other_users() {
        let met = |salt, user: &u32| is_in_share(Digest([salt; 32]), &user.to_string(), 10);
        let both = (0..USERS).filter(|user| met(1, user) && met(2, user)).count();
        // A hundred of ten thousand, if they are independent.
        assert!((60..140).contains(&both), "{both}");
    }
}
