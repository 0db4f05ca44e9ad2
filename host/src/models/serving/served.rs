//! One loaded component in service: asked on the right thread, its failures counted.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::domain::model::PolicyClass;
use crate::models::publishing::published::Source;
use crate::models::serving::breaker::Breaker;
use crate::models::serving::scorer::Scorer;
use crate::models::{Metrics, ScoreError};

/// Calls of deny-all components at the same moment. Each takes milliseconds of a processor; more at once
/// would only take them from those that answer within microseconds.
const DENY_ALL_CALLS_MAX: usize = 4;
static DENY_ALL_CALLS: Semaphore = Semaphore::const_new(DENY_ALL_CALLS_MAX);

/// Longest wait for such a call to begin: as long as one may take.
const DENY_ALL_WAIT_MAX: Duration = Duration::from_millis(250);

/// A component in service.
pub struct Served<S> {
    /// The component.
    pub scorer: S,
    /// What it is for pages, unless it can only run here.
    pub(crate) source: Option<Arc<Source>>,
    breaker: Mutex<Breaker>,
}

impl<S> Served<S> {
    /// Takes a component into service; `source` is what pages may get of it.
    pub(crate) fn new(scorer: S, source: Option<Arc<Source>>) -> Self {
        Self { scorer, source, breaker: Mutex::default() }
    }

    /// Whether it failed so often that another should be asked.
    pub(crate) fn is_failing(&self) -> bool {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner).is_open(Instant::now())
    }

    fn note_failure(&self) -> bool {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner).fail(Instant::now())
    }
}

impl<S: Scorer> Served<S> {
    /// Asks it, and says how long that took.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: &S::Request,
        metrics: &Metrics,
    ) -> Result<(S::Assessment, Duration), ScoreError> {
        let start = Instant::now();
        let (answer, took) = match self.scorer.identity().class {
            PolicyClass::Pure => timed(&self.scorer, request),
            PolicyClass::DenyAll => self.answer_elsewhere(request.clone()).await,
        };
        metrics.decided(S::KIND, answer.as_ref().err(), start.elapsed());
        if answer.as_ref().is_err_and(ScoreError::is_model_fault) && self.note_failure() {
            tracing::error!(version = %self.scorer.identity().version, "a model fails again and again");
        }
        answer.map(|answer| (answer, took))
    }

    async fn answer_elsewhere(self: &Arc<Self>, request: S::Request) -> (Result<S::Assessment, ScoreError>, Duration) {
        let permit = timeout(DENY_ALL_WAIT_MAX, DENY_ALL_CALLS.acquire()).await;
        let Ok(Ok(permit)) = permit else { return (Err(ScoreError::Busy), Duration::ZERO) };
        let served = Arc::clone(self);
        let call = move || {
            // Held to the end of the call, also when nobody waits for it any longer.
            let _permit = permit;
            timed(&served.scorer, &request)
        };
        spawn_blocking(call).await.unwrap_or((Err(ScoreError::Panicked), Duration::ZERO))
    }
}

/// Asks, and says how long the call alone took.
pub(crate) fn timed<S: Scorer>(scorer: &S, request: &S::Request) -> (Result<S::Assessment, ScoreError>, Duration) {
    let start = Instant::now();
    let answer = scorer.assess(request);
    (answer, start.elapsed())
}
