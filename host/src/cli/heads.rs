//! The head of each hash chain, recorded outside the database so that truncation can be detected.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use sqlx::PgPool;
use uuid::Uuid;

use crate::ledger::store::proof::{self, Head};

const FILE: &str = "ledger-heads.json";

/// How often a running host records the heads. Truncation of batches younger than this goes undetected.
const WRITE_INTERVAL: Duration = Duration::from_secs(10);

/// Sequence number and hash of each chain's last batch.
pub(super) type Heads = BTreeMap<Uuid, Head>;

pub(super) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

/// The recorded heads; empty if there is no file.
pub(super) fn read(path: &Path) -> Result<Heads> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Heads::new()),
        text => text.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let unreadable = || format!("{} is not a file written by a host or `caudal verify`", path.display());
    let recorded: BTreeMap<Uuid, (i64, String)> = serde_json::from_str(&text).with_context(unreadable)?;
    let head =
        |(chain_id, (seq, hash)): (Uuid, (i64, String))| Some((chain_id, Head { seq, hash: Some(parse(&hash)?) }));
    recorded.into_iter().map(|recorded| head(recorded).with_context(unreadable)).collect()
}

/// Advances the recorded heads, atomically. A head never moves backwards.
pub(super) fn write(path: &Path, heads: &Heads) -> Result<()> {
    let mut recorded = read(path)?;
    for (chain_id, head) in heads.iter().filter(|(_, head)| head.hash.is_some()) {
        if recorded.get(chain_id).is_none_or(|earlier| earlier.seq < head.seq) {
            recorded.insert(*chain_id, *head);
        }
    }
    let text: BTreeMap<_, _> =
        recorded.iter().map(|(chain_id, head)| (chain_id, (head.seq, hex(&head.hash.unwrap_or_default())))).collect();
    let text = serde_json::to_string_pretty(&text)?;
    let temporary = path.with_extension(format!("json.{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Records the heads periodically. Safe to abort at any time.
pub(super) async fn keep(db: PgPool, path: PathBuf) {
    if let Some(folder) = path.parent()
        && let Err(error) = fs::create_dir_all(folder)
    {
        tracing::warn!(%error, folder = %folder.display(), "cannot create the data folder");
    }
    let mut every = tokio::time::interval(WRITE_INTERVAL);
    loop {
        every.tick().await;
        let written = async {
            let heads = proof::heads(&mut *db.acquire().await?).await?;
            write(&path, &heads)
        };
        if let Err(error) = written.await {
            tracing::warn!(error = format!("{error:#}"), "cannot record the heads of the hash chains");
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse(hex: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_never_goes_back() {
        let folder = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        fs::create_dir(&folder).unwrap();
        let (file, chain) = (path(&folder), Uuid::from_u128(1));
        let heads = |seq, byte| Heads::from([(chain, Head { seq, hash: Some([byte; 32]) })]);
        assert_eq!(read(&file).unwrap(), Heads::new());
        write(&file, &heads(7, 0xAB)).unwrap();
        write(&file, &heads(6, 0xCD)).unwrap();
        write(&file, &Heads::from([(chain, Head { seq: 9, hash: None })])).unwrap();
        assert_eq!(read(&file).unwrap(), heads(7, 0xAB));
        fs::write(&file, "{}x").unwrap();
        assert!(read(&file).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
