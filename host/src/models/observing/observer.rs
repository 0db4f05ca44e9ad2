//! Compares challengers with the champion, after the response was sent.
//!
//! Requests wait in a bounded queue for a separate thread; when the queue is full they are dropped and
//! counted, so no response is delayed. Results are counts by bucket, which are added to the database once a
//! second and summed there across hosts.
//!
//! Rollouts go by users: a decision is evidence only if it is one of the first few of its user at a step.

use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::db::comparisons::Count;
use crate::domain::model::{Digest, ModelKind};
use crate::models::observing::drift::Reference;
use crate::models::observing::measure::{
    Failure, Measure, bucket_of_difference, bucket_of_flip, bucket_of_score, bucket_of_time,
};
use crate::models::observing::watch::Watch;
use crate::models::serving::model::Model;
use crate::models::serving::route::Route;
use crate::scoring::Kind;
use crate::wasm::ScoreError;

/// Requests that may wait: a few tens of milliseconds of work for scorers of our size.
const QUEUE_LENGTH_MAX: usize = 1024;

/// Decisions of one user at a step, on one host, by which a rollout may go. One may be an exception, and a hundred would
/// not tell more about the others.
const DECISIONS_OF_USER_MAX: u8 = 3;

/// Users by whom a rollout may go, at a step and on one host. With three times as many decisions, a share is known to
/// within half a percent.
const USERS_MAX: usize = 5_000;

/// A request, and the answer and time of the version that served it.
pub(crate) struct Observation<K: Kind> {
    pub(crate) request: K::Request,
    pub(crate) user: u64,
    /// The user, if the decision is evidence.
    pub(crate) witness: Option<u64>,
    pub(crate) champion: Option<(K::Assessment, Duration)>,
    pub(crate) canary: Option<(K::Assessment, Duration)>,
}

type Job = Box<dyn FnOnce(&Tally) + Send>;

/// Queues requests for comparison; cheap to clone.
#[derive(Clone)]
pub struct Observer {
    jobs: SyncSender<Job>,
    tally: Arc<Tally>,
}

impl Observer {
    /// Starts the thread. It ends when the last handle is dropped.
    ///
    /// # Panics
    /// When the thread cannot be started.
    #[expect(clippy::expect_used, reason = "a host without the thread must not start")]
    pub(crate) fn start() -> Self {
        let (jobs, queue) = sync_channel::<Job>(QUEUE_LENGTH_MAX);
        let tally = Arc::new(Tally { reference: Reference::embedded(), ..Tally::default() });
        let counted = Arc::clone(&tally);
        let work = move || queue.into_iter().for_each(|job| job(&counted));
        std::thread::Builder::new().name("observer".to_owned()).spawn(work).expect("a thread");
        Self { jobs, tally }
    }

    /// Queues a request for comparison, or counts it as dropped.
    pub(crate) fn observe<K: Kind>(&self, route: &Arc<Route<K>>, observation: Observation<K>) {
        let (epoch, champion) = (route.epoch, digest_of(&route.champion));
        let route = Arc::clone(route);
        let job: Job = Box::new(move |tally| tally.compare(&route, observation));
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            self.tally.count((K::KIND, epoch, champion, Measure::Dropped, 0, 0));
        }
    }

    /// Counts a failure of a canary, after which the champion answered.
    pub(crate) fn count_failure<K: Kind>(
        &self,
        route: &Route<K>,
        challenger: &Model<K>,
        error: &ScoreError,
        witness: Option<u64>,
    ) {
        let user = self.tally.admit(K::KIND, route.epoch, witness);
        self.tally.fail(K::KIND, route.epoch, digest_of(challenger), error, user);
    }

    /// Takes the counts since the last call.
    pub(crate) fn take(&self) -> Vec<(Key, i64)> {
        let mut seen = self.tally.seen.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *seen).into_iter().collect()
    }

    /// Returns counts that could not be stored.
    pub(crate) fn give_back(&self, counts: Vec<(Key, i64)>) {
        let mut seen = self.tally.seen.lock().unwrap_or_else(PoisonError::into_inner);
        counts.into_iter().for_each(|(key, count)| *seen.entry(key).or_default() += count);
    }
}

/// A count as a row.
pub(crate) fn stored(((kind, epoch, digest, measure, bucket, user), count): &(Key, i64)) -> (Count, i64) {
    let (kind, epoch, digest, bucket, count) = (*kind, *epoch, *digest, *bucket, *count);
    (Count { kind, epoch, digest, measure: measure.to_string(), bucket, count }, *user)
}

fn digest_of<K: Kind>(model: &Model<K>) -> Digest {
    model.scorer.identity().digest
}

/// Kind, epoch of the deployment, component, measure, bucket and, for evidence, the user's hash.
pub(crate) type Key = (ModelKind, i64, Digest, Measure, i32, i64);

