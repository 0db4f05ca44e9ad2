//! Loads deployed components off the request path.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::nice;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot};

use crate::db::components;
use crate::db::session::within;
use crate::domain::model::{Digest, ModelKind};
use crate::models::serving::component::LoadedComponent;
use crate::models::signing::{ModelKeys, may_serve};
use crate::scoring::answers::contradict;
use crate::wasm::{LoadError, Runtime};

/// Longest database operation.
pub(super) const DATABASE_TIME_MAX: Duration = Duration::from_secs(10);

/// Pause before a component that did not load is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Beside requests that keep every processor busy, this work gets a tenth of one: at the lowest priority it would get a
/// seventieth, and a deployment would not come.
const NICENESS: i32 = 10;

#[derive(Debug, thiserror::Error)]
pub(super) enum LoadFailure {
    #[error("it is not registered")]
    Unknown,
    #[error("no key of --model-keys has signed it: push it again with a signature")]
    Unsigned,
    #[error("its bytes cannot be read: {0}")]
    Database(#[from] sqlx::Error),
    #[error("it does not load: {0}")]
    Load(#[from] LoadError),
    #[error("it does not answer the cases of the gate: {0}")]
    Unanswered(String),
    #[error(
        "its answers to the cases of the gate differ from those when it was registered: compare this machine's processor \
         and release with those of a host that serves it"
    )]
    Differs,
    #[error("loading it panicked")]
    Panicked,
}

pub(super) type LoadResult = (Digest, Result<LoadedComponent, LoadFailure>);

/// The deployed components on this host.
pub(super) struct Components {
    db: PgPool,
    runtime: Runtime,
    keys: Arc<ModelKeys>,
    loaded: HashMap<Digest, LoadedComponent>,
    loading: HashSet<Digest>,
    /// Why a component did not load, and when to try again: the failure may have been transient.
    failed: HashMap<Digest, (String, Instant)>,
    results: mpsc::UnboundedSender<LoadResult>,
}

impl Components {
    /// `results` receives what was loaded; each result must come back to [`Self::keep`].
    pub(super) fn new(
        db: PgPool,
        runtime: Runtime,
        keys: Arc<ModelKeys>,
        loaded: HashMap<Digest, LoadedComponent>,
        results: mpsc::UnboundedSender<LoadResult>,
    ) -> Self {
        let (loading, failed) = Default::default();
        Self { db, runtime, keys, loaded, loading, failed, results }
    }

    /// Loads a component in the background, unless it is loaded, loading or failed recently.
    pub(super) fn require(&mut self, kind: ModelKind, digest: Digest) {
        let is_known = self.loaded.contains_key(&digest) || self.failed.contains_key(&digest);
        if is_known || !self.loading.insert(digest) {
            return;
        }
        let (db, runtime, keys, results) =
            (self.db.clone(), self.runtime.clone(), Arc::clone(&self.keys), self.results.clone());
        tokio::spawn(async move {
            let loaded = load_registered(&db, &runtime, &keys, kind, digest).await;
            // The receiver is gone when the host stops.
            let _ = results.send((digest, loaded));
        });
    }

    /// Keeps a loaded component, or why it did not load.
    pub(super) fn keep(&mut self, (digest, loaded): LoadResult) {
        self.loading.remove(&digest);
        match loaded {
            Ok(loaded) => {
                self.loaded.insert(digest, loaded);
            }
            Err(failure) => {
                tracing::error!(%digest, %failure, "a deployed component does not load");
                self.failed.insert(digest, (failure.to_string(), Instant::now() + RETRY_AFTER));
            }
        }
    }

    /// Forgets failures that are due for another attempt.
    pub(super) fn forget_old_failures(&mut self) {
        self.failed.retain(|_, (_, until)| Instant::now() < *until);
    }

    /// Drops components that are no longer needed; requests in progress keep theirs.
    pub(super) fn retain(&mut self, is_needed: impl Fn(Digest) -> bool) {
        self.loaded.retain(|digest, _| is_needed(*digest));
    }

    pub(super) fn loaded(&self) -> &HashMap<Digest, LoadedComponent> {
        &self.loaded
    }

    pub(super) fn is_loaded(&self, digest: Digest) -> bool {
        self.loaded.contains_key(&digest)
    }

    pub(super) fn is_loading(&self, digest: Digest) -> bool {
        self.loading.contains(&digest)
    }

    pub(super) fn are_loading(&self) -> bool {
        !self.loading.is_empty()
    }

    pub(super) fn failure(&self, digest: Digest) -> Option<&str> {
        self.failed.get(&digest).map(|(failure, _)| failure.as_str())
    }
}

/// Loads a component from the registry.
async fn load_registered(
    db: &PgPool,
    runtime: &Runtime,
    keys: &ModelKeys,
    kind: ModelKind,
    digest: Digest,
) -> Result<LoadedComponent, LoadFailure> {
    let db = db.acquire().await?;
    let read = async |db: &mut PgConnection| {
        let Some(bytes) = components::bytes_of(&mut *db, digest).await? else { return Ok(None) };
        let may_serve = may_serve(&mut *db, keys, digest, &bytes).await?;
        Ok(Some((bytes, may_serve, components::answers_of(db, digest).await?)))
    };
    match within(db, DATABASE_TIME_MAX, read).await?.ok_or(LoadFailure::Unknown)? {
        (bytes, true, answers) => Ok(load(runtime, kind, bytes, answers).await?.0),
        (_, false, _) => Err(LoadFailure::Unsigned),
    }
}

/// What a component answers to the cases on this machine, if that is what was `registered`.
pub(super) fn checked(component: &LoadedComponent, registered: Option<&str>) -> Result<String, LoadFailure> {
    let answers = component.answers().map_err(LoadFailure::Unanswered)?;
    if registered.is_some_and(|registered| contradict(registered, &answers)) {
        return Err(LoadFailure::Differs);
    }
    Ok(answers)
}

/// Compiles a component on a thread of low priority, and checks its answers against those `registered`.
pub(super) async fn load(
    runtime: &Runtime,
    kind: ModelKind,
    bytes: Vec<u8>,
    registered: Option<String>,
) -> Result<(LoadedComponent, String), LoadFailure> {
    let (reply, loaded) = oneshot::channel();
    let runtime = runtime.clone();
    let work = move || {
        // Best effort: lower our priority.
        let _ = nice(NICENESS);
        let loaded = LoadedComponent::load(&runtime, kind, &bytes).map_err(LoadFailure::Load);
        let _ = reply.send(loaded.and_then(|it| {
            let answers = checked(&it, registered.as_deref())?;
            Ok((it, answers))
        }));
    };
    // If the thread does not start, the reply is dropped.
    let _ = std::thread::Builder::new().name("compile".to_owned()).spawn(work);
    loaded.await.map_err(|_| LoadFailure::Panicked)?
}
