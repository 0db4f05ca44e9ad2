//! The heads of the chains, recorded outside the database so that truncation can be detected.
//!
//! What is recorded is compared with the database before anything is added, and a recorded head that is gone is never
//! replaced. The last heads of each chain are kept, which shows how far a history still matches what was recorded.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::chain::{ChainKey, Keyring};
use super::store::Loss;
use super::store::proof::{self, Head, Missing};
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::metrics::Metrics;
use crate::sealing::digest::{Digest, Hash};

pub use super::store::proof::Heads;

/// The seal of a file, in the place of a chain's head.
const SEAL: Uuid = Uuid::max();

/// How often a running host records the heads. Truncation of batches younger than this goes undetected.
const WRITE_INTERVAL: Duration = Duration::from_secs(10);

/// Recorded heads of a chain, the latest ones: about ten minutes of a busy host.
const HEADS_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum HeadsError {
    #[error("cannot read or write {0}")]
    File(PathBuf, #[source] io::Error),
    #[error("{0} is not a file written by a host or `caudal verify`")]
    Unreadable(PathBuf),
    #[error("cannot compare the recorded heads with the database")]
    Database(#[from] sqlx::Error),
    #[error("{0} was not written with this key: run `caudal verify` without it")]
    Unsealed(PathBuf),
    #[error(
        "batch {seq} of chain {chain_id} is in {path} and no longer in the database: history was shortened or rewritten. \
         No money is moved. Run `caudal verify`; if a failover lost the batch, `caudal accept-loss` records that permanently"
    )]
    Gone { path: PathBuf, chain_id: Uuid, seq: i64 },
    #[error(
        "none of the recorded history of chain {0} is in the database: more than its end is gone, so it cannot be accepted as lost"
    )]
    Rewritten(Uuid),
}

/// A file of recorded heads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedHeads {
    path: PathBuf,
    /// Oldest first.
    chains: BTreeMap<Uuid, Vec<Head>>,
}

impl RecordedHeads {
    /// Empty if there is no file.
    ///
    /// # Errors
    /// When the file cannot be read, or is another one.
    pub fn read(path: &Path) -> Result<Self, HeadsError> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), chains: BTreeMap::new() });
            }
            text => text.map_err(|error| HeadsError::File(path.to_owned(), error))?,
        };
        let chains = parse_file(&text).ok_or_else(|| HeadsError::Unreadable(path.to_owned()))?;
        Ok(Self { path: path.to_owned(), chains })
    }

    pub fn latest(&self) -> Heads {
        let last = |(chain_id, heads): (&Uuid, &Vec<Head>)| Some((*chain_id, *heads.last()?));
        self.chains.iter().filter_map(last).collect()
    }

    /// Adds heads that are further than the recorded ones, or, after a loss, wherever they are.
    fn add(&mut self, heads: &Heads, is_after_loss: bool) -> bool {
        let mut is_changed = false;
        for (chain_id, head) in heads {
            let recorded = self.chains.entry(*chain_id).or_default();
            let is_new = recorded.last().is_none_or(|last| last.seq < head.seq || (is_after_loss && last != head));
            if is_new {
                recorded.push(*head);
                recorded.drain(..recorded.len().saturating_sub(HEADS_MAX));
                is_changed = true;
            }
        }
        is_changed
    }

    /// Adds heads that a verification found sound, and writes the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn advance(&mut self, heads: &Heads) -> Result<(), HeadsError> {
        if self.add(heads, false) { self.write() } else { Ok(()) }
    }

    /// Adds heads after a loss was accepted: they may be before the recorded ones.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn resume(&mut self, heads: &Heads) -> Result<(), HeadsError> {
        if self.add(heads, true) { self.write() } else { Ok(()) }
    }

    /// Replaces the file atomically.
    fn write(&self) -> Result<(), HeadsError> {
        let line = |head: &Head| (head.seq, hex::encode(head.hash));
        let chains: BTreeMap<_, Vec<_>> =
            self.chains.iter().map(|(chain_id, heads)| (chain_id, heads.iter().map(line).collect())).collect();
        // Containers that share a folder may have the same process id.
        let temporary = self.path.with_extension(format!("json.{}", Uuid::new_v4()));
        let write = || -> io::Result<()> {
            let text = serde_json::to_string(&chains)?;
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&temporary);
            HeadsError::File(self.path.clone(), error)
        })
    }

    /// Fails if a recorded head is no longer in the database, unless an operator accepted that as a loss.
    ///
    /// # Errors
    /// When a head is gone, or the database fails.
    pub async fn check(&self, db: &mut PgConnection, key: &ChainKey) -> Result<(), HeadsError> {
        match proof::missing(db, key, &self.latest()).await?.first() {
            Some(missing) => {
                let (path, chain_id, seq) = (self.path.clone(), missing.chain_id, missing.seq);
                Err(HeadsError::Gone { path, chain_id, seq })
            }
            None => Ok(()),
        }
    }

    /// What is recorded here and no longer in the database, as losses that an operator would accept, one of each chain.
    ///
    /// # Errors
    /// When nothing recorded of a chain is left in it, or the database fails.
    pub async fn losses(
        &self,
        db: &mut PgConnection,
        key: &ChainKey,
        (reason, by): (&str, &str),
        at: OffsetDateTime,
    ) -> Result<Vec<Loss>, HeadsError> {
        let mut losses = Vec::new();
        let recorded = self.chains.iter().flat_map(|(chain_id, heads)| heads.iter().map(move |head| (chain_id, head)));
        let mut missing = proof::missing(db, key, recorded).await?;
        missing.sort();
        for missing in missing.chunk_by(|one, other| one.chain_id == other.chain_id) {
            let [.., Missing { chain_id, seq: to_seq, .. }] = *missing else { continue };
            let heads = self.chains.get(&chain_id).map(Vec::as_slice).unwrap_or_default();
            let from_seq = match proof::end_before(db, chain_id, to_seq).await? {
                // Nothing took the place of what was lost.
                Some(end) => end + 1,
                // A writer went on in its place: the last recorded head that both histories share.
                None => {
                    let mut shared = None;
                    for head in heads {
                        if proof::is_present(db, chain_id, head).await? {
                            shared = Some(head.seq);
                        }
                    }
                    shared.ok_or(HeadsError::Rewritten(chain_id))? + 1
                }
            };
            let head_hashes = missing.iter().map(|it| it.hash).collect();
            let (reason, by) = (reason.to_owned(), by.to_owned());
            losses.push(Loss { chain_id, from_seq, to_seq, head_hashes, reason, by, at });
        }
        Ok(losses)
    }
}

