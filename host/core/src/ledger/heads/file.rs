//! The form of a file of heads: signed, and replaced at once.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ledger::store::proof::Head;
use crate::sealing::{ChainKey, PublicKey, is_signed};

/// Each chain's heads, oldest first.
pub(super) type Chains = BTreeMap<Uuid, Vec<Head>>;

/// What is signed.
#[derive(Serialize, Deserialize)]
struct Content {
    purpose: String,
    /// Number and hash.
    chains: BTreeMap<Uuid, Vec<(i64, String)>>,
}

/// A file as it is stored. All but `signed`, which is a [`Content`], is in hexadecimal.
#[derive(Serialize, Deserialize)]
struct Signed {
    signed: String,
    public_key: String,
    signature: String,
}

/// The heads and who signed them; nobody and nothing if there is no file. Of a file that is malformed, altered or for
/// another purpose, the error has this kind: [`ErrorKind::InvalidData`].
pub(super) fn read(path: &Path, purpose: &str) -> io::Result<(Option<PublicKey>, Chains)> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((None, Chains::new())),
        text => {
            let (signer, chains) = parse(&text?, purpose).ok_or(ErrorKind::InvalidData)?;
            Ok((Some(signer), chains))
        }
    }
}

fn parse(text: &str, purpose: &str) -> Option<(PublicKey, Chains)> {
    let file: Signed = serde_json::from_str(text).ok()?;
    let signer = parse_hash(&file.public_key)?;
    let signature = hex::decode(&file.signature).ok()?;
    let content: Content = serde_json::from_str(&file.signed).ok()?;
    if content.purpose != purpose || !is_signed(file.signed.as_bytes(), &signature, &signer) {
        return None;
    }
    let head = |(seq, hash): (i64, String)| Some(Head { seq, hash: parse_hash(&hash)? });
    let heads = |heads: Vec<_>| heads.into_iter().map(head).collect::<Option<_>>();
    let chains = content.chains.into_iter().map(|(chain_id, all)| Some((chain_id, heads(all)?)));
    Some((signer, chains.collect::<Option<_>>()?))
}

fn parse_hash(hex: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    hex::decode_to_slice(hex, &mut hash).ok().map(|()| hash)
}

/// Replaces the file atomically.
pub(super) fn write(path: &Path, chains: &Chains, key: &ChainKey, purpose: &str) -> io::Result<()> {
    let line = |head: &Head| (head.seq, hex::encode(head.hash));
    let chains = chains.iter().map(|(chain_id, heads)| (*chain_id, heads.iter().map(line).collect())).collect();
    let signed = serde_json::to_string(&Content { purpose: purpose.to_owned(), chains })?;
    let (public_key, signature) = (hex::encode(key.fingerprint()), hex::encode(key.sign(signed.as_bytes())));
    let text = serde_json::to_string(&Signed { signed, public_key, signature })?;
    // Containers that share a folder may have the same process id.
    let temporary = path.with_extension(format!("json.{}", Uuid::new_v4()));
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}
