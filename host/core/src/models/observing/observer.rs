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

use arc_swap::ArcSwap;
use uuid::Uuid;

use crate::db::comparisons::Testimony;
use crate::db::counts::Count;
use crate::domain::model::{Digest, ModelKind};
use crate::domain::risk::CutOffs;
use crate::models::observing::drift::Reference;
use crate::models::observing::measure::{
    Failure, Measure, bucket_of_difference, bucket_of_flip, bucket_of_score, bucket_of_time,
};
use crate::models::serving::model::Model;
use crate::models::serving::route::{Challenger, Route};
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

type Job = Box<dyn FnOnce(&Comparisons) + Send>;

/// Queues requests for comparison; cheap to clone.
#[derive(Clone)]
pub struct Observer {
    jobs: SyncSender<Job>,
    comparisons: Arc<Comparisons>,
    /// Which host counted: another one after every start.
    host_id: Uuid,
}

impl Observer {
    /// Starts the thread. It ends when the last handle is dropped.
    ///
    /// # Panics
    /// When the thread cannot be started.
    #[expect(clippy::expect_used, reason = "a host without the thread must not start")]
    pub(crate) fn start() -> Self {
        let (jobs, queue) = sync_channel::<Job>(QUEUE_LENGTH_MAX);
        let comparisons = Arc::<Comparisons>::default();
        let counted = Arc::clone(&comparisons);
        let work = move || queue.into_iter().for_each(|job| job(&counted));
        std::thread::Builder::new().name("observer".to_owned()).spawn(work).expect("a thread");
        Self { jobs, comparisons, host_id: Uuid::new_v4() }
    }

    /// Watches the requests of these champions for drift from now on.
    pub(crate) fn watch(&self, references: HashMap<Digest, Arc<Reference>>) {
        self.comparisons.references.store(Arc::new(references));
    }

    /// Queues a request for comparison, or counts it as dropped.
    pub(crate) fn observe<K: Kind>(&self, route: &Arc<Route<K>>, observation: Observation<K>) {
        let (epoch, champion) = (route.epoch, digest_of(&route.champion));
        let route = Arc::clone(route);
        let job: Job = Box::new(move |comparisons| comparisons.compare(&route, observation));
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            self.comparisons.count((K::KIND, epoch, champion, Measure::Dropped, 0));
        }
    }

    /// Queues a request for drift only. If the queue is full, another one will do.
    pub(crate) fn look_at<K: Kind>(&self, route: &Arc<Route<K>>, request: K::Request) {
        let route = Arc::clone(route);
        let job: Job = Box::new(move |comparisons| comparisons.count_facts(&route, &request));
        let _ = self.jobs.try_send(job);
    }

    /// Counts a failure of a canary, after which the champion answered.
    pub(crate) fn count_failure<K: Kind>(
        &self,
        route: &Route<K>,
        challenger: &Model<K>,
        error: &ScoreError,
        witness: Option<u64>,
    ) {
        let witness = self.comparisons.admit(K::KIND, route.epoch, witness);
        self.comparisons.fail(K::KIND, route.epoch, digest_of(challenger), error, witness);
    }

    /// Takes the counts since the last call.
    pub(crate) fn take(&self) -> Vec<(Key, i64)> {
        let mut seen = self.comparisons.seen.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *seen).into_iter().collect()
    }

    /// What this host saw of the present challengers, for rollouts to go by.
    pub(crate) fn evidence(&self) -> Vec<Testimony> {
        let witnesses = self.comparisons.witnesses.lock().unwrap_or_else(PoisonError::into_inner);
        let of_challengers = witnesses.iter().flat_map(|(kind, it)| {
            it.counts.iter().map(|(digest, counts)| {
                let count =
                    |(&(measure, bucket), &count): (&(Measure, i32), &i64)| (measure.to_string(), bucket, count);
                let mut counts: Vec<_> = counts.iter().map(count).collect();
                counts.sort();
                Testimony { kind: *kind, epoch: it.epoch, digest: *digest, host_id: self.host_id, counts }
            })
        });
        of_challengers.collect()
    }

    /// Returns counts that could not be stored.
    pub(crate) fn give_back(&self, counts: Vec<(Key, i64)>) {
        let mut seen = self.comparisons.seen.lock().unwrap_or_else(PoisonError::into_inner);
        counts.into_iter().for_each(|(key, count)| *seen.entry(key).or_default() += count);
    }
}

/// A count as a row.
pub(crate) fn stored(&((kind, epoch, digest, measure, bucket), count): &(Key, i64)) -> Count<i64> {
    Count { kind, at: epoch, digest, measure: measure.to_string(), bucket, count }
}

fn digest_of<K: Kind>(model: &Model<K>) -> Digest {
    model.scorer.identity().digest
}

/// Kind, epoch of the deployment, component, measure and bucket.
pub(crate) type Key = (ModelKind, i64, Digest, Measure, i32);

/// How many decisions of each user were evidence at a step, and what they say of each challenger.
#[derive(Default)]
struct Witnesses {
    epoch: i64,
    users: HashMap<u64, u8>,
    counts: HashMap<Digest, HashMap<(Measure, i32), i64>>,
}

#[derive(Default)]
struct Comparisons {
    seen: Mutex<HashMap<Key, i64>>,
    witnesses: Mutex<HashMap<ModelKind, Witnesses>>,
    /// Of the champions.
    references: ArcSwap<HashMap<Digest, Arc<Reference>>>,
}

