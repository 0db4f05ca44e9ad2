//! Compares challengers with the champion, after the response was sent.
//!
//! Requests wait in a bounded queue for a separate thread; when the queue is full they are dropped and
//! counted, so no response is delayed. Results are counts by bucket, which are added to the database once a
//! second and summed there across hosts.

use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use uuid::Uuid;

use crate::db::comparisons::Testimony;
use crate::db::counts::Count;
use crate::domain::model::{Digest, ModelKind};
use crate::domain::risk::CutOffs;
use crate::domain::rules::{Facts, Verdict};
use crate::models::observing::drift::Reference;
use crate::models::observing::measure::{
    Failure, Measure, bucket_of_difference, bucket_of_flip, bucket_of_score, bucket_of_time,
};
use crate::models::observing::users::hash_of_somebody;
use crate::models::observing::witnesses::Witnesses;
use crate::models::serving::component::{Rules, RulesShadow};
use crate::models::serving::model::Model;
use crate::models::serving::route::{Challenger, Route};
use crate::scoring::{Kind, SCORE};
use crate::wasm::ScoreError;

/// Requests that may wait: a few tens of milliseconds of work for scorers of our size.
const QUEUE_LENGTH_MAX: usize = 1024;

/// A request, and the answer and time of the version that served it.
pub(crate) struct Observation<K: Kind> {
    pub(crate) request: K::Request,
    pub(crate) user: u64,
    /// The user, if the decision is evidence.
    pub(crate) witness: Option<u64>,
    pub(crate) champion: Option<(K::Assessment, Duration)>,
    pub(crate) canary: Option<(K::Assessment, Duration)>,
}

