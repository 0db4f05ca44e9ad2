//! Statistics of a deployment's challengers. They come from bucketed counts, so percentiles are only as
//! precise as the buckets: differences to 0.001, times to within 20 %.

use std::collections::{BTreeMap, HashMap};

use sqlx::PgConnection;

use crate::clock::timestamp;
use crate::db::components::{self, Component, named};
use crate::db::counts::{self, Count};
use crate::db::deployments::{self, AUTOMATIC, Deployment};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::rules::Verdict;
use crate::models::deploying::built_in::built_in;
use crate::models::observing::drift::{Reference, psi};
use crate::models::observing::interval::{SHOWN, percentile, rounded, wilson};
use crate::models::observing::measure::{
    DIFFERENCE_UNIT, Failure, Measure, SCORE_BUCKETS, classes_of_flip, time_of_bucket,
};
use crate::schema::answer;
use crate::scoring::{Kind, Visitor, with_kind};

/// Changes searched for the latest one with challengers.
const HISTORY_MAX: i64 = 100;

/// Fewest requests for an index: with fewer, samples of the same population differ by chance.
pub const PSI_REQUESTS_MIN: i64 = 500;

answer! {
    /// How the challengers of a deployment compare with its champion.
    #[derive(serde::Deserialize)]
    pub struct Report as "ChallengersReport" {
        pub kind: String,
        /// Of the deployment.
        pub epoch: i64,
        /// The deployment is in service.
        pub current: bool,
        /// `model_version` of the champion.
        pub champion: String,
        /// When it was deployed; null if nothing ever was.
        pub since: Option<String> { nullable: true },
        /// Requests that were looked at, whichever version answered them: without challengers one in 16.
        pub observed: i64,
        /// Requests that were skipped because the queue was full.
        pub dropped: i64,
        /// Drift of the requests from the training data.
        pub features: Vec<Feature>,
        /// The canary first.
        pub challengers: Vec<Challenger>,
    }
}

answer! {
    /// The drift of one field of the requests.
    #[derive(serde::Deserialize)]
    pub struct Feature {
        /// Its name in the HTTP API.
        pub feature: String,
        /// Population stability index against the training data, if known.
        pub psi: Option<f64> { nullable: true },
        pub observed: i64,
    }
}

answer! {
    /// A challenger compared with the champion.
    #[derive(serde::Deserialize)]
    pub struct Challenger {
        /// `model_version`.
        pub version: String,
        /// `canary` or `shadow`.
        pub role: String,
        /// Share of users, for a canary.
        pub percent: Option<u8> { nullable: true },
        /// Requests that both answered: of those observed, a shadow's all, a canary's only its own users'.
        pub compared: i64,
        /// Requests on which it failed, by kind of failure.
        pub failed: BTreeMap<String, i64>,
        /// The verdicts, in the order of `flips`.
        pub classes: Vec<String>,
        /// Counts by the champion's verdict (row) and the challenger's (column).
        pub flips: Vec<Vec<i64>>,
        /// Share of compared requests with different verdicts, 0 to 1.
        pub flip_share: f64,
        /// The same with its interval.
        pub flip: Share,
        /// Of the requests that it answered or failed on, those on which it failed.
        pub failure: Share,
        /// The challenger's score minus the champion's.
        pub difference: Difference,
        /// Population stability index of the challenger's scores against the champion's.
        pub score_psi: Option<f64> { nullable: true },
        pub latency_us: Latencies,
        /// Why the canary was withdrawn.
        pub withdrawn: Option<String> { nullable: true },
        /// Distribution of the scores.
        pub scores: Scores,
    }
}

answer! {
    /// Percentiles and the largest value are of the absolute difference.
    #[derive(serde::Deserialize)]
    pub struct Difference {
        pub mean: f64,
        pub p50: f64,
        pub p99: f64,
        pub largest: f64,
    }
}

answer! {
    /// Latencies of champion and challenger.
    #[derive(serde::Deserialize)]
    pub struct Latencies {
        pub champion: Latency,
        pub challenger: Latency,
    }
}

answer! {
    /// A share with its 95% confidence interval, by Wilson's method.
    #[derive(serde::Deserialize)]
    pub struct Share {
        pub count: i64,
        pub of: i64,
        /// 0 if nothing was observed.
        pub share: f64,
        pub low: f64,
        pub high: f64,
    }
}

impl Share {
    pub fn of(count: i64, of: i64) -> Self {
        let (low, high) = wilson(count, of, SHOWN);
        Self { count, of, share: if of > 0 { count as f64 / of as f64 } else { 0.0 }, low, high }
    }
}

answer! {
    /// In microseconds.
    #[derive(serde::Deserialize)]
    pub struct Latency {
        pub p50: f64,
        pub p99: f64,
    }
}

answer! {
    /// Histograms of champion and challenger.
    #[derive(serde::Deserialize)]
    pub struct Scores {
        /// Bounds of the bins, one more than there are bins.
        pub edges: Vec<f64>,
        pub champion: Vec<i64>,
        pub challenger: Vec<i64>,
    }
}