impl Comparisons {
    fn count(&self, key: Key) {
        self.count_all(&[key]);
    }

    fn count_all(&self, keys: &[Key]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().for_each(|key| *seen.entry(*key).or_default() += 1);
    }

    /// Counts what also is evidence, if a witness saw it.
    fn count_evidence(&self, keys: &[Key], witness: Option<u64>) {
        self.count_all(keys);
        if witness.is_none() {
            return;
        }
        let mut witnesses = self.witnesses.lock().unwrap_or_else(PoisonError::into_inner);
        for (kind, epoch, digest, measure, bucket) in keys {
            if let Some(present) = witnesses.get_mut(kind).filter(|it| it.epoch == *epoch) {
                *present.counts.entry(*digest).or_default().entry((*measure, *bucket)).or_default() += 1;
            }
        }
    }

    fn fail(&self, kind: ModelKind, epoch: i64, digest: Digest, error: &ScoreError, witness: Option<u64>) {
        if let Some(failure) = Failure::of(error) {
            self.count_evidence(&[(kind, epoch, digest, Measure::Failed, failure as i32)], witness);
        }
    }

    /// The user, if another decision of theirs is evidence at this step.
    fn admit(&self, kind: ModelKind, epoch: i64, witness: Option<u64>) -> Option<u64> {
        let user = witness?;
        let mut witnesses = self.witnesses.lock().unwrap_or_else(PoisonError::into_inner);
        let Witnesses { epoch: present, users, counts } = witnesses.entry(kind).or_default();
        if *present < epoch {
            *present = epoch;
            users.clear();
            counts.clear();
        }
        if *present != epoch || (users.len() >= USERS_MAX && !users.contains_key(&user)) {
            return None;
        }
        let decisions = users.entry(user).or_default();
        *decisions = decisions.saturating_add(1);
        (*decisions <= DECISIONS_OF_USER_MAX).then_some(user)
    }

    fn count_facts<K: Kind>(&self, route: &Route<K>, request: &K::Request) {
        let of_champion = digest_of(&route.champion);
        let references = self.references.load();
        let reference = references.get(&of_champion);
        let features = K::features(request).into_iter().filter_map(|(name, value)| {
            let (measure, bucket) = reference?.bucket_of(name, value)?;
            Some((K::KIND, route.epoch, of_champion, measure, bucket))
        });
        let mut keys: Vec<Key> = features.collect();
        keys.push((K::KIND, route.epoch, of_champion, Measure::Observed, 0));
        self.count_all(&keys);
    }

    /// Calls the versions that did not serve the request, and counts the results.
    fn compare<K: Kind>(&self, route: &Route<K>, observation: Observation<K>) {
        let Observation { request, user: asker, witness, champion, canary } = observation;
        let witness = self.admit(K::KIND, route.epoch, witness);
        self.count_facts(route, &request);
        let Some(champion) = champion.or_else(|| assess(&route.champion, &request, route.cut_offs).ok()) else {
            return;
        };
        if let (Some(challenger), Some(answer)) = (&route.canary, canary) {
            self.pair(route.epoch, witness, challenger, &champion, answer);
        }
        for shadow in route.shadows.iter().filter(|shadow| !shadow.trial.has_failed()) {
            match assess(&shadow.model, &request, route.cut_offs) {
                Ok(answer) => self.pair(route.epoch, witness, shadow, &champion, answer),
                Err(error) => {
                    self.fail(K::KIND, route.epoch, digest_of(&shadow.model), &error, witness);
                    // A shadow answers nobody, so failures for any caller count, once for each.
                    shadow.trial.fail(asker, &error);
                }
            }
        }
    }

    fn pair<K: Kind>(
        &self,
        epoch: i64,
        witness: Option<u64>,
        challenger: &Challenger<K>,
        (was, was_in): &(K::Assessment, Duration),
        (is, is_in): (K::Assessment, Duration),
    ) {
        let (class_was, class_is) = (K::class(was), K::class(&is));
        let (score_was, score_is) = (K::score(was), K::score(&is));
        if let Some(user) = witness {
            challenger.trial.compare(user, class_was != class_is);
        }
        challenger.model.tally.compare(class_was != class_is);
        let key = |measure, bucket| (K::KIND, epoch, digest_of(&challenger.model), measure, bucket);
        // If private, only whether they agree, not on what.
        let flip = if K::IS_PRIVATE { (0, usize::from(class_was != class_is)) } else { (class_was, class_is) };
        let evidence = [
            key(Measure::Flip, bucket_of_flip(flip.0, flip.1)),
            key(Measure::ChampionTime, bucket_of_time(*was_in)),
            key(Measure::ChallengerTime, bucket_of_time(is_in)),
        ];
        self.count_evidence(&evidence, witness);
        self.count(key(Measure::Difference, bucket_of_difference(score_is - score_was)));
        if !K::IS_PRIVATE {
            self.count(key(Measure::ChampionScore, bucket_of_score(score_was)));
            self.count(key(Measure::ChallengerScore, bucket_of_score(score_is)));
        }
    }
}

fn assess<K: Kind>(
    model: &Model<K>,
    request: &K::Request,
    cut_offs: CutOffs,
) -> Result<(K::Assessment, Duration), ScoreError> {
    let (answer, time) = model.assess_timed(request, cut_offs);
    answer.map(|answer| (answer, time))
}
