//! What vouches for a component: a signature of its bytes, and signed statements about what it contains and how it was
//! built, in the forms that cosign writes.

pub mod keys;
pub mod statement;

use sqlx::PgConnection;

use crate::db::attestations;
use crate::domain::model::Digest;
use crate::models::attesting::keys::ModelKeys;
use crate::models::serving::embedded::Embedded;
use crate::wasm::digest_of;

/// Whether hosts with these keys may serve a registered component. What this program contains is part of its release.
///
/// # Errors
/// When the database fails.
pub(crate) async fn may_serve(
    db: &mut PgConnection,
    keys: &ModelKeys,
    digest: Digest,
    bytes: &[u8],
) -> Result<bool, sqlx::Error> {
    let is_embedded = || Embedded::ALL.into_iter().any(|it| digest_of(it.bytes) == digest);
    if !keys.is_required() || is_embedded() {
        return Ok(true);
    }
    let signature = attestations::signature_of(db, digest).await?;
    Ok(signature.is_some_and(|signature| keys.signer_of(bytes, &signature).is_some()))
}
