//! `/admin/models/{kind}/traffic`: what each version did over time.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::Value;
use time::{Duration, OffsetDateTime};

use crate::app::App;
use crate::auth::reader::Reader;
use crate::db::components::{self, named};
use crate::db::counts::{self, Count};
use crate::domain::model::ModelKind;
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::observing::interval::{percentile, rounded};
use crate::models::observing::measure::{Measure, time_of_bucket};
use crate::models::observing::report::classes_of;
use crate::models::observing::tally::RETENTION_MINUTES;
use crate::schema::{answer, request};

/// Most steps of a series: about as many as a chart has pixels.
const STEPS_MAX: u32 = 720;

const MINUTES_DEFAULT: u32 = 60;

request! {
    /// The time to report on.
    pub(crate) struct TrafficQuery {
        /// How far back; an hour by default.
        minutes: Option<u32> { at_least: 1.0, at_most: RETENTION_MINUTES as f64, example: "60" },
        /// Minutes of each step; one by default. At most 720 steps.
        step: Option<u32> { at_least: 1.0, at_most: RETENTION_MINUTES as f64, example: "1" },
    }
}

answer! {
    /// What the versions of a kind did over time, on all hosts. Every list has an item for each step.
    pub(crate) struct TrafficJson as "Traffic" {
        kind: ModelKind { example: "\"risk\"" },
        /// When the first step begins.
        from: OffsetDateTime { example: INSTANT_EXAMPLE },
        step_seconds: u32 { example: "60" },
        steps: usize { example: "60" },
        /// The verdicts, in the order of `classes` of each version; empty if they are not counted.
        classes: Vec<&'static str> { example: "[\"low\", \"medium\", \"high\"]" },
        versions: Vec<VersionTrafficJson>,
    }
}

answer! {
    /// What one version did over time.
    pub(crate) struct VersionTrafficJson as "VersionTraffic" {
        version: String { example: VERSION_EXAMPLE },
        /// Requests that it answered.
        answered: Vec<i64> { example: "[12]" },
        /// Requests on which it failed.
        failed: Vec<i64> { example: "[0]" },
        /// Answers that were compared with the champion's.
        compared: Vec<i64> { example: "[12]" },
        /// Of these, those of another class.
        flipped: Vec<i64> { example: "[0]" },
        /// Median and 99th percentile of its times in microseconds, to within 20 percent; null without answers.
        p50_us: Vec<Value> { example: "[18.2]" },
        p99_us: Vec<Value> { example: "[40.1]" },
        /// For each verdict how often it was given.
        classes: Vec<Vec<i64>> { example: "[[10], [2], [0]]" },
    }
}

/// What the versions of a kind did over time, the busiest first.
pub(crate) async fn get_traffic(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
    Parameters(mut fields): Parameters,
) -> Result<Json<TrafficJson>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let TrafficQuery { minutes, step } = fields.read();
    fields.finish()?;
    let (minutes, step) = (minutes.unwrap_or(MINUTES_DEFAULT), step.unwrap_or(1));
    if minutes.div_ceil(step) > STEPS_MAX {
        let detail = "must be longer: there would be more than 720 steps";
        return Err(Error::invalid(StatusCode::BAD_REQUEST, "step", "out-of-range", detail));
    }
    let series = Series::ending(app.clock.now(), minutes, step);
    let mut db = app.db.acquire().await?;
    let counts = counts::traffic_of(&mut db, kind, series.from, series.step.whole_seconds()).await?;
    let registered = components::list(&mut db).await?;
    let classes = if counts.iter().any(|it| it.measure == Measure::Class.to_string()) { classes_of(kind) } else { &[] };
    let mut by_version: BTreeMap<[u8; 32], Vec<Count<OffsetDateTime>>> = BTreeMap::new();
    for it in counts {
        by_version.entry(it.digest.0).or_default().push(it);
    }
    let mut versions: Vec<_> = by_version
        .values()
        .map(|counts| series.version(named(counts[0].digest, &registered), counts, classes.len()))
        .collect();
    versions.sort_by_key(|it| std::cmp::Reverse(it.answered.iter().sum::<i64>()));
    let (from, steps) = (series.from, series.steps);
    Ok(Json(TrafficJson { kind, from, step_seconds: step * 60, steps, classes: classes.to_vec(), versions }))
}

/// Steps of equal length, which begin at multiples of it.
struct Series {
    from: OffsetDateTime,
    step: Duration,
    steps: usize,
}

impl Series {
    /// With `now` in its last step.
    fn ending(now: OffsetDateTime, minutes: u32, step: u32) -> Self {
        let (step, steps) = (Duration::minutes(step.into()), minutes.div_ceil(step));
        let seconds = step.whole_seconds();
        let last = now.unix_timestamp().div_euclid(seconds) * seconds;
        let from = last - i64::from(steps - 1) * seconds;
        let from = OffsetDateTime::from_unix_timestamp(from).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        Self { from, step, steps: steps as usize }
    }

    fn at(&self, it: &Count<OffsetDateTime>) -> Option<usize> {
        let at = (it.at - self.from).whole_seconds().div_euclid(self.step.whole_seconds());
        usize::try_from(at).ok().filter(|at| *at < self.steps)
    }

    fn version(&self, version: String, counts: &[Count<OffsetDateTime>], classes: usize) -> VersionTrafficJson {
        let sums = |measure: Measure, bucket: Option<usize>| {
            let (mut sums, name) = (vec![0; self.steps], measure.to_string());
            let of = |it: &&Count<_>| it.measure == name && bucket.is_none_or(|bucket| it.bucket == bucket as i32);
            for it in counts.iter().filter(of) {
                if let Some(at) = self.at(it) {
                    sums[at] += it.count;
                }
            }
            sums
        };
        let mut times = vec![Vec::new(); self.steps];
        for it in counts.iter().filter(|it| it.measure == Measure::Time.to_string()) {
            if let Some(at) = self.at(it) {
                times[at].push((time_of_bucket(it.bucket), it.count));
            }
        }
        times.iter_mut().for_each(|times| times.sort_by(|(one, _), (other, _)| one.total_cmp(other)));
        let at = |share: f64| {
            times.iter().map(|it| (!it.is_empty()).then(|| rounded(percentile(it, share))).into()).collect()
        };
        VersionTrafficJson {
            version,
            answered: sums(Measure::Answered, None),
            failed: sums(Measure::Failed, None),
            compared: sums(Measure::Compared, None),
            flipped: sums(Measure::Flipped, None),
            p50_us: at(0.5),
            p99_us: at(0.99),
            classes: (0..classes).map(|class| sums(Measure::Class, Some(class))).collect(),
        }
    }
}
