//! Drift of the requests from the training data of the champion, as the population stability index.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use sqlx::PgConnection;

use crate::db::components;
use crate::domain::card::Distribution;
use crate::domain::model::{Digest, ModelKind};
use crate::models::observing::measure::Measure;
use crate::models::serving::embedded::Embedded;
use crate::schema::{parse, request};
use crate::scoring::monitored;
use crate::wasm::digest_of;

/// Added to the share of each bin to avoid dividing by zero.
const SMOOTHING: f64 = 1e-4;

/// Distributions of a model's features in its training data, from its card; empty if that has none.
#[derive(Debug)]
pub(crate) struct Reference(BTreeMap<&'static str, Watched>);

/// A distribution, and what its requests are counted as.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) measure: Measure,
    ends: Vec<f64>,
    shares: Vec<f64>,
}

/// Of the built-in models.
static BUILT_IN: LazyLock<HashMap<Digest, Arc<Reference>>> =
    LazyLock::new(|| Embedded::ALL.iter().map(|it| (digest_of(it.bytes), Arc::new(Reference::embedded(it)))).collect());

request! {
    /// What is read of the card of a built-in model.
    struct BuiltInCard {
        reference: Vec<Distribution>,
    }
}

impl Reference {
    pub(crate) fn new(kind: ModelKind, distributions: &[Distribution]) -> Self {
        let watched = monitored(kind).into_iter().filter_map(|name| {
            let Distribution { ends, shares, .. } = distributions.iter().find(|it| it.fact == name)?.clone();
            // A card that is replaced may have other bins, whose counts do not add up with these.
            let bytes: Vec<_> = ends.iter().flat_map(|end| end.to_le_bytes()).collect();
            let [a, b, c, d, ..] = digest_of(&bytes).0;
            let measure = Measure::Feature(name, u32::from_be_bytes([a, b, c, d]));
            Some((name, Watched { measure, ends, shares }))
        });
        Self(watched.collect())
    }

    fn embedded(embedded: &Embedded) -> Self {
        // A unit test ensures that the cards can be read.
        let card = embedded.card.and_then(|card| parse::<BuiltInCard>(card.json).ok());
        Self::new(embedded.kind, &card.map(|it| it.reference).unwrap_or_default())
    }

    /// That of a registered model.
    ///
    /// # Errors
    /// When the database fails, or the card in it was altered.
    pub(crate) async fn of(db: &mut PgConnection, kind: ModelKind, model: Digest) -> Result<Arc<Self>, sqlx::Error> {
        if let Some(reference) = BUILT_IN.get(&model) {
            return Ok(Arc::clone(reference));
        }
        let card = components::card_of(db, model).await?;
        Ok(Arc::new(Self::new(kind, &card.map(|it| it.reference).unwrap_or_default())))
    }

    /// By name.
    pub(crate) fn features(&self) -> impl Iterator<Item = (&'static str, &Watched)> {
        self.0.iter().map(|(name, it)| (*name, it))
    }

    /// What a value is counted as, and its bucket; `None` if the card lacks the feature.
    pub(crate) fn bucket_of(&self, feature: &str, value: f64) -> Option<(Measure, i32)> {
        let Watched { measure, ends, .. } = self.0.get(feature)?;
        let bucket = ends.partition_point(|end| *end < value) + ends.partition_point(|end| *end <= value);
        Some((*measure, i32::try_from(bucket).ok()?))
    }
}

impl Watched {
    /// The index of a feature with these counts by bucket.
    pub(crate) fn psi(&self, counts: &HashMap<i32, i64>) -> f64 {
        let count = |bucket: usize| i32::try_from(bucket).ok().and_then(|it| counts.get(&it)).copied().unwrap_or(0);
        let counts: Vec<f64> = (0..self.shares.len()).map(|bucket| count(bucket) as f64).collect();
        psi(&self.shares, &counts)
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
    use crate::domain::fact::FACTS;
    use crate::scoring::SCORE;

    #[test]
    fn the_cards_of_built_in_models_are_references() {
        for embedded in Embedded::ALL {
            let Some(card) = embedded.card else { continue };
            let (facts, card) = (monitored(embedded.kind), parse::<BuiltInCard>(card.json).unwrap());
            for it in &card.reference {
                assert_eq!(it.fault(&facts), None, "{} {}", embedded.name, it.fact);
            }
            let watched: Vec<_> = Reference::embedded(&embedded).0.into_keys().collect();
            let is_watched = |name: &&str| watched.contains(name);
            // The generator leaves the other facts unknown, and describes what is asked, not what is answered.
            let is_known =
                |name: &&str| *name != SCORE && FACTS.iter().all(|fact| fact.name != *name || fact.is_always_known);
            assert!(facts.iter().filter(|name| is_known(name)).all(is_watched), "{} {watched:?}", embedded.name);
        }
    }

    #[test]
    fn bins_are_told_apart_by_their_ends() {
        let of = |ends: &[f64], shares: &[f64]| {
            let (fact, ends, shares) = ("amount".to_owned(), ends.to_vec(), shares.to_vec());
            Reference::new(ModelKind::Risk, &[Distribution { fact, ends, shares }])
        };
        let (one, same, other) = (of(&[1.0], &[0.0, 1.0, 0.0]), of(&[1.0], &[0.5, 0.0, 0.5]), of(&[2.0], &[0.0; 3]));
        let bucket = |it: &Reference, value| it.bucket_of("amount", value).unwrap();
        assert_eq!([0.5, 1.0, 1.5].map(|value| bucket(&one, value).1), [0, 1, 2]);
        assert_eq!(bucket(&one, 1.0), bucket(&same, 1.0));
        assert_ne!(bucket(&one, 1.0).0, bucket(&other, 1.0).0);
        assert_eq!(one.bucket_of("is_new_device", 1.0), None);
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
