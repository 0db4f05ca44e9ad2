//! Puts into service what is deployed: the truth is in Postgres, and every host follows it.
//!
//! A host hears of a change at once and looks for itself every second. It loads what it does not
//! have, off the request path, and then swaps the whole registry in one step: requests under way
//! finish with what they started with. What cannot be loaded changes nothing: what runs goes on, the
//! reason is logged once and shown in `/ai/health`. Without a database everything goes on too.
//!
//! Not for deciding what is deployed: operators do that.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::catalog::digest_of;
use super::{Embedded, Loaded, Models};
use crate::db::components::{self, Deployment, NewComponent};
use crate::domain::model::{Digest, ModelKind};
use crate::wasm::{LoadError, Runtime};

/// How often a host looks for itself, should a notice be lost.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Who registered what a host was built with.
const BUILT_IN: &str = "built in";

/// Why a deployed component does not serve here.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("it is not registered")]
    Unknown,
    #[error("it does not load: {0}")]
    Load(#[from] LoadError),
    #[error("loading it panicked")]
    Panicked,
}

/// Follows what is deployed.
pub struct Swapper {
    db: PgPool,
    models: Models,
    runtime: Runtime,
    /// Epochs that were looked at, in service or not.
    seen: HashMap<ModelKind, i64>,
    /// Champions and what a rollback returns to, loaded.
    warm: HashMap<Digest, Loaded>,
}

impl Swapper {
    /// Registers what this program was built with, and puts into service what is deployed.
    ///
    /// # Errors
    /// When the database fails: a host that cannot tell what is deployed does not start.
    pub async fn start(
        db: PgPool,
        models: Models,
        runtime: Runtime,
        now: time::OffsetDateTime,
    ) -> Result<JoinHandle<()>, sqlx::Error> {
        let warm = models.snapshot().loaded().map(|loaded| (loaded.identity().digest, loaded)).collect();
        register_built_in(&mut *db.acquire().await?, &runtime, now).await?;
        let mut swapper = Self { db, models, runtime, seen: HashMap::new(), warm };
        // First the ear, then the look: a change in between is heard.
        let listener = components::listen(&swapper.db).await?;
        swapper.look().await?;
        Ok(tokio::spawn(swapper.follow(listener)))
    }

    async fn follow(mut self, mut listener: PgListener) {
        loop {
            // A lost connection is an error here and a look that fails below; both pass.
            let heard = timeout(LOOK_EVERY, listener.recv()).await;
            if let Ok(Err(_)) = heard {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            if let Err(error) = self.look().await {
                tracing::debug!(?error, "cannot see what is deployed");
            }
        }
    }

    /// Puts into service what changed.
    async fn look(&mut self) -> Result<(), sqlx::Error> {
        let mut db = self.db.acquire().await?;
        let deployed = components::deployments(&mut db).await?;
        let mut changed = Vec::new();
        for deployment in &deployed {
            if self.seen.get(&deployment.kind) == Some(&deployment.epoch) {
                continue;
            }
            let Deployment { kind, epoch, champion, .. } = *deployment;
            let bytes =
                if self.warm.contains_key(&champion) { None } else { components::bytes_of(&mut db, champion).await? };
            let loaded = match (self.warm.get(&champion), bytes) {
                (Some(loaded), _) => Ok(loaded.clone()),
                (None, Some(bytes)) => load(&self.runtime, kind, bytes).await,
                (None, None) => Err(Failure::Unknown),
            };
            self.seen.insert(kind, epoch);
            match loaded {
                Ok(loaded) => changed.push(loaded),
                Err(failure) => {
                    tracing::error!(%kind, epoch, %champion, %failure, "a deployed component does not serve here");
                    self.models.note(kind, Some(failure.to_string()));
                }
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        for loaded in &changed {
            let identity = loaded.identity();
            tracing::info!(version = %identity.version, "in service");
            self.models.note(identity.kind, None);
            self.warm.insert(identity.digest, loaded.clone());
        }
        self.models.activate(self.models.snapshot().with(changed));
        // What serves and what it would roll back to stay loaded; the rest goes when its last request ends.
        let needed = |digest: &Digest| {
            deployed.iter().any(|it| it.champion == *digest || it.previous == *digest)
                || self.models.snapshot().loaded().any(|it| it.identity().digest == *digest)
        };
        self.warm.retain(|digest, _| needed(digest));
        Ok(())
    }
}

/// Compiles off the request path.
async fn load(runtime: &Runtime, kind: ModelKind, bytes: Vec<u8>) -> Result<Loaded, Failure> {
    let runtime = runtime.clone();
    let loaded = spawn_blocking(move || Loaded::new(&runtime, kind, &bytes)).await;
    Ok(loaded.map_err(|_| Failure::Panicked)??)
}

/// Registers what this program was built with, so that it can be deployed and rolled back to.
///
/// # Errors
/// When the database fails.
pub async fn register_built_in(
    db: &mut PgConnection,
    runtime: &Runtime,
    now: time::OffsetDateTime,
) -> Result<(), sqlx::Error> {
    for embedded in Embedded::ALL {
        // Only what is new has to be compiled to learn its version.
        if components::is_registered(db, digest_of(embedded.bytes)).await? {
            continue;
        }
        let loaded = match load(runtime, embedded.kind, embedded.bytes.to_vec()).await {
            Ok(loaded) => loaded,
            Err(failure) => {
                tracing::error!(name = embedded.name, %failure, "a built-in component does not load");
                continue;
            }
        };
        let identity = loaded.identity();
        let new = NewComponent {
            digest: identity.digest,
            kind: identity.kind,
            version: identity.version.semantic_version(),
            model_version: &identity.version,
            bytes: embedded.bytes,
            report: None,
            by: BUILT_IN,
        };
        components::register(db, &new, now).await?;
    }
    Ok(())
}