impl Report {
    /// Reads the report of a deployment: by default the latest with challengers, or else the one in service.
    /// `None` if there is no such deployment.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read(db: &mut PgConnection, kind: ModelKind, epoch: Option<i64>) -> Result<Option<Self>, sqlx::Error> {
        // A deployment requested by epoch may be old.
        let limit = if epoch.is_some() { i64::MAX } else { HISTORY_MAX };
        let history = deployments::history_of(db, kind, limit).await?;
        let has_challengers = |it: &Deployment| it.challengers().next().is_some();
        let at = match epoch {
            Some(epoch) => history.iter().position(|it| it.epoch == epoch),
            None => history.iter().position(has_challengers).or((!history.is_empty()).then_some(0)),
        };
        let nothing = Deployment::nothing(kind, built_in(kind));
        let deployment = match at {
            Some(at) => &history[at],
            None if epoch.is_none() => &nothing,
            None => return Ok(None),
        };
        let counts = counts::of_epoch(db, kind, deployment.epoch).await?;
        let registered = components::list(db).await?;
        let reference = Reference::of(db, kind, deployment.champion).await?;
        // The next change records whether the canary was withdrawn.
        let after = at.and_then(|at| at.checked_sub(1)).map(|newer| &history[newer]);
        Ok(Some(Self::of(deployment, after, &counts, &registered, &reference)))
    }

    fn of(
        deployment: &Deployment,
        after: Option<&Deployment>,
        counts: &[Count<i64>],
        registered: &[Component],
        reference: &Reference,
    ) -> Self {
        let Deployment { kind, epoch, champion, .. } = *deployment;
        let seen = Histograms::new(counts);
        let version = |digest: Digest| named(digest, registered);
        let features = reference.features().filter_map(|(feature, it)| {
            let buckets = seen.buckets(champion, it.measure);
            let observed = buckets.values().sum();
            let psi = enough(observed).map(|()| it.psi(&buckets));
            (observed > 0).then(|| Feature { feature: feature.to_owned(), psi, observed })
        });
        let withdrawn = after.filter(|after| after.changed_by == AUTOMATIC && after.canary.is_none());
        let withdrawn = withdrawn.map(|after| after.reason.clone());
        let canary = deployment.canary.map(|canary| Challenger {
            version: version(canary.version),
            role: "canary".to_owned(),
            percent: Some(canary.percent),
            withdrawn,
            ..seen.challenger(kind, canary.version)
        });
        let shadows = deployment
            .shadows
            .iter()
            .map(|digest| Challenger { version: version(*digest), ..seen.challenger(kind, *digest) });
        Self {
            kind: kind.to_string(),
            epoch,
            current: after.is_none(),
            champion: version(champion),
            since: (epoch > 0).then(|| timestamp(deployment.changed_at)),
            observed: seen.sum(champion, Measure::Observed),
            dropped: seen.sum(champion, Measure::Dropped),
            features: features.collect(),
            challengers: canary.into_iter().chain(shadows).collect(),
        }
    }
}

type Buckets = HashMap<i32, i64>;

/// Counts by component and measure.
struct Histograms<'a>(BTreeMap<([u8; 32], &'a str), Buckets>);

impl<'a> Histograms<'a> {
    fn new(counts: &'a [Count<i64>]) -> Self {
        let mut seen: BTreeMap<_, Buckets> = BTreeMap::new();
        for it in counts {
            seen.entry((it.digest.0, it.measure.as_str())).or_default().insert(it.bucket, it.count);
        }
        Self(seen)
    }

    fn buckets(&self, digest: Digest, measure: Measure) -> Buckets {
        let name = measure.to_string();
        self.0.get(&(digest.0, name.as_str())).cloned().unwrap_or_default()
    }

    fn sum(&self, digest: Digest, measure: Measure) -> i64 {
        self.buckets(digest, measure).values().sum()
    }

