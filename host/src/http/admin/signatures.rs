//! Signatures of versions: what vouches for one besides the gate.

use axum::http::HeaderMap;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::components::{self, Signature};
use crate::domain::model::Digest;
use crate::http::error::Error;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::signing::{KeyId, ModelKeys, may_serve};
use crate::schema::answer;

/// The header of a push with the signature of its body.
pub(crate) const SIGNATURE: &str = "Model-Signature";

answer! {
    /// A signature of a version's bytes.
    pub(crate) struct SignatureJson as "Signature" {
        /// The one of --model-keys that made it; null if that is none of them, or no longer.
        signed_by: Option<String> { nullable: true, example: "\"sha256:8efe6cf7...\"" },
        added_by: String { example: "\"ops\"" },
        added_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

/// The signature of a version. It is verified each time.
pub(super) async fn to_json(
    db: &mut PgConnection,
    keys: &ModelKeys,
    component: Digest,
) -> Result<Option<SignatureJson>, Error> {
    let Some(Signature { signature, added_by, added_at }) = components::signature_of(&mut *db, component).await? else {
        return Ok(None);
    };
    let bytes = components::bytes_of(db, component).await?.unwrap_or_default();
    let signed_by = keys.signer_of(&bytes, &signature).as_ref().map(KeyId::to_string);
    Ok(Some(SignatureJson { signed_by, added_by, added_at }))
}

/// The signature that comes with a push. One that does not hold is refused, whether or not one is required.
pub(super) fn signature_of<'a>(
    headers: &'a HeaderMap,
    keys: &ModelKeys,
    bytes: &[u8],
) -> Result<Option<&'a str>, Error> {
    let Some(signature) = headers.get(SIGNATURE) else {
        return if keys.is_required() { Err(Error::SignatureMissing) } else { Ok(None) };
    };
    let signature = signature.to_str().ok().filter(|signature| keys.signer_of(bytes, signature).is_some());
    signature.map(Some).ok_or(Error::SignatureInvalid)
}

/// Refuses versions that hosts would not serve.
pub(super) async fn require_signatures(
    db: &mut PgConnection,
    keys: &ModelKeys,
    versions: impl IntoIterator<Item = Digest>,
) -> Result<(), Error> {
    if !keys.is_required() {
        return Ok(());
    }
    for component in versions {
        let bytes = components::bytes_of(&mut *db, component).await?.unwrap_or_default();
        if !may_serve(&mut *db, keys, component, &bytes).await? {
            return Err(Error::SignatureMissing);
        }
    }
    Ok(())
}
