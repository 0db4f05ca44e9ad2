//! Compares challengers with the champion, after the answer was given.
//!
//! Requests wait in a bounded queue for a thread of their own; when it is full they are dropped and
//! counted, and no answer is ever held up. What is seen are counts by bucket. Once a second they are
//! added to the database, where those of all hosts meet.

use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::db::comparisons::Count;
use crate::domain::model::{Digest, ModelKind};
use crate::models::ScoreError;
use crate::models::observing::drift::Reference;
use crate::models::observing::measure::{
    Failure, Measure, bucket_of_difference, bucket_of_flip, bucket_of_score, bucket_of_time,
};
use crate::models::observing::watch::Watch;
use crate::models::serving::route::Route;
use crate::models::serving::scorer::Scorer;
use crate::models::serving::served::{Served, timed};

/// Requests that may wait for their comparison: a few tens of milliseconds of work for scorers of our size.
const QUEUE_LENGTH_MAX: usize = 1024;

/// A request, and what answered it how fast: the champion or the canary.
pub(crate) struct Asked<S: Scorer> {
    pub(crate) request: S::Request,
    pub(crate) champion: Option<(S::Assessment, Duration)>,
    pub(crate) canary: Option<(S::Assessment, Duration)>,
}

type Job = Box<dyn FnOnce(&Tally) + Send>;

/// Hands requests over for comparison; cheap to clone.
#[derive(Clone)]
pub struct Observer {
    jobs: SyncSender<Job>,
    tally: Arc<Tally>,
}

impl Observer {
    /// Starts the thread. It ends with the last handle.
    ///
    /// # Panics
    /// When the system gives no thread: a host without one does not start.
    #[expect(clippy::expect_used, reason = "said above")]
    pub(crate) fn start() -> Self {
        let (jobs, queue) = sync_channel::<Job>(QUEUE_LENGTH_MAX);
        let tally = Arc::new(Tally { seen: Mutex::default(), reference: Reference::embedded() });
        let counted = Arc::clone(&tally);
        let work = move || queue.into_iter().for_each(|job| job(&counted));
        std::thread::Builder::new().name("observer".to_owned()).spawn(work).expect("a thread");
        Self { jobs, tally }
    }

    /// Compares a request later, or counts that it was dropped.
    pub(crate) fn observe<S: Scorer>(&self, route: &Arc<Route<S>>, asked: Asked<S>) {
        let (epoch, champion) = (route.epoch, digest_of(&route.champion));
        let route = Arc::clone(route);
        let job: Job = Box::new(move |tally| tally.compare(&route, asked));
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            self.tally.count((S::KIND, epoch, champion, Measure::Dropped, 0));
        }
    }

    /// Counts a canary's failure, to which the champion gave the answer.
    pub(crate) fn failed<S: Scorer>(&self, route: &Route<S>, challenger: &Served<S>, error: &ScoreError) {
        self.tally.fail(S::KIND, route.epoch, digest_of(challenger), error);
    }

    /// Takes what was counted since the last time.
    pub(crate) fn take(&self) -> Vec<(Key, i64)> {
        let mut seen = self.tally.seen.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *seen).into_iter().collect()
    }

    /// Counts again what could not be stored.
    pub(crate) fn give_back(&self, counts: Vec<(Key, i64)>) {
        let mut seen = self.tally.seen.lock().unwrap_or_else(PoisonError::into_inner);
        counts.into_iter().for_each(|(key, count)| *seen.entry(key).or_default() += count);
    }
}

/// A count as it is stored.
pub(crate) fn stored(((kind, epoch, digest, measure, bucket), count): &(Key, i64)) -> Count {
    let (kind, epoch, digest, bucket, count) = (*kind, *epoch, *digest, *bucket, *count);
    Count { kind, epoch, digest, measure: measure.to_string(), bucket, count }
}

fn digest_of<S: Scorer>(served: &Served<S>) -> Digest {
    served.scorer.identity().digest
}

/// What is counted, of which component under which deployment.
pub(crate) type Key = (ModelKind, i64, Digest, Measure, i32);

/// Counts since they were last taken.
struct Tally {
    seen: Mutex<HashMap<Key, i64>>,
    reference: Reference,
}

impl Tally {
    fn count(&self, key: Key) {
        self.count_all(&[key]);
    }

    fn count_all(&self, keys: &[Key]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().for_each(|key| *seen.entry(*key).or_default() += 1);
    }

    fn fail(&self, kind: ModelKind, epoch: i64, digest: Digest, error: &ScoreError) {
        if let Some(failure) = Failure::of(error) {
            self.count((kind, epoch, digest, Measure::Failed, failure as i32));
        }
    }

    /// Asks whoever did not answer yet, and counts.
    fn compare<S: Scorer>(&self, route: &Route<S>, asked: Asked<S>) {
        let Asked { request, champion, canary } = asked;
        let of_champion = digest_of(&route.champion);
        let facts = S::facts(&request).into_iter().filter_map(|(name, value)| {
            let bucket = self.reference.bucket_of(S::KIND, name, value)?;
            Some((S::KIND, route.epoch, of_champion, Measure::Fact(name), bucket))
        });
        let mut keys: Vec<Key> = facts.collect();
        keys.push((S::KIND, route.epoch, of_champion, Measure::Observed, 0));
        self.count_all(&keys);

        let Some(champion) = champion.or_else(|| ask(&route.champion, &request).ok()) else { return };
        if let (Some(challenger), Some(answer)) = (&route.canary, canary) {
            self.pair(route.epoch, &challenger.served, &challenger.watch, &champion, answer);
        }
        for shadow in route.shadows.iter().filter(|shadow| !shadow.watch.is_over()) {
            match ask(&shadow.served, &request) {
                Ok(answer) => self.pair(route.epoch, &shadow.served, &shadow.watch, &champion, answer),
                Err(error) => {
                    self.fail(S::KIND, route.epoch, digest_of(&shadow.served), &error);
                    shadow.watch.fail(&error);
                }
            }
        }
    }

    fn pair<S: Scorer>(
        &self,
        epoch: i64,
        challenger: &Served<S>,
        watch: &Watch,
        (was, was_in): &(S::Assessment, Duration),
        (is, is_in): (S::Assessment, Duration),
    ) {
        let (class_was, class_is) = (S::class_of(was), S::class_of(&is));
        let (score_was, score_is) = (S::score_of(was), S::score_of(&is));
        watch.compare(class_was != class_is);
        let key = |measure, bucket| (S::KIND, epoch, digest_of(challenger), measure, bucket);
        self.count_all(&[
            key(Measure::Difference, bucket_of_difference(score_is - score_was)),
            key(Measure::ChampionTime, bucket_of_time(*was_in)),
            key(Measure::ChallengerTime, bucket_of_time(is_in)),
        ]);
        if S::IS_PRIVATE {
            // Whether they agree, and not on what.
            self.count(key(Measure::Flip, bucket_of_flip(0, usize::from(class_was != class_is))));
            return;
        }
        self.count_all(&[
            key(Measure::Flip, bucket_of_flip(class_was, class_is)),
            key(Measure::ChampionScore, bucket_of_score(score_was)),
            key(Measure::ChallengerScore, bucket_of_score(score_is)),
        ]);
    }
}

fn ask<S: Scorer>(served: &Served<S>, request: &S::Request) -> Result<(S::Assessment, Duration), ScoreError> {
    let (answer, took) = timed(&served.scorer, request);
    answer.map(|answer| (answer, took))
}