    fn challenger(&self, kind: ModelKind, digest: Digest) -> Challenger {
        let classes = classes_of(kind);
        let mut flips = vec![vec![0; classes.len()]; classes.len()];
        for (bucket, count) in self.buckets(digest, Measure::Flip) {
            let (was, is) = classes_of_flip(bucket);
            if let Some(cell) = flips.get_mut(was).and_then(|row| row.get_mut(is)) {
                *cell += count;
            }
        }
        let compared: i64 = flips.iter().flatten().sum();
        let same: i64 = flips.iter().enumerate().map(|(at, row)| row[at]).sum();
        let failed = self.buckets(digest, Measure::Failed);
        let failures = failed.values().sum();
        let failed =
            Failure::ALL.iter().map(|it| (it.as_str().to_owned(), failed.get(&(*it as i32)).copied().unwrap_or(0)));
        let histogram = |measure| {
            let buckets = self.buckets(digest, measure);
            let count = |bucket: usize| buckets.get(&(bucket as i32)).copied().unwrap_or(0);
            (0..SCORE_BUCKETS).map(count).collect::<Vec<i64>>()
        };
        let (was, is) = (histogram(Measure::ChampionScore), histogram(Measure::ChallengerScore));
        let numbers = |counts: &[i64]| counts.iter().map(|count| *count as f64).collect::<Vec<_>>();
        let latency = |measure| {
            let times: Vec<_> = self.buckets(digest, measure).into_iter().collect();
            let times = sorted(times.into_iter().map(|(bucket, count)| (time_of_bucket(bucket), count)));
            Latency { p50: rounded(percentile(&times, 0.5)), p99: rounded(percentile(&times, 0.99)) }
        };
        Challenger {
            version: String::new(),
            role: "shadow".to_owned(),
            percent: None,
            compared,
            failed: failed.collect(),
            classes: classes.iter().map(|&class| class.to_owned()).collect(),
            flips,
            flip: Share::of(compared - same, compared),
            failure: Share::of(failures, compared + failures),
            flip_share: if compared == 0 { 0.0 } else { (compared - same) as f64 / compared as f64 },
            difference: difference(&self.buckets(digest, Measure::Difference)),
            score_psi: enough(was.iter().sum()).map(|()| psi(&numbers(&was), &numbers(&is))),
            latency_us: Latencies {
                champion: latency(Measure::ChampionTime),
                challenger: latency(Measure::ChallengerTime),
            },
            withdrawn: None,
            scores: Scores {
                edges: (0..=SCORE_BUCKETS).map(|edge| edge as f64 / SCORE_BUCKETS as f64).collect(),
                champion: was,
                challenger: is,
            },
        }
    }
}

fn enough(requests: i64) -> Option<()> {
    (requests >= PSI_REQUESTS_MIN).then_some(())
}

pub fn classes_of(kind: ModelKind) -> &'static [&'static str] {
    struct Classes;
    impl Visitor for Classes {
        type Output = &'static [&'static str];

        fn visit<K: Kind>(self) -> Self::Output {
            K::CLASSES
        }
    }
    with_kind(kind, Classes).unwrap_or(Verdict::CLASSES)
}

fn difference(buckets: &Buckets) -> Difference {
    let value = |bucket: &i32| f64::from(*bucket) * DIFFERENCE_UNIT;
    let count: i64 = buckets.values().sum();
    let sum: f64 = buckets.iter().map(|(bucket, count)| value(bucket) * *count as f64).sum();
    let sizes = sorted(buckets.iter().map(|(bucket, count)| (value(bucket).abs(), *count)));
    Difference {
        mean: if count == 0 { 0.0 } else { sum / count as f64 },
        p50: percentile(&sizes, 0.5),
        p99: percentile(&sizes, 0.99),
        largest: sizes.last().map_or(0.0, |(size, _)| *size),
    }
}

fn sorted(values: impl Iterator<Item = (f64, i64)>) -> Vec<(f64, i64)> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::observing::measure::{bucket_of_difference, bucket_of_flip};

    fn count(measure: Measure, bucket: i32, count: i64) -> Count<i64> {
        Count { kind: ModelKind::Risk, at: 1, digest: Digest([1; 32]), measure: measure.to_string(), bucket, count }
    }

    #[test]
    fn counts_become_figures() {
        let counts = [
            count(Measure::Flip, bucket_of_flip(0, 0), 90),
            count(Measure::Flip, bucket_of_flip(0, 2), 4),
            count(Measure::Flip, bucket_of_flip(2, 1), 6),
            count(Measure::Difference, bucket_of_difference(0.0), 90),
            count(Measure::Difference, bucket_of_difference(0.5), 4),
            count(Measure::Difference, bucket_of_difference(-0.25), 6),
            count(Measure::Failed, Failure::TimedOut as i32, 2),
        ];
        let challenger = Histograms::new(&counts).challenger(ModelKind::Risk, Digest([1; 32]));
        assert_eq!(challenger.compared, 100);
        assert_eq!(challenger.flips, [[90, 0, 4], [0, 0, 0], [0, 6, 0]]);
        assert_eq!(challenger.flip_share, 0.1);
        assert_eq!(challenger.failed["timed_out"], 2);
        assert!((challenger.difference.mean - 0.005).abs() < 1e-12);
        assert_eq!(challenger.difference.p50, 0.0);
        assert_eq!((challenger.difference.p99, challenger.difference.largest), (0.5, 0.5));
    }

    #[test]
    fn nothing_seen_is_no_division_by_zero() {
        let challenger = Histograms::new(&[]).challenger(ModelKind::Nudge, Digest([1; 32]));
        assert_eq!((challenger.compared, challenger.flip_share, challenger.score_psi), (0, 0.0, None));
        assert_eq!(challenger.latency_us.champion.p99, 0.0);
        assert_eq!(challenger.classes, ["assist", "info", "warning"]);
    }
}
