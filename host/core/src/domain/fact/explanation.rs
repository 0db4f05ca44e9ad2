//! What weighed how much in a score, by facts.

use std::iter::zip;

use super::{FACTS, Fact};
use crate::domain::BadAnswer;

/// Features of models of contract 1, which have names of their own, and the fact that each is made of. One that is made of
/// two belongs to the first in its name.
pub const FEATURES: [(&str, &str); 15] = [
    ("amount_over_average", "amount"),
    ("amount_over_maximum", "amount"),
    ("amount_much_higher_than_average", "amount"),
    ("new_beneficiary", "is_new_beneficiary"),
    ("unusual_time", "hour_of_day"),
    ("late_or_early", "hour_of_day"),
    ("new_device", "is_new_device"),
    ("location_changed", "geolocation_changed"),
    ("low_history", "num_past_transactions"),
    ("new_device_and_new_beneficiary", "is_new_device"),
    ("new_device_and_location_changed", "is_new_device"),
    ("new_beneficiary_and_amount_over_average", "is_new_beneficiary"),
    ("transactions_to_beneficiary", "num_transactions_to_beneficiary"),
    ("past_transactions", "num_past_transactions"),
    ("beneficiary_saved", "beneficiary_saved_minutes"),
];

/// What weighed how much in a score.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The number from which the score follows.
    pub predictor: f64,
    /// The predictor before any fact.
    pub base: f64,
    /// What each feature adds.
    pub contributions: Vec<f64>,
    /// The fact behind each of them; none behind a feature that this host does not know.
    pub facts: Vec<Option<&'static Fact>>,
}

impl Fact {
    /// The fact that a feature is made of: a name in [`FEATURES`], the code of a factor, or the fact's own name.
    pub fn behind(feature: &str) -> Option<&'static Self> {
        let known = FEATURES.iter().find(|(name, _)| name.eq_ignore_ascii_case(feature));
        Self::find(known.map_or(feature, |it| it.1))
    }
}

impl Explanation {
    /// Rejects explanations that no correct model gives.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), BadAnswer> {
        let are_finite = [self.predictor, self.base].iter().chain(&self.contributions).all(|it| it.is_finite());
        are_finite.then_some(()).ok_or(BadAnswer("a contribution is not a finite number"))
    }

    /// What facts add to the predictor, the largest first: at most so many, and none that adds nothing. Also what all else
    /// adds.
    pub fn weighed(&self, most: usize) -> (Vec<(&'static Fact, f64)>, f64) {
        let sum_of = |name: Option<&str>| {
            let own = zip(&self.facts, &self.contributions).filter(|(fact, _)| fact.map(|it| it.name) == name);
            own.fold(0.0, |sum, (_, part)| sum + part)
        };
        let sums = FACTS.iter().map(|fact| (fact, sum_of(Some(fact.name))));
        let mut all: Vec<_> = sums.filter(|(_, sum)| *sum != 0.0).collect();
        all.sort_by(|(_, one), (_, other)| other.abs().total_cmp(&one.abs()));
        let rest = all.iter().skip(most).fold(sum_of(None), |sum, (_, part)| sum + part);
        all.truncate(most);
        (all, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explanation(parts: &[(&str, f64)]) -> Explanation {
        let (facts, contributions) = parts.iter().map(|(feature, part)| (Fact::behind(feature), *part)).unzip();
        Explanation { predictor: 0.0, base: 0.0, contributions, facts }
    }

    #[test]
    fn features_of_a_fact_are_added_up_and_the_largest_sums_come_first() {
        let explanation = explanation(&[
            ("amount_over_average", 0.25),
            ("NEW_BENEFICIARY", 1.0),
            ("amount_over_maximum", 0.5),
            ("past_transactions", -2.0),
            ("unusual_time", 0.0),
            ("low_history", 0.5),
            ("is_new_device", 0.125),
            ("the_moon", 4.0),
            ("new_beneficiary_and_amount_over_average", -0.5),
        ]);
        let named = |most| {
            let (weighed, rest) = explanation.weighed(most);
            (weighed.into_iter().map(|(fact, sum)| (fact.name, sum)).collect::<Vec<_>>(), rest)
        };
        let all =
            [("num_past_transactions", -1.5), ("amount", 0.75), ("is_new_beneficiary", 0.5), ("is_new_device", 0.125)];
        assert_eq!(named(4), (all.to_vec(), 4.0));
        assert_eq!(named(2), (all[..2].to_vec(), 4.625));
    }

    #[test]
    fn every_feature_is_made_of_a_fact() {
        for (feature, fact) in FEATURES {
            assert_eq!(Fact::behind(feature).map(|it| it.name), Some(fact), "{feature}");
        }
    }

    #[test]
    fn only_numbers_add_up() {
        assert_eq!(explanation(&[("amount", -1.0)]).check(), Ok(()));
        assert!(explanation(&[("amount", f64::NAN)]).check().is_err());
    }
}
