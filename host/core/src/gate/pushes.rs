//! Examines and registers pushed components, one at a time. An examination may take
//! half a minute, so a caller may stop waiting and ask for the result later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use crate::clock::Clock;
use crate::db::components::{self, Registered};
use crate::domain::model::{Digest, ModelKind, ModelVersion};
use crate::gate::launcher::Launcher;
use crate::gate::registration::register;
use crate::gate::report::Report;
use crate::sealing::ChainKey;
use crate::wasm::digest_of;

/// Concurrent examinations: each uses a whole processor.
const CONCURRENT_MAX: usize = 1;

/// Components that arrive at once: each takes up to 16 MiB of memory.
pub const ARRIVING_MAX: usize = 4;

/// Unfinished examinations: each keeps its bytes in memory.
const UNFINISHED_MAX: usize = 8;

/// Examinations whose result is kept for callers that come back.
const KEPT_MAX: usize = 64;

/// How long a push waits for its result before the response says where to find it.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// The result of a push.
#[derive(Debug, Clone)]
pub enum PushOutcome {
    Accepted {
        version: ModelVersion,
        registered: Registered,
        report: Report,
    },
    /// Refused by a check, or pushed as another kind.
    Refused(Report),
    /// The examination or the registration failed, which says nothing about the component.
    Failed(String),
}

impl PushOutcome {
    pub fn is_registered(&self) -> bool {
        matches!(self, Self::Accepted { registered: Registered::New | Registered::Known, .. })
    }
}

/// `None` while the examination is in progress.
type Progress = watch::Receiver<Option<Arc<PushOutcome>>>;

/// Cheap to clone.
#[derive(Clone)]
pub struct Pushes(Arc<Inner>);

struct Inner {
    gate: Launcher,
    db: PgPool,
    key: ChainKey,
    clock: Clock,
    arriving: Semaphore,
    turn: Semaphore,
    pushes: Mutex<HashMap<(ModelKind, Digest), Progress>>,
}

/// Too many examinations are unfinished.
#[derive(Debug)]
pub struct TooMany;

impl Pushes {
    pub fn new(gate: Launcher, db: PgPool, key: ChainKey, clock: Clock) -> Self {
        let (arriving, turn) = (Semaphore::new(ARRIVING_MAX), Semaphore::new(CONCURRENT_MAX));
        Self(Arc::new(Inner { gate, db, key, clock, arriving, turn, pushes: Mutex::default() }))
    }

    /// Room for a component that arrives; `None` if too many do.
    pub fn arrive(&self) -> Option<SemaphorePermit<'_>> {
        self.0.arriving.try_acquire().ok()
    }

    /// Examines and registers a component with its signature, unless that is already in progress, and waits a while for
    /// the result. It continues when the caller stops waiting.
    pub async fn push(
        &self,
        kind: ModelKind,
        bytes: Vec<u8>,
        signature: Option<String>,
        by: String,
    ) -> Result<(Digest, Option<Arc<PushOutcome>>), TooMany> {
        let digest = digest_of(&bytes);
        let mut progress = self.start(kind, digest, bytes, signature, by)?;
        let outcome = tokio::time::timeout(WAIT_MAX, progress.wait_for(Option::is_some)).await;
        Ok((digest, outcome.ok().and_then(|outcome| outcome.ok()?.clone())))
    }

    fn start(
        &self,
        kind: ModelKind,
        digest: Digest,
        bytes: Vec<u8>,
        signature: Option<String>,
        by: String,
    ) -> Result<Progress, TooMany> {
        let mut pushes = self.0.pushes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unfinished = |progress: &&Progress| progress.borrow().is_none();
        if let Some(mut first) = pushes.get(&(kind, digest)).filter(is_unfinished).cloned() {
            let Some(signature) = signature else { return Ok(first) };
            let (outcome, progress) = watch::channel(None);
            pushes.insert((kind, digest), progress.clone());
            let inner = Arc::clone(&self.0);
            tokio::spawn(async move {
                let Some(first) = first.wait_for(Option::is_some).await.ok().and_then(|it| it.clone()) else { return };
                outcome.send_replace(Some(inner.sign(first, digest, &signature, &by).await));
            });
            return Ok(progress);
        }
        if pushes.values().filter(is_unfinished).count() >= UNFINISHED_MAX {
            return Err(TooMany);
        }
        if pushes.len() >= KEPT_MAX {
            pushes.retain(|_, progress| progress.borrow().is_none());
        }
        let (outcome, progress) = watch::channel(None);
        pushes.insert((kind, digest), progress.clone());
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            outcome.send_replace(Some(Arc::new(inner.examine(kind, &bytes, signature.as_deref(), &by).await)));
        });
        Ok(progress)
    }

    /// The progress of an examination: `None` if this host knows of none, `Some(None)` while it is in
    /// progress.
    pub fn progress(&self, kind: ModelKind, digest: &str) -> Option<Option<Arc<PushOutcome>>> {
        let pushes = self.0.pushes.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pushes.iter().find(|((of, it), _)| *of == kind && it.to_string() == digest);
        found.map(|(_, progress)| progress.borrow().clone())
    }
}

impl Inner {
    /// Adds a signature that arrived during the examination to what that registered.
    async fn sign(&self, first: Arc<PushOutcome>, digest: Digest, signature: &str, by: &str) -> Arc<PushOutcome> {
        if !matches!(*first, PushOutcome::Accepted { registered: Registered::New | Registered::Known, .. }) {
            return first;
        }
        let signed = match self.db.acquire().await {
            Ok(mut db) => components::sign(&mut db, &self.key, digest, signature, by, self.clock.now()).await,
            Err(error) => Err(error),
        };
        signed.map_or_else(|error| Arc::new(PushOutcome::Failed(error.to_string())), |()| first)
    }

    async fn examine(&self, kind: ModelKind, bytes: &[u8], signature: Option<&str>, by: &str) -> PushOutcome {
        let Ok(_turn) = self.turn.acquire().await else {
            return PushOutcome::Failed("the host is stopping".to_owned());
        };
        let mut report = match self.gate.examine(bytes).await {
            Ok(report) => report,
            Err(error) => return PushOutcome::Failed(format!("cannot start the gate: {error}")),
        };
        report.expect_kind(kind);
        if !report.is_accepted() {
            return PushOutcome::Refused(report);
        }
        let registered = match self.db.acquire().await {
            Ok(mut db) => register(&mut db, &self.key, (bytes, signature), &report, by, self.clock.now()).await,
            Err(error) => Err(error),
        };
        match registered {
            Ok(Some((version, registered))) => PushOutcome::Accepted { version, registered, report },
            Ok(None) => PushOutcome::Failed("an accepted report lacks its kind, version or answers".to_owned()),
            Err(error) => PushOutcome::Failed(error.to_string()),
        }
    }
}
