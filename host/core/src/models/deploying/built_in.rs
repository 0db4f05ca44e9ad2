//! Registers the embedded components, so that they can be deployed and rolled back to.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::components::{self, NewComponent};
use crate::domain::model::{Digest, ModelKind};
use crate::models::deploying::loading::load;
use crate::models::serving::embedded::Embedded;
use crate::sealing::ChainKey;
use crate::wasm::{Runtime, digest_of};

/// Stored as the operator who registered them.
const OPERATOR: &str = "built in";

/// The component that hosts like this one serve if nothing was ever deployed.
pub fn built_in(kind: ModelKind) -> Digest {
    digest_of(Embedded::default_of(kind).bytes)
}

/// Registers the embedded components.
///
/// # Errors
/// When the database fails.
pub async fn register_built_in(
    db: &mut PgConnection,
    key: &ChainKey,
    runtime: &Runtime,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    for embedded in Embedded::ALL {
        // Only a new component has to be compiled to learn its version.
        if components::is_registered(db, digest_of(embedded.bytes)).await? {
            continue;
        }
        let (loaded, answers) = match load(runtime, embedded.kind, embedded.bytes.to_vec(), None).await {
            Ok(loaded) => loaded,
            Err(failure) => {
                tracing::error!(name = embedded.name, %failure, "an embedded component does not load");
                continue;
            }
        };
        let identity = loaded.identity();
        let new = NewComponent {
            digest: identity.digest,
            kind: identity.kind,
            version: identity.version.semantic_version(),
            model_version: &identity.version,
            class: identity.class,
            bytes: embedded.bytes,
            report: None,
            answers: &answers,
            signature: None,
            by: OPERATOR,
        };
        components::register(db, key, &new, now).await?;
    }
    Ok(())
}