/// Writes what a verification found sound, with a seal for this purpose: nobody without the key can move it forward.
///
/// # Errors
/// When the file cannot be written.
pub fn write_sealed(path: &Path, heads: &Heads, key: &ChainKey, purpose: &str) -> Result<(), HeadsError> {
    let seal = Head { seq: 0, hash: seal(heads, key, purpose) };
    let chains = heads.iter().chain([(&SEAL, &seal)]).map(|(chain_id, head)| (*chain_id, vec![*head])).collect();
    RecordedHeads { path: path.to_owned(), chains }.write()
}

/// Reads such a file; empty if there is none.
///
/// # Errors
/// When the file cannot be read, or was sealed for another purpose or with none of these keys.
pub fn read_sealed(path: &Path, keys: &Keyring, purpose: &str) -> Result<Heads, HeadsError> {
    let mut heads = RecordedHeads::read(path)?.latest();
    let found = heads.remove(&SEAL);
    let is_by = |key: &ChainKey| found.is_some_and(|it| it.hash == seal(&heads, key, purpose));
    let is_sealed = heads.is_empty() || is_by(keys.present()) || keys.retired().iter().any(is_by);
    if is_sealed { Ok(heads) } else { Err(HeadsError::Unsealed(path.to_owned())) }
}

fn seal(heads: &Heads, key: &ChainKey, purpose: &str) -> Hash {
    let mut digest = Digest::new(b"caudal verified heads 1");
    digest.text(purpose);
    for (chain_id, head) in heads {
        digest.uuid(*chain_id);
        digest.int(head.seq);
        digest.bytes(&head.hash);
    }
    key.seal_digest(digest)
}

/// Compares what is recorded with the database, then adds the current heads.
///
/// # Errors
/// When a recorded head is gone, or the file or the database fails.
async fn record(db: &PgPool, barrier: &Barrier, key: &ChainKey, path: &Path) -> Result<(), HeadsError> {
    let mut recorded = off_threads(path, RecordedHeads::read).await?;
    let view = barrier.begin();
    let mut db = db.acquire().await?;
    recorded.check(&mut db, key).await?;
    let heads = proof::heads(&mut db).await?;
    drop(db);
    // A recorded head must not vanish in a failover.
    barrier.pass(view).await.map_err(sqlx::Error::from)?;
    off_threads(path, move |_| recorded.advance(&heads)).await
}

/// A disk or network that hangs must not hold up what else shares a thread.
async fn off_threads<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce(&Path) -> Result<T, HeadsError> + Send + 'static,
) -> Result<T, HeadsError> {
    let owned = path.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&owned)).await;
    done.unwrap_or_else(|error| Err(HeadsError::File(path.to_owned(), error.into())))
}

/// Records the heads once, in each of these files, as a host does when it stops: what it committed last counts too.
///
/// # Errors
/// When a recorded head is gone, or a file or the database fails.
pub async fn record_last(db: &PgPool, barrier: &Barrier, key: &ChainKey, paths: &[PathBuf]) -> Result<(), HeadsError> {
    for path in paths {
        record(db, barrier, key, path).await?;
    }
    Ok(())
}

