//! Signed components on the command line: from files that openssl signed, and from an OCI image layout.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::models::component;
use crate::process::{DataDir, Service, text};

fn openssl(arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
}

/// Writes a blob into an image layout and returns its digest.
fn blob(layout: &Path, bytes: &[u8]) -> String {
    let hex = hex::encode(Sha256::digest(bytes));
    fs::write(layout.join("blobs/sha256").join(&hex), bytes).unwrap();
    format!("sha256:{hex}")
}

#[test]
fn a_host_that_requires_signatures_takes_a_signed_component_from_files_and_from_an_image() {
    let (data, folder) = (DataDir::new(), scratch());
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (private, public, der, signature) = (at("key.pem"), at("public.pem"), at("der"), at("sig"));
    openssl(&["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", &private]);
    openssl(&["ec", "-in", &private, "-pubout", "-out", &public]);
    let listens = ["--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    let keys = ["--model-keys", &public, "--require-signature"];
    let service = Service::start_command(data.command(&[&["serve", "--sandbox"], &listens[..], &keys[..]].concat()));
    let file = component("fixtures/hostile");
    let push = |more: &[&str]| data.ask(&service, &[&["models", "push"], more].concat());

    let refused = push(&[&file]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("push it with --signature"), "{}", text(&refused.stderr));
    openssl(&["dgst", "-sha256", "-sign", &private, "-out", &der, &file]);
    openssl(&["base64", "-A", "-in", &der, "-out", &signature]);
    let other = push(&[&component("nudge"), "--signature", &signature]);
    assert!(text(&other.stderr).contains("The signature is not valid"), "{}", text(&other.stderr));
    let pushed = push(&[&file, "--signature", &signature]);
    assert!(pushed.status.success(), "{}", text(&pushed.stderr));
    let pushed = text(&pushed.stdout);
    let version = pushed.rsplit(' ').next().unwrap();
    let deployed = data.ask(&service, &["models", "deploy", version, "--reason", "a test", "--wait"]);
    assert!(deployed.status.success(), "{}", text(&deployed.stderr));
    let shown = data.ask(&service, &["models", "show", version]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let shown = text(&shown.stdout);
    assert!(shown.contains("role        champion") && shown.contains("signature   signed by sha256:"), "{shown}");

    // The same in an image.
    let layout = folder.join("image");
    fs::create_dir_all(layout.join("blobs/sha256")).unwrap();
    fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion": "1.0.0"}"#).unwrap();
    let bundle = json!({"messageSignature": {"signature": fs::read_to_string(&signature).unwrap()}}).to_string();
    let wasm = blob(&layout, &fs::read(&file).unwrap());
    let layers = [
        json!({"mediaType": "application/wasm", "digest": wasm, "size": 1}),
        json!({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "digest": blob(&layout, bundle.as_bytes()),
               "size": 1}),
    ];
    let manifest = blob(&layout, json!({"schemaVersion": 2, "layers": layers}).to_string().as_bytes());
    let image = format!("{}@{manifest}", layout.display());
    let pulled = push(&["--oci", &image]);
    assert!(pulled.status.success(), "{}", text(&pulled.stderr));
    assert!(text(&pulled.stdout).ends_with(&format!("{version} was already registered")), "{}", text(&pulled.stdout));

    // A blob with other bytes than its name says is found before anything is sent.
    fs::write(layout.join("blobs/sha256").join(wasm.trim_start_matches("sha256:")), b"\0asm").unwrap();
    let altered = push(&["--oci", &image]);
    assert!(text(&altered.stderr).contains("does not match its digest"), "{}", text(&altered.stderr));
    service.stop();
    fs::remove_dir_all(&folder).unwrap();
}

fn scratch() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("caudal-signing-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}
