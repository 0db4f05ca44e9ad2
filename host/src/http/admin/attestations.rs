//! What vouches for a version besides the gate: its signature, and statements about its origin.

use axum::http::HeaderMap;
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::attestations::{self, Stored};
use crate::db::components;
use crate::domain::model::Digest;
use crate::http::error::Error;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::attesting::keys::{KeyId, ModelKeys};
use crate::models::attesting::may_serve;
use crate::models::attesting::statement::{Attestation, Form};
use crate::schema::answer;

/// The header of a push with the signature of its body.
pub(crate) const SIGNATURE: &str = "Model-Signature";

/// A [`KeyId`] in examples.
const KEY_EXAMPLE: &str = "\"sha256:8efe6cf7...\"";

answer! {
    /// A signature of a version's bytes.
    pub(crate) struct SignatureJson as "Signature" {
        /// The one of --model-keys that made it; null if that is none of them, or no longer.
        signed_by: Option<String> { nullable: true, example: KEY_EXAMPLE },
        added_by: String { example: "\"ops\"" },
        added_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// What somebody says about a version.
    pub(crate) struct AttestationJson as "Attestation" {
        form: &'static str { one_of: &Form::TEXTS, example: "\"provenance\"" },
        /// The one of --model-keys that signed it; null if that is none of them, or no longer.
        signed_by: Option<String> { nullable: true, example: KEY_EXAMPLE },
        added_by: String { example: "\"ops\"" },
        added_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// An in-toto statement.
        statement: Value,
    }
}

pub(super) fn shown(
    keys: &ModelKeys,
    attestation: Attestation,
    added_by: String,
    added_at: OffsetDateTime,
) -> AttestationJson {
    let signed_by = attestation.signer(keys).as_ref().map(KeyId::to_string);
    AttestationJson { form: attestation.form.as_str(), signed_by, added_by, added_at, statement: attestation.statement }
}

/// The signature of a version and the statements about it. Signatures are verified each time.
pub(super) async fn of_version(
    db: &mut PgConnection,
    keys: &ModelKeys,
    component: Digest,
) -> Result<(Option<SignatureJson>, Vec<AttestationJson>), Error> {
    let (mut signature, mut statements) = (None, Vec::new());
    for stored in attestations::list(&mut *db, component).await? {
        let is_signature = stored.is_signature();
        let Stored { body, added_by, added_at, .. } = stored;
        if is_signature {
            let bytes = components::bytes_of(&mut *db, component).await?.unwrap_or_default();
            let signed_by = keys.signer_of(&bytes, &body).as_ref().map(KeyId::to_string);
            signature = Some(SignatureJson { signed_by, added_by, added_at });
        } else if let Ok(attestation) = Attestation::parse(body.as_bytes(), component) {
            statements.push(shown(keys, attestation, added_by, added_at));
        }
    }
    Ok((signature, statements))
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