/// How many decisions of each user were evidence at a step.
#[derive(Default)]
struct Witnesses {
    epoch: i64,
    users: HashMap<u64, u8>,
}

#[derive(Default)]
struct Tally {
    seen: Mutex<HashMap<Key, i64>>,
    witnesses: Mutex<HashMap<ModelKind, Witnesses>>,
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

    fn fail(&self, kind: ModelKind, epoch: i64, digest: Digest, error: &ScoreError, user: Option<i64>) {
        if let Some(failure) = Failure::of(error) {
            self.count((kind, epoch, digest, Measure::Failed, failure as i32, user.unwrap_or_default()));
        }
    }

    /// The user's hash as it is stored, never 0, if another decision of theirs is evidence at this step.
    fn admit(&self, kind: ModelKind, epoch: i64, witness: Option<u64>) -> Option<i64> {
        let user = witness?.max(1);
        let mut witnesses = self.witnesses.lock().unwrap_or_else(PoisonError::into_inner);
        let Witnesses { epoch: present, users } = witnesses.entry(kind).or_default();
        if *present < epoch {
            *present = epoch;
            users.clear();
        }
        if *present != epoch || (users.len() >= USERS_MAX && !users.contains_key(&user)) {
            return None;
        }
        let decisions = users.entry(user).or_default();
        *decisions = decisions.saturating_add(1);
        (*decisions <= DECISIONS_OF_USER_MAX).then_some(user.cast_signed())
    }

    /// Calls the versions that did not serve the request, and counts the results.
    fn compare<K: Kind>(&self, route: &Route<K>, observation: Observation<K>) {
        let Observation { request, user: asker, witness, champion, canary } = observation;
        let user = self.admit(K::KIND, route.epoch, witness);
        let of_champion = digest_of(&route.champion);
        let features = K::features(&request).into_iter().filter_map(|(name, value)| {
            let bucket = self.reference.bucket_of(K::KIND, name, value)?;
            Some((K::KIND, route.epoch, of_champion, Measure::Feature(name), bucket, 0))
        });
        let mut keys: Vec<Key> = features.collect();
        keys.push((K::KIND, route.epoch, of_champion, Measure::Observed, 0, 0));
        self.count_all(&keys);

        let Some(champion) = champion.or_else(|| assess(&route.champion, &request).ok()) else { return };
        if let (Some(challenger), Some(answer)) = (&route.canary, canary) {
            self.pair(route.epoch, user, (&challenger.model, &challenger.watch), &champion, answer);
        }
        for shadow in route.shadows.iter().filter(|shadow| !shadow.watch.has_failed()) {
            match assess(&shadow.model, &request) {
                Ok(answer) => self.pair(route.epoch, user, (&shadow.model, &shadow.watch), &champion, answer),
                Err(error) => {
                    self.fail(K::KIND, route.epoch, digest_of(&shadow.model), &error, user);
                    // A shadow answers nobody, so failures for any caller count, once for each.
                    shadow.watch.fail(asker, &error);
                }
            }
        }
    }

    fn pair<K: Kind>(
        &self,
        epoch: i64,
        user: Option<i64>,
        (challenger, watch): (&Model<K>, &Watch),
        (was, was_in): &(K::Assessment, Duration),
        (is, is_in): (K::Assessment, Duration),
    ) {
        let (class_was, class_is) = (K::class(was), K::class(&is));
        let (score_was, score_is) = (K::score(was), K::score(&is));
        if let Some(user) = user {
            watch.compare(user.cast_unsigned(), class_was != class_is);
        }
        challenger.traffic.compare(class_was != class_is);
        let key_of = |measure, bucket, user| (K::KIND, epoch, digest_of(challenger), measure, bucket, user);
        let key = |measure, bucket| key_of(measure, bucket, 0);
        let evidence = |measure, bucket| key_of(measure, bucket, user.unwrap_or_default());
        self.count_all(&[
            key(Measure::Difference, bucket_of_difference(score_is - score_was)),
            evidence(Measure::ChampionTime, bucket_of_time(*was_in)),
            evidence(Measure::ChallengerTime, bucket_of_time(is_in)),
        ]);
        if K::IS_PRIVATE {
            // Only whether they agree, not on what.
            self.count(evidence(Measure::Flip, bucket_of_flip(0, usize::from(class_was != class_is))));
            return;
        }
        self.count_all(&[
            evidence(Measure::Flip, bucket_of_flip(class_was, class_is)),
            key(Measure::ChampionScore, bucket_of_score(score_was)),
            key(Measure::ChallengerScore, bucket_of_score(score_is)),
        ]);
    }
}

fn assess<K: Kind>(model: &Model<K>, request: &K::Request) -> Result<(K::Assessment, Duration), ScoreError> {
    let (answer, time) = model.assess_timed(request);
    answer.map(|answer| (answer, time))
}
