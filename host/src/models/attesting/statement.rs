//! in-toto statements about a component: its bill of materials in CycloneDX, and its provenance in SLSA's form. Pure.
//!
//! A signed one comes in a DSSE envelope, on its own or in a Sigstore bundle, as `cosign attest-blob` writes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use crate::domain::model::Digest;
use crate::models::attesting::keys::{KeyId, ModelKeys};

/// Largest attestation. A bill of materials has about half a kilobyte for each dependency.
pub const ATTESTATION_BYTES_MAX: usize = 1 << 20;

/// Most signatures that are looked at.
const SIGNATURES_MAX: usize = 8;

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const STATEMENT_TYPES: [&str; 2] = ["https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"];

/// What a statement says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What a component contains.
    BillOfMaterials,
    /// From which sources it was built, and by whom.
    Provenance,
}

impl Form {
    pub const TEXTS: [&str; 2] = ["bill-of-materials", "provenance"];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::BillOfMaterials => Self::TEXTS[0],
            Self::Provenance => Self::TEXTS[1],
        }
    }

    fn of(predicate_type: &str) -> Option<Self> {
        match predicate_type {
            "https://slsa.dev/provenance/v1" => Some(Self::Provenance),
            "https://cyclonedx.org/bom" => Some(Self::BillOfMaterials),
            // Some tools append the version of CycloneDX.
            other => other.starts_with("https://cyclonedx.org/bom/").then_some(Self::BillOfMaterials),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("It is not JSON: {0}.")]
    NotJson(#[from] serde_json::Error),
    #[error("It is not an in-toto statement, alone or in a DSSE envelope or a Sigstore bundle.")]
    NotStatement,
    #[error("Its predicate type is neither https://cyclonedx.org/bom nor https://slsa.dev/provenance/v1.")]
    OtherForm,
    #[error("None of its subjects has the SHA-256 of this component.")]
    OtherSubject,
}

/// A statement about a component.
#[derive(Debug)]
pub struct Attestation {
    pub form: Form,
    pub statement: Value,
    envelope: Option<Envelope>,
}

#[derive(Debug)]
struct Envelope {
    /// What its signatures are of.
    message: Vec<u8>,
    signatures: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvelopeJson {
    payload_type: String,
    payload: String,
    signatures: Vec<SignatureJson>,
}

#[derive(Deserialize)]
struct SignatureJson {
    sig: String,
}

#[derive(Deserialize)]
struct StatementJson {
    #[serde(rename = "_type")]
    form: String,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    subject: Vec<SubjectJson>,
}

#[derive(Deserialize)]
struct SubjectJson {
    digest: DigestJson,
}

#[derive(Deserialize)]
struct DigestJson {
    sha256: Option<String>,
}

impl Attestation {
    /// Reads a statement about a component. It proves nothing until [`Self::signer`] names a key.
    ///
    /// # Errors
    /// When it is about something else, or in another form.
    pub fn parse(json: &[u8], about: Digest) -> Result<Self, Fault> {
        let mut json: Value = serde_json::from_slice(json)?;
        if let Some(bundled) = json.get_mut("dsseEnvelope") {
            json = bundled.take();
        }
        let (statement, envelope) = match json.get("payload") {
            None => (json, None),
            Some(_) => {
                let EnvelopeJson { payload_type, payload, signatures } =
                    serde_json::from_value(json).map_err(|_| Fault::NotStatement)?;
                let payload = STANDARD.decode(payload).map_err(|_| Fault::NotStatement)?;
                if payload_type != PAYLOAD_TYPE {
                    return Err(Fault::NotStatement);
                }
                let signatures = signatures.into_iter().take(SIGNATURES_MAX).map(|it| it.sig).collect();
                let envelope = Envelope { message: authenticated(&payload), signatures };
                (serde_json::from_slice(&payload)?, Some(envelope))
            }
        };
        let read = StatementJson::deserialize(&statement).map_err(|_| Fault::NotStatement)?;
        if !STATEMENT_TYPES.contains(&&*read.form) {
            return Err(Fault::NotStatement);
        }
        let form = Form::of(&read.predicate_type).ok_or(Fault::OtherForm)?;
        let about = about.to_string();
        if !read.subject.iter().any(|it| it.digest.sha256.as_deref() == Some(&*about)) {
            return Err(Fault::OtherSubject);
        }
        Ok(Self { form, statement, envelope })
    }

    /// The key that signed it, if it is one of these.
    pub fn signer(&self, keys: &ModelKeys) -> Option<KeyId> {
        let Envelope { message, signatures } = self.envelope.as_ref()?;
        signatures.iter().find_map(|signature| keys.signer_of(message, signature))
    }
}

/// DSSE's encoding of a payload and its type.
fn authenticated(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len());
    [head.as_bytes(), payload].concat()
}