/// A decision of the transfer rules in service.
pub(crate) struct RulesDecision {
    pub(crate) facts: Facts,
    pub(crate) verdict: Verdict,
    pub(crate) time: Duration,
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
        let is_about_canary = observation.canary.is_some() || route.canary.as_ref().is_some_and(Challenger::is_shadow);
        let canary = route.canary.as_ref().filter(|_| is_about_canary && observation.witness.is_some());
        let (epoch, champion, canary) =
            (route.epoch, digest_of(&route.champion), canary.map(|it| digest_of(&it.model)));
        let of_job = Arc::clone(route);
        let job: Job = Box::new(move |comparisons| comparisons.compare(&of_job, observation));
        if self.queue(job, (K::KIND, epoch, champion))
            && let Some(canary) = canary
        {
            self.comparisons.testify((K::KIND, epoch, canary), Witnesses::drop_one);
        }
    }

    /// Queues a decision for comparison with what other rules would have decided, or counts it as dropped.
    pub(crate) fn observe_rules(
        &self,
        (epoch, rules): (i64, &Rules),
        shadows: &Arc<[RulesShadow]>,
        decided: RulesDecision,
    ) {
        let champion = rules.component.identity().digest;
        let shadows = Arc::clone(shadows);
        let job: Job = Box::new(move |comparisons| comparisons.compare_rules((epoch, champion), &shadows, &decided));
        self.queue(job, (ModelKind::TransferRules, epoch, champion));
    }

    /// Whether it was dropped.
    fn queue(&self, job: Job, (kind, epoch, champion): (ModelKind, i64, Digest)) -> bool {
        let is_full = matches!(self.jobs.try_send(job), Err(TrySendError::Full(_)));
        if is_full {
            self.comparisons.count((kind, epoch, champion, Measure::Dropped, 0));
        }
        is_full
    }

    /// Queues a request and its score for drift only. If the queue is full, another one will do.
    pub(crate) fn look_at<K: Kind>(&self, route: &Arc<Route<K>>, request: K::Request, score: f64) {
        let route = Arc::clone(route);
        let job: Job = Box::new(move |comparisons| comparisons.count_facts(&route, &request, Some(score)));
        let _ = self.jobs.try_send(job);
    }

    /// Counts a failure of a canary, after which the champion answered.
    pub(crate) fn count_failure<K: Kind>(
        &self,
        route: &Route<K>,
        canary: &Challenger<K>,
        error: &ScoreError,
        witness: Option<u64>,
    ) {
        self.comparisons.fail(route.epoch, canary, error, witness);
    }

    /// Takes the counts since the last call.
    pub(crate) fn take(&self) -> Vec<(Key, i64)> {
        let mut seen = self.comparisons.seen.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *seen).into_iter().collect()
    }

    /// What this host saw of the present canaries, for rollouts to go by.
    pub(crate) fn evidence(&self) -> Vec<Testimony> {
        let witnesses = self.comparisons.witnesses.lock().unwrap_or_else(PoisonError::into_inner);
        let testimony = |(kind, it): (&ModelKind, &Witnesses)| {
            let Witnesses { epoch, canary: digest, .. } = *it;
            Testimony { kind: *kind, epoch, digest, host_id: self.host_id, counts: it.counts() }
        };
        witnesses.iter().map(testimony).collect()
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

    /// Adds to what is evidence, unless a later step has begun.
    fn testify(&self, (kind, epoch, canary): (ModelKind, i64, Digest), add: impl FnOnce(&mut Witnesses)) {
        let mut witnesses = self.witnesses.lock().unwrap_or_else(PoisonError::into_inner);
        let present = witnesses.entry(kind).or_insert_with(|| Witnesses::at(epoch, canary));
        if present.epoch < epoch {
            *present = Witnesses::at(epoch, canary);
        }
        if (present.epoch, present.canary) == (epoch, canary) {
            add(present);
        }
    }

    /// A challenger failed for a user, if it is known for whom.
    fn fail<K: Kind>(&self, epoch: i64, it: &Challenger<K>, error: &ScoreError, user: Option<u64>) {
        let Some(failure) = Failure::of(error) else { return };
        let (digest, bucket) = (digest_of(&it.model), failure as i32);
        self.count((K::KIND, epoch, digest, Measure::Failed, bucket));
        let Some(user) = user else { return };
        it.trial.fail(user, error);
        if it.is_canary {
            self.testify((K::KIND, epoch, digest), |witnesses| witnesses.count(user, Measure::Failed, bucket));
        }
    }

    fn count_facts<K: Kind>(&self, route: &Route<K>, request: &K::Request, score: Option<f64>) {
        let of_champion = digest_of(&route.champion);
        let references = self.references.load();
        let reference = references.get(&of_champion);
        let watched = K::features(request).into_iter().chain(score.map(|score| (SCORE, score)));
        let features = watched.filter_map(|(name, value)| {
            let (measure, bucket) = reference?.bucket_of(name, value)?;
            Some((K::KIND, route.epoch, of_champion, measure, bucket))
        });
        let mut keys: Vec<Key> = features.collect();
        keys.push((K::KIND, route.epoch, of_champion, Measure::Observed, 0));
        self.count_all(&keys);
    }

    /// Calls the versions that did not serve the request, and counts the results.
    fn compare<K: Kind>(&self, route: &Route<K>, observation: Observation<K>) {
        let Observation { request, user, witness, champion, canary } = observation;
        let champion = champion.or_else(|| assess(&route.champion, &request, route.cut_offs).ok());
        self.count_facts(route, &request, champion.as_ref().map(|(answer, _)| K::score(answer)));
        let Some(champion) = champion else { return };
        if let (Some(challenger), Some(answer)) = (&route.canary, canary) {
            self.pair(route.epoch, challenger, witness, &champion, answer);
        }
        let canary = route.canary.iter().filter(|it| it.is_shadow());
        for it in canary.chain(&route.shadows).filter(|it| !it.trial.has_failed()) {
            // Only what a rollout goes by is a matter of who says so.
            let user = if it.is_canary { witness } else { Some(user) };
            match assess(&it.model, &request, route.cut_offs) {
                Ok(answer) => self.pair(route.epoch, it, user, &champion, answer),
                Err(error) => self.fail(route.epoch, it, &error, user),
            }
        }
    }

    fn pair<K: Kind>(
        &self,
        epoch: i64,
        challenger: &Challenger<K>,
        user: Option<u64>,
        (was, was_in): &(K::Assessment, Duration),
        (is, is_in): (K::Assessment, Duration),
    ) {
        let (class_was, class_is) = (K::class(was), K::class(&is));
        let (score_was, score_is) = (K::score(was), K::score(&is));
        challenger.model.tally.compare(class_was != class_is);
        let digest = digest_of(&challenger.model);
        let key = |measure, bucket| (K::KIND, epoch, digest, measure, bucket);
        // If private, only whether they agree, not on what.
        let flip = if K::IS_PRIVATE { (0, usize::from(class_was != class_is)) } else { (class_was, class_is) };
        let flip = bucket_of_flip(flip.0, flip.1);
        if let Some(user) = user {
            challenger.trial.answer(user);
            if challenger.is_canary {
                self.testify((K::KIND, epoch, digest), |witnesses| witnesses.count(user, Measure::Flip, flip));
            }
        }
        self.count_all(&[
            key(Measure::Flip, flip),
            key(Measure::ChampionTime, bucket_of_time(*was_in)),
            key(Measure::ChallengerTime, bucket_of_time(is_in)),
            key(Measure::Difference, bucket_of_difference(score_is - score_was)),
        ]);
        if !K::IS_PRIVATE {
            self.count(key(Measure::ChampionScore, bucket_of_score(score_was)));
            self.count(key(Measure::ChallengerScore, bucket_of_score(score_is)));
        }
    }

    /// What other rules would have decided on the same facts.
    fn compare_rules(&self, (epoch, champion): (i64, Digest), shadows: &[RulesShadow], decided: &RulesDecision) {
        let RulesDecision { facts, verdict, time } = decided;
        self.count((ModelKind::TransferRules, epoch, champion, Measure::Observed, 0));
        for RulesShadow { rules, trial } in shadows.iter().filter(|it| !it.trial.has_failed()) {
            let start = Instant::now();
            let answer = rules.component.decide(facts);
            let time_of_shadow = start.elapsed();
            let digest = rules.component.identity().digest;
            let key = |measure, bucket| (ModelKind::TransferRules, epoch, digest, measure, bucket);
            match answer {
                Ok(answer) => {
                    trial.answer(hash_of_somebody());
                    rules.tally.compare(verdict.class() != answer.class());
                    self.count_all(&[
                        key(Measure::Flip, bucket_of_flip(verdict.class(), answer.class())),
                        key(Measure::ChampionTime, bucket_of_time(*time)),
                        key(Measure::ChallengerTime, bucket_of_time(time_of_shadow)),
                    ]);
                }
                Err(error) => {
                    let failure = Failure::of(&error).map(|it| key(Measure::Failed, it as i32));
                    failure.into_iter().for_each(|key| self.count(key));
                    trial.fail(hash_of_somebody(), &error);
                }
            }
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
