//! Loads registered components off the request path.

use std::time::Duration;

use rustix::process::nice;
use sqlx::PgPool;
use tokio::sync::oneshot;

use crate::db::components;
use crate::db::session::within;
use crate::domain::model::{Digest, ModelKind};
use crate::models::serving::component::LoadedComponent;
use crate::wasm::{LoadError, Runtime};

/// Longest that the database may take for one operation.
pub(super) const DATABASE_TIME_MAX: Duration = Duration::from_secs(10);

/// Lowest priority, so that compiling never delays requests.
const NICENESS: i32 = 19;

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("it is not registered")]
    Unknown,
    #[error("its bytes cannot be read: {0}")]
    Database(#[from] sqlx::Error),
    #[error("it does not load: {0}")]
    Load(#[from] LoadError),
    #[error("loading it panicked")]
    Panicked,
}

/// Loads a component from the registry.
pub(super) async fn load_registered(
    db: &PgPool,
    runtime: &Runtime,
    kind: ModelKind,
    digest: Digest,
) -> Result<LoadedComponent, Failure> {
    let db = db.acquire().await?;
    let bytes = within(db, DATABASE_TIME_MAX, async |db| components::bytes_of(db, digest).await).await?;
    load(runtime, kind, bytes.ok_or(Failure::Unknown)?).await
}

/// Compiles a component on a thread of low priority.
pub(super) async fn load(runtime: &Runtime, kind: ModelKind, bytes: Vec<u8>) -> Result<LoadedComponent, Failure> {
    let (reply, loaded) = oneshot::channel();
    let runtime = runtime.clone();
    let work = move || {
        // Best effort: lower our priority.
        let _ = nice(NICENESS);
        let _ = reply.send(LoadedComponent::load(&runtime, kind, &bytes));
    };
    // If the thread does not start, the reply is dropped.
    let _ = std::thread::Builder::new().name("compile".to_owned()).spawn(work);
    Ok(loaded.await.map_err(|_| Failure::Panicked)??)
}
