//! What vouches for a component: a signature of its bytes, and signed statements about what it contains and how it was
//! built, in the forms that cosign writes.

pub mod keys;
pub mod statement;

use sqlx::PgConnection;

use crate::db::{attestations, components};
use crate::domain::model::Digest;
use crate::models::attesting::keys::{KeyId, ModelKeys};
use crate::models::serving::embedded::Embedded;
use crate::wasm::digest_of;

/// Whether hosts with these keys may serve a registered component. What this program contains is part of its release.
///
/// # Errors
/// When the database fails.
pub(crate) async fn may_serve(db: &mut PgConnection, keys: &ModelKeys, digest: Digest) -> Result<bool, sqlx::Error> {
    let is_embedded = || Embedded::ALL.into_iter().any(|it| digest_of(it.bytes) == digest);
    if !keys.is_required() || is_embedded() {
        return Ok(true);
    }
    let Some(bytes) = components::bytes_of(&mut *db, digest).await? else { return Ok(false) };
    Ok(signer_of(db, keys, digest, &bytes).await?.is_some())
}

/// The key that signed a registered component, if it is one of these.
///
/// # Errors
/// When the database fails.
pub(crate) async fn signer_of(
    db: &mut PgConnection,
    keys: &ModelKeys,
    digest: Digest,
    bytes: &[u8],
) -> Result<Option<KeyId>, sqlx::Error> {
    let signature = attestations::signature_of(db, digest).await?;
    Ok(signature.and_then(|signature| keys.signer_of(bytes, &signature)))
}
