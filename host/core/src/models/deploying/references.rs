//! Watches the champions for drift: tells the observer what their cards say of their training data, and shows how far
//! requests are from it. A card can be pushed at any time, so they are read again and again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::{PgConnection, PgPool};

use crate::db::counts::{self, Count};
use crate::db::session::within;
use crate::domain::model::{Digest, ModelKind};
use crate::metrics::Metrics;
use crate::models::deploying::loading::DATABASE_TIME_MAX;
use crate::models::observing::drift::Reference;
use crate::models::observing::report::PSI_REQUESTS_MIN;
use crate::models::serving::active::Models;
use crate::models::serving::component::LoadedComponent;
use crate::scoring::monitored;

/// How often drift is looked at: it takes days to come.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// After so long a time, what was counted before it is left out the next time: customers have days and nights.
const WINDOW: Duration = Duration::from_secs(24 * 3_600);

/// The drift of the champions.
#[derive(Default)]
pub(super) struct Drift {
    looked_at: Option<Instant>,
    windows: HashMap<ModelKind, Window>,
}

/// What was counted by measure and bucket.
type Counts = HashMap<(String, i32), i64>;

/// The requests since the window before this one began, and which deployment they are of.
struct Window {
    epoch: i64,
    champion: Digest,
    began: Instant,
    at_beginning: Counts,
    before: Counts,
}

impl Drift {
    /// Reads the cards, and every minute what was counted.
    pub(super) async fn follow(&mut self, pool: &PgPool, models: &Models) -> Result<(), sqlx::Error> {
        let of = |it: LoadedComponent| (it.identity().kind, it.identity().digest);
        let champions: Vec<_> = models.snapshot().champions().map(of).collect();
        let is_due = self.looked_at.is_none_or(|at| at.elapsed() >= LOOK_EVERY);
        let read = async |db: &mut PgConnection| {
            let (mut references, mut counted) = (HashMap::new(), Vec::new());
            for &(kind, digest) in &champions {
                let reference = Reference::of(&mut *db, kind, digest).await?;
                references.insert(digest, Arc::clone(&reference));
                if is_due {
                    let epoch = models.status(kind).map_or(0, |it| it.epoch);
                    counted.push((kind, digest, epoch, reference, counts::of_epoch(&mut *db, kind, epoch).await?));
                }
            }
            Ok((references, counted))
        };
        let (references, counted) = within(pool.acquire().await?, DATABASE_TIME_MAX, read).await?;
        models.observer().watch(references);
        for (kind, champion, epoch, reference, counts) in counted {
            self.looked_at = Some(Instant::now());
            self.look((kind, epoch, champion), &reference, counts, (models.metrics(), Instant::now()));
        }
        Ok(())
    }

    fn look(
        &mut self,
        (kind, epoch, champion): (ModelKind, i64, Digest),
        reference: &Reference,
        counts: Vec<Count<i64>>,
        (metrics, now): (&Metrics, Instant),
    ) {
        let of_champion = counts.into_iter().filter(|it| it.digest == champion);
        let counts: Counts = of_champion.map(|it| ((it.measure, it.bucket), it.count)).collect();
        let fresh = || Window { epoch, champion, began: now, at_beginning: HashMap::new(), before: HashMap::new() };
        let window = self.windows.entry(kind).or_insert_with(fresh);
        if (window.epoch, window.champion) != (epoch, champion) {
            *window = fresh();
        }
        if now - window.began >= WINDOW {
            window.before = std::mem::replace(&mut window.at_beginning, counts.clone());
            window.began = now;
        }
        let watched: HashMap<_, _> = reference.features().collect();
        for fact in monitored(kind) {
            let psi = watched.get(fact).and_then(|it| {
                let measure = it.measure.to_string();
                let of_fact = counts.iter().filter(|((name, _), _)| *name == measure);
                let seen: HashMap<i32, i64> =
                    of_fact.map(|(key, count)| (key.1, count - window.before.get(key).unwrap_or(&0))).collect();
                (seen.values().sum::<i64>() >= PSI_REQUESTS_MIN).then(|| it.psi(&seen))
            });
            metrics.model_drift.of([kind.as_str(), fact]).set(psi.unwrap_or(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::card::Distribution;

    const CHAMPION: Digest = Digest([1; 32]);

    #[test]
    fn drift_is_that_of_the_last_days() {
        let (fact, ends, shares) = ("is_new_device".to_owned(), vec![0.0], vec![0.0, 0.9, 0.1]);
        let reference = Reference::new(ModelKind::Risk, &[Distribution { fact, ends, shares }]);
        let (measure, _) = reference.bucket_of("is_new_device", 1.0).unwrap();
        let (mut drift, metrics, start) = (Drift::default(), Metrics::default(), Instant::now());
        let mut look = |epoch, days: u32, known, new| {
            let count = |bucket, count| {
                let measure = measure.to_string();
                Count { kind: ModelKind::Risk, at: epoch, digest: CHAMPION, measure, bucket, count }
            };
            let now = (&metrics, start + WINDOW * days);
            drift.look((ModelKind::Risk, epoch, CHAMPION), &reference, vec![count(1, known), count(2, new)], now);
            metrics.model_drift.of(["risk", "is_new_device"]).get()
        };
        assert_eq!(look(1, 0, 400, 40), 0.0, "too few to tell");
        assert!(look(1, 0, 9_000, 1_000) < 1e-6);
        assert!(look(1, 1, 9_000_000, 1_000_000) < 1e-6);
        // All are new from now on, which ten million before them hide for a day.
        assert!(look(1, 1, 9_000_000, 1_010_000) < 0.01);
        assert!(look(1, 2, 9_000_000, 1_010_000) > 1.0);
        assert_eq!(look(2, 3, 100, 100), 0.0, "another deployment");
        let text = metrics.text();
        assert!(text.contains("caudal_model_drift{kind=\"risk\",fact=\"is_new_device\"} 0.0"), "{text}");
    }
}