/// Records the heads periodically, in each of these files. Ends only when a recorded head is gone. Safe to abort at any
/// time.
pub async fn keep(db: PgPool, barrier: Barrier, key: ChainKey, paths: Vec<PathBuf>, metrics: Metrics) -> HeadsError {
    for folder in paths.iter().filter_map(|path| path.parent()) {
        if let Err(error) = tokio::fs::create_dir_all(folder).await {
            tracing::warn!(%error, folder = %folder.display(), "cannot create the folder of the recorded heads");
        }
    }
    let mut every = tokio::time::interval(WRITE_INTERVAL);
    loop {
        every.tick().await;
        let mut are_recorded = true;
        for path in &paths {
            match record(&db, &barrier, &key, path).await {
                Ok(()) => continue,
                Err(error @ HeadsError::Gone { .. }) => {
                    tracing::error!(%error, "stopping");
                    return error;
                }
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "cannot record the heads of the hash chains");
                }
            }
            are_recorded = false;
        }
        if are_recorded {
            metrics.heads_recorded.set(Clock::system().now().unix_timestamp());
        }
    }
}

fn parse_file(text: &str) -> Option<BTreeMap<Uuid, Vec<Head>>> {
    let stored: BTreeMap<Uuid, Vec<(i64, String)>> = serde_json::from_str(text).ok()?;
    let head = |(seq, hash): (i64, String)| Some(Head { seq, hash: parse(&hash)? });
    stored
        .into_iter()
        .map(|(chain_id, heads)| Some((chain_id, heads.into_iter().map(head).collect::<Option<_>>()?)))
        .collect()
}

fn parse(hex: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    hex::decode_to_slice(hex, &mut hash).ok().map(|()| hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::durability::Durability;
    use crate::db::timeline::Timeline;

    const CHAIN: Uuid = Uuid::from_u128(1);

    fn heads(seq: i64, byte: u8) -> Heads {
        Heads::from([(CHAIN, Head { seq, hash: [byte; 32] })])
    }

    #[test]
    fn a_chain_never_goes_back_and_keeps_its_latest_heads() {
        let folder = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("heads.json");
        let read = || RecordedHeads::read(&file).unwrap();
        assert_eq!(read().latest(), Heads::new());
        read().advance(&heads(7, 0xAB)).unwrap();
        read().advance(&heads(6, 0xCD)).unwrap();
        assert_eq!(read().latest(), heads(7, 0xAB));
        for seq in 8..100 {
            read().advance(&heads(seq, 0xEF)).unwrap();
        }
        assert_eq!((read().latest(), read().chains[&CHAIN].len()), (heads(99, 0xEF), HEADS_MAX));
        // After a loss it goes on from where the database is, and does not forget what was lost.
        read().resume(&heads(50, 0x11)).unwrap();
        assert_eq!(read().latest(), heads(50, 0x11));
        assert!(read().chains[&CHAIN].contains(&heads(99, 0xEF)[&CHAIN]));
        fs::write(&file, "{}x").unwrap();
        assert!(RecordedHeads::read(&file).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_was_verified_is_sealed() {
        let file = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        let key = |byte| ChainKey::new(&[byte; 32]).unwrap();
        let read = |keys: Keyring, purpose| read_sealed(&file, &keys, purpose);
        assert_eq!(read(key(1).into(), "a test").unwrap(), Heads::new());
        write_sealed(&file, &heads(7, 0xAB), &key(1), "a test").unwrap();
        assert_eq!(read(key(1).into(), "a test").unwrap(), heads(7, 0xAB));
        assert_eq!(read(Keyring::new(key(2), vec![key(1)]), "a test").unwrap(), heads(7, 0xAB));
        assert!(matches!(read(key(2).into(), "a test"), Err(HeadsError::Unsealed(_))));
        assert!(read(key(1).into(), "another").is_err());
        let forward = fs::read_to_string(&file).unwrap().replacen("[7,", "[8,", 1);
        fs::write(&file, forward).unwrap();
        assert!(read(key(1).into(), "a test").is_err());
        // Heads that a host records are not sealed.
        fs::remove_file(&file).unwrap();
        RecordedHeads::read(&file).unwrap().advance(&heads(7, 0xAB)).unwrap();
        assert!(read(key(1).into(), "a test").is_err());
        fs::remove_file(&file).unwrap();
    }

    /// Containers have the same process id, and may share a folder.
    #[test]
    fn hosts_that_share_a_file_do_not_disturb_each_other() {
        let file = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        let write =
            |byte| (0..200).for_each(|seq| RecordedHeads::read(&file).unwrap().resume(&heads(seq, byte)).unwrap());
        std::thread::scope(|scope| [1, 2].into_iter().for_each(|byte| drop(scope.spawn(move || write(byte)))));
        fs::remove_file(&file).unwrap();
    }

    #[tokio::test]
    async fn a_file_that_does_not_answer_holds_nothing_else_up() {
        let pipe = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let db = PgPool::connect_lazy("postgres://nobody@127.0.0.1:1/none").unwrap();
        let barrier = Barrier::new(db.clone(), Durability::Local, Timeline::default());
        let key = ChainKey::new(&[7; 32]).unwrap();
        let waited = tokio::time::timeout(Duration::from_millis(50), record(&db, &barrier, &key, &pipe)).await;
        assert!(waited.is_err(), "{waited:?}");
        fs::write(&pipe, "").unwrap();
        fs::remove_file(&pipe).unwrap();
    }
}
