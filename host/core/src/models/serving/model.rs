//! One version of a scorer: called on the right thread, with its failures counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::domain::fact::explanation::Explanation;
use crate::domain::model::PolicyClass;
use crate::domain::risk::CutOffs;
use crate::metrics::Metrics;
use crate::models::observing::tally::Tally;
use crate::models::publishing::published::Source;
use crate::models::serving::breaker::Breaker;
use crate::models::serving::turns;
use crate::scoring::{Kind, Scorer};
use crate::wasm::ScoreError;

/// Calls that take milliseconds of CPU time. More at once would only slow down the components that answer within
/// microseconds.
struct SlowCalls {
    running: Semaphore,
    waiting: Semaphore,
}

/// Concurrent calls of deny-all components.
const DENY_ALL_CALLS_MAX: usize = 4;
static DENY_ALL_CALLS: SlowCalls = SlowCalls::new(DENY_ALL_CALLS_MAX);

/// Concurrent explanations, for which nobody's transfer waits.
const EXPLANATIONS_MAX: usize = 2;
static EXPLANATIONS: SlowCalls = SlowCalls::new(EXPLANATIONS_MAX);

/// Longest wait for such a call to start: the deadline of one call.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// Calls that wait, for each that runs: at a few milliseconds each, the last of them waits for some 50 ms.
const WAITING_EACH: usize = 4;

/// Of the requests to a champion without challengers, one in so many is looked at: enough to see a drift within hours, and
/// the others cost a counter.
const SAMPLED_EVERY: usize = 16;

impl SlowCalls {
    const fn new(most: usize) -> Self {
        Self { running: Semaphore::const_new(most), waiting: Semaphore::const_new(WAITING_EACH * most) }
    }

    /// `None` if too many calls wait already, or it takes too long.
    async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(permit) = self.running.try_acquire() {
            return Some(permit);
        }
        let _place = self.waiting.try_acquire().ok()?;
        timeout(WAIT_MAX, self.running.acquire()).await.ok()?.ok()
    }
}

/// A version of kind `K`, with its circuit breaker.
pub struct Model<K: Kind> {
    pub scorer: Scorer<K>,
    /// Its publishable form, unless it can only run on a host.
    pub(crate) source: Option<Arc<Source>>,
    breaker: Breaker,
    pub(crate) tally: Tally,
    alone: AtomicUsize,
}

impl<K: Kind> Model<K> {
    pub(crate) fn new(scorer: Scorer<K>, source: Option<Arc<Source>>) -> Self {
        Self { scorer, source, breaker: Breaker::default(), tally: Tally::default(), alone: AtomicUsize::new(0) }
    }

    /// Whether its circuit breaker is open.
    pub(crate) fn is_failing(&self) -> bool {
        self.breaker.is_open(Instant::now())
    }

    /// Whether to look at a request that only this version answers.
    pub(super) fn is_sample(&self) -> bool {
        self.alone.fetch_add(1, Relaxed).is_multiple_of(SAMPLED_EVERY)
    }

    /// Scores a request of a user, by their hash, as a deployment with these cut-offs, and returns the duration of the call.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(crate) async fn assess(
        self: &Arc<Self>,
        request: &K::Request,
        user: u64,
        (cut_offs, metrics): (CutOffs, &Metrics),
    ) -> Result<(K::Assessment, Duration), ScoreError> {
        let start = Instant::now();
        let turn = turns::wait(user).await;
        let (answer, time) = match self.scorer.identity().class {
            PolicyClass::Pure => turns::take(user, || self.assess_timed(request, cut_offs)),
            PolicyClass::DenyAll => self.assess_on_other_thread(request.clone(), user, cut_offs).await,
        };
        drop(turn);
        let elapsed = start.elapsed();
        let class = answer.as_ref().map(|answer| (!K::IS_PRIVATE).then(|| K::class(answer)));
        self.tally.count(metrics, K::KIND, class, elapsed);
        if answer.is_ok() {
            self.breaker.answer(user, start + elapsed);
        }
        if answer.as_ref().is_err_and(ScoreError::is_model_fault) && self.breaker.fail(user, Instant::now()) {
            tracing::error!(version = %self.scorer.identity().version, "a model fails for many users; its breaker is open");
        }
        answer.map(|answer| (answer, time))
    }

    async fn assess_on_other_thread(
        self: &Arc<Self>,
        request: K::Request,
        user: u64,
        cut_offs: CutOffs,
    ) -> (Result<K::Assessment, ScoreError>, Duration) {
        let Some(permit) = DENY_ALL_CALLS.permit().await else { return (Err(ScoreError::Busy), Duration::ZERO) };
        let model = Arc::clone(self);
        let call = move || {
            // Held until the call ends, even if the caller stops waiting.
            let _permit = permit;
            turns::take(user, || model.assess_timed(&request, cut_offs))
        };
        spawn_blocking(call).await.unwrap_or((Err(ScoreError::Panicked), Duration::ZERO))
    }

    /// Scores a request and says what weighed how much, on another thread and without counting it.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(crate) async fn explain(
        self: &Arc<Self>,
        request: K::Request,
        cut_offs: CutOffs,
    ) -> Result<(K::Assessment, Explanation), ScoreError> {
        let permit = EXPLANATIONS.permit().await.ok_or(ScoreError::Busy)?;
        let model = Arc::clone(self);
        let call = move || -> Result<_, ScoreError> {
            let _permit = permit;
            let (answer, _) = model.assess_timed(&request, cut_offs);
            Ok((answer?, model.scorer.explain(&request)?.ok_or(ScoreError::Missing)?))
        };
        spawn_blocking(call).await.unwrap_or(Err(ScoreError::Panicked))
    }

    /// Scores a request on this thread, without counting it.
    pub(crate) fn assess_timed(
        &self,
        request: &K::Request,
        cut_offs: CutOffs,
    ) -> (Result<K::Assessment, ScoreError>, Duration) {
        let start = Instant::now();
        let answer = self.scorer.assess(request);
        (answer.map(|answer| K::judged(answer, cut_offs)), start.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn one_call_too_many_is_refused_at_once() {
        let calls = SlowCalls::new(2);
        let mut running = Vec::new();
        for _ in 0..2 {
            running.push(calls.permit().await.unwrap());
        }
        let mut waiting: Vec<_> = (0..2 * WAITING_EACH).map(|_| calls.permit().boxed()).collect();
        assert!(waiting.iter_mut().all(|it| it.now_or_never().is_none()));
        assert!(calls.permit().now_or_never().unwrap().is_none());
        running.pop();
        assert!(waiting.remove(0).await.is_some());
    }
}
