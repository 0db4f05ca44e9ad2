//! What `caudal models push` sends: a component and its signature, from files or from an OCI image layout.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::wasm::digest_of;

/// The media type of a component among the layers of an image.
const WASM: &str = "application/wasm";

/// A component to push.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) component: Vec<u8>,
    /// In base64.
    pub(super) signature: Option<String>,
}

/// What pins the content of an image (OCI image manifest).
#[derive(Deserialize)]
struct Manifest {
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    media_type: String,
    digest: String,
}

impl Source {
    pub(super) fn files(component: &Path, signature: Option<&Path>) -> Result<Self> {
        let signature = signature.map(|file| {
            let text = String::from_utf8(read(file)?).ok();
            let found = text.and_then(|text| signature_in(&text));
            found.with_context(|| format!("there is no signature in {}", file.display()))
        });
        Ok(Self { component: read(component)?, signature: signature.transpose()? })
    }

    /// From an image in `FOLDER@sha256:DIGEST`, an OCI image layout, whose digest pins all that is in it. One layer is
    /// the component; another one may be the bundle with its signature.
    pub(super) fn layout(reference: &str) -> Result<Self> {
        let (folder, digest) = reference.rsplit_once('@').context("it must be FOLDER@sha256:DIGEST")?;
        let folder = Path::new(folder);
        ensure!(folder.join("oci-layout").is_file(), "{} is not an OCI image layout", folder.display());
        let manifest: Manifest =
            serde_json::from_slice(&blob(folder, digest)?).context("the digest is not that of an image's manifest")?;
        let (mut component, mut signature) = (None, None);
        for Layer { media_type, digest } in manifest.layers {
            let bytes = blob(folder, &digest)?;
            if media_type == WASM {
                ensure!(component.replace(bytes).is_none(), "the image has more than one layer of type {WASM}");
            } else if let Some(found) = std::str::from_utf8(&bytes).ok().and_then(signature_in) {
                signature = Some(found);
            }
        }
        let component = component.with_context(|| format!("the image has no layer of type {WASM}"))?;
        Ok(Self { component, signature })
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// A blob whose bytes have the digest that names it.
fn blob(folder: &Path, digest: &str) -> Result<Vec<u8>> {
    let Some(hex) = digest.strip_prefix("sha256:").filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    else {
        bail!("the digest {digest} is not a SHA-256: sha256:...");
    };
    let bytes = read(&folder.join("blobs/sha256").join(hex))?;
    ensure!(digest_of(&bytes).to_string() == hex, "the content of blob {digest} does not match its digest");
    Ok(bytes)
}

/// The signature in base64, alone or in a bundle of cosign, in its older or its newer form.
fn signature_in(text: &str) -> Option<String> {
    let Ok(json) = serde_json::from_str::<Value>(text) else {
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        let text = text.trim();
        return (!text.is_empty() && text.bytes().all(is_base64)).then(|| text.to_owned());
    };
    let signature = json.pointer("/messageSignature/signature").or_else(|| json.get("base64Signature"));
    signature?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_comes_alone_or_in_a_bundle() {
        let bundle = r#"{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "messageSignature": {"signature": "AA=="}}"#;
        let older = r#"{"base64Signature": "AA==", "cert": "", "rekorBundle": null}"#;
        for text in ["AA==\n", bundle, older] {
            assert_eq!(signature_in(text).as_deref(), Some("AA=="), "{text}");
        }
        for text in ["", "not one", "{}", r#"{"dsseEnvelope": {}}"#, r#"{"messageSignature": 1}"#] {
            assert_eq!(signature_in(text), None, "{text}");
        }
    }
}
