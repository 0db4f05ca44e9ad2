//! Drift of the requests from the training data, as the population stability index.

use std::collections::HashMap;

use serde::Deserialize;

use crate::domain::model::ModelKind;
use crate::models::serving::embedded::Embedded;

/// Added to the share of each bin to avoid dividing by zero.
const SMOOTHING: f64 = 1e-4;

/// Distribution of one feature in the training data. There is a bin for each range between
/// deciles and one for each decile itself, so that a rarely set flag does not share a bin with the rest.
#[derive(Debug, Clone, Deserialize)]
struct Distribution {
    fact: String,
    ends: Vec<f64>,
    shares: Vec<f64>,
}

/// Distributions of each kind's features in the training data, from the cards of the default models.
#[derive(Debug, Default)]
pub(crate) struct Reference(HashMap<(ModelKind, String), Distribution>);

impl Reference {
    pub(crate) fn embedded() -> Self {
        #[derive(Deserialize)]
        struct Card {
            reference: Vec<Distribution>,
        }
        let defaults = Embedded::ALL.into_iter().filter(|it| it.by_default);
        let distributions = defaults.filter_map(|it| {
            // A unit test ensures that the cards parse.
            let card: Card = serde_json::from_str(it.card?.json).ok()?;
            Some(card.reference.into_iter().map(move |reference| ((it.kind, reference.fact.clone()), reference)))
        });
        Self(distributions.flatten().collect())
    }

    /// The bucket of a value; `None` if the card lacks the feature.
    pub(crate) fn bucket_of(&self, kind: ModelKind, feature: &str, value: f64) -> Option<i32> {
        let ends = &self.0.get(&(kind, feature.to_owned()))?.ends;
        let bucket = ends.partition_point(|end| *end < value) + ends.partition_point(|end| *end <= value);
        i32::try_from(bucket).ok()
    }

    /// The index of a feature with these counts by bucket.
    pub(crate) fn psi(&self, kind: ModelKind, feature: &str, counts: &HashMap<i32, i64>) -> Option<f64> {
        let shares = &self.0.get(&(kind, feature.to_owned()))?.shares;
        let count = |bucket: usize| i32::try_from(bucket).ok().and_then(|it| counts.get(&it)).copied().unwrap_or(0);
        let counts: Vec<f64> = (0..shares.len()).map(|bucket| count(bucket) as f64).collect();
        Some(psi(shares, &counts))
    }
}

/// The index between two histograms with the same bins; 0 if one is empty. A value below 0.1 is
/// negligible, and one above 0.25 calls for a review of the model.
pub(crate) fn psi(reference: &[f64], observed: &[f64]) -> f64 {
    let shares = |counts: &[f64]| -> Option<Vec<f64>> {
        let sum: f64 = counts.iter().sum();
        let share = |count: &f64| (count / sum + SMOOTHING) / (1.0 + SMOOTHING * counts.len() as f64);
        (sum > 0.0).then(|| counts.iter().map(share).collect())
    };
    let (Some(was), Some(is)) = (shares(reference), shares(observed)) else { return 0.0 };
    was.iter().zip(&is).map(|(was, is)| (is - was) * (is / was).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::{Kind, Random, Visitor, with_kind};

    /// The features of a random request.
    struct Features;

    impl Visitor for Features {
        type Output = Vec<(ModelKind, &'static str, f64)>;

        fn visit<K: Kind>(self) -> Self::Output {
            let features = K::random_request(&mut Random::new(1)).map(|request| K::features(&request));
            features.into_iter().flatten().map(|(name, value)| (K::KIND, name, value)).collect()
        }
    }

    #[test]
    fn the_cards_cover_every_monitored_feature() {
        let reference = Reference::embedded();
        for (kind, name, value) in ModelKind::SCORERS.iter().flat_map(|kind| with_kind(*kind, Features).unwrap()) {
            let bucket = reference.bucket_of(kind, name, value);
            let fact = &reference.0[&(kind, name.to_owned())];
            assert_eq!(fact.shares.len(), 2 * fact.ends.len() + 1, "{kind} {name}");
            assert!((fact.shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{kind} {name}");
            assert!(bucket.is_some_and(|it| (it as usize) < fact.shares.len()), "{kind} {name}");
        }
    }

    #[test]
    fn the_index_is_zero_for_the_same_and_grows_with_the_difference() {
        assert_eq!(psi(&[1.0, 1.0, 2.0], &[10.0, 10.0, 20.0]), 0.0);
        assert_eq!(psi(&[1.0, 1.0], &[0.0, 0.0]), 0.0);
        let (near, far) = (psi(&[0.5, 0.5], &[45.0, 55.0]), psi(&[0.5, 0.5], &[5.0, 95.0]));
        // (.45 - .5) ln(.45 / .5) + (.55 - .5) ln(.55 / .5), apart from the smoothing.
        assert!((near - 0.010_034).abs() < 1e-4, "{near}");
        assert!(far > 1.0, "{far}");
        assert!(psi(&[0.999, 0.001], &[0.9, 0.1]) > 0.25);
    }
}
