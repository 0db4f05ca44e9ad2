//! The components that kept decisions name, loaded when they are first needed.

use std::collections::HashMap;

use sqlx::PgPool;
use tokio::task::spawn_blocking;

use crate::db::components;
use crate::domain::model::{Digest, ModelKind};
use crate::models::LoadedComponent;
use crate::wasm::Runtime;

pub struct Components {
    db: PgPool,
    runtime: Runtime,
    /// `None` if it cannot be loaded.
    loaded: HashMap<(ModelKind, Digest), Option<LoadedComponent>>,
}

impl Components {
    pub fn new(db: PgPool, runtime: Runtime) -> Self {
        Self { db, runtime, loaded: HashMap::new() }
    }

    /// # Errors
    /// When the database fails.
    pub async fn find(&mut self, kind: ModelKind, digest: Digest) -> Result<Option<LoadedComponent>, sqlx::Error> {
        if let Some(known) = self.loaded.get(&(kind, digest)) {
            return Ok(known.clone());
        }
        let bytes = components::bytes_of(&mut *self.db.acquire().await?, digest).await?;
        let runtime = self.runtime.clone();
        let load = move || bytes.and_then(|bytes| LoadedComponent::load(&runtime, kind, &bytes).ok());
        let component = spawn_blocking(load).await.unwrap_or_default();
        self.loaded.insert((kind, digest), component.clone());
        Ok(component)
    }
}
