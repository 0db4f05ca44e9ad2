//! The heads of the chains, recorded outside the database so that truncation can be detected.
//!
//! What is recorded is compared with the database before anything is added, and a recorded head that is gone is never
//! replaced. The last heads of each chain are kept, which shows how far a history still matches what was recorded.
//!
//! The files are signed, so that anybody with the ledger's public key can check who wrote one and what for.

mod file;
pub mod recording;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::chain::{ChainKey, Keyring};
use super::store::proof::{self, Head, Missing};
use super::store::{Loss, is_retired};
use crate::sealing::PublicKey;
use crate::sealing::digest::Hash;
use file::Chains;

pub use super::store::proof::Heads;

/// What a host records, and `caudal verify` after it.
const RECORDED: &str = "recorded";

/// Recorded heads of a chain, the latest ones: about ten minutes of a busy host.
const HEADS_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum HeadsError {
    #[error("cannot read or write {0}")]
    File(PathBuf, #[source] io::Error),
    #[error("{0} is not a file written by a host or `caudal verify`, or was altered")]
    Unreadable(PathBuf),
    #[error("cannot compare the recorded heads with the database")]
    Database(#[from] sqlx::Error),
    #[error(
        "{0} was not signed with this ledger's key, so it is another ledger's, or somebody replaced it: put the file of \
         this ledger there, from another host or a backup"
    )]
    Foreign(PathBuf),
    #[error(
        "batch {seq} of chain {chain_id} is in {path} and no longer in the database: DATABASE_URL names \
         another database, or history was shortened or rewritten. No money is moved. Run `caudal verify`; if a failover lost the batch, `caudal accept-loss` records that permanently"
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
    /// `None` if there is no file.
    signer: Option<PublicKey>,
    chains: Chains,
}

impl RecordedHeads {
    /// Empty if there is no file.
    ///
    /// # Errors
    /// When the file cannot be read, is another one, or was altered by somebody without the key that it names.
    pub fn read(path: &Path) -> Result<Self, HeadsError> {
        Self::read_for(path, RECORDED)
    }

    fn read_for(path: &Path, purpose: &str) -> Result<Self, HeadsError> {
        let path = path.to_owned();
        match file::read(&path, purpose) {
            Ok((signer, chains)) => Ok(Self { path, signer, chains }),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(HeadsError::Unreadable(path)),
            Err(error) => Err(HeadsError::File(path, error)),
        }
    }

    /// The public key with which the file's signature was checked.
    pub fn signer(&self) -> Option<PublicKey> {
        self.signer
    }

    /// The hash that a batch had when it was recorded as a head.
    pub fn hash_of(&self, chain_id: Uuid, seq: i64) -> Option<Hash> {
        self.chains.get(&chain_id)?.iter().find(|head| head.seq == seq).map(|head| head.hash)
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
    pub fn advance(&mut self, heads: &Heads, key: &ChainKey) -> Result<(), HeadsError> {
        if self.add(heads, false) { write(&self.path, &self.chains, key, RECORDED) } else { Ok(()) }
    }

    /// Adds heads after a loss was accepted: they may be before the recorded ones.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn resume(&mut self, heads: &Heads, key: &ChainKey) -> Result<(), HeadsError> {
        if self.add(heads, true) { write(&self.path, &self.chains, key, RECORDED) } else { Ok(()) }
    }

    /// Fails unless the file is signed with the ledger's key, or with one that it retired.
    ///
    /// # Errors
    /// When it is not, or the database fails.
    pub async fn check_signer(&self, db: &mut PgConnection, key: &ChainKey) -> Result<(), HeadsError> {
        match self.signer {
            Some(signer) if signer != key.fingerprint() && !is_retired(db, &signer).await? => {
                Err(HeadsError::Foreign(self.path.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Fails if a recorded head is no longer in the database, unless an operator accepted that as a loss.
    ///
    /// # Errors
    /// When a head is gone, somebody else wrote the file, or the database fails.
    pub async fn check(&self, db: &mut PgConnection, key: &ChainKey) -> Result<(), HeadsError> {
        self.check_signer(db, key).await?;
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
        self.check_signer(db, key).await?;
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

/// Writes what a verification found sound, for this purpose alone.
///
/// # Errors
/// When the file cannot be written.
pub fn write_signed(path: &Path, heads: &Heads, key: &ChainKey, purpose: &str) -> Result<(), HeadsError> {
    let chains = heads.iter().map(|(chain_id, head)| (*chain_id, vec![*head])).collect();
    write(path, &chains, key, purpose)
}

fn write(path: &Path, chains: &Chains, key: &ChainKey, purpose: &str) -> Result<(), HeadsError> {
    file::write(path, chains, key, purpose).map_err(|error| HeadsError::File(path.to_owned(), error))
}

/// Reads such a file; empty if there is none.
///
/// # Errors
/// When the file cannot be read, or was signed for another purpose or with none of these keys.
pub fn read_signed(path: &Path, keys: &Keyring, purpose: &str) -> Result<Heads, HeadsError> {
    let found = RecordedHeads::read_for(path, purpose)?;
    let is_known = |signer: PublicKey| signer == keys.present().fingerprint() || keys.find(&signer).is_some();
    if found.signer.is_none_or(is_known) { Ok(found.latest()) } else { Err(HeadsError::Foreign(path.to_owned())) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sealing::is_signed;

    const CHAIN: Uuid = Uuid::from_u128(1);

    fn key(byte: u8) -> ChainKey {
        ChainKey::new(&[byte; 32]).unwrap()
    }

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
        read().advance(&heads(7, 0xAB), &key(1)).unwrap();
        read().advance(&heads(6, 0xCD), &key(1)).unwrap();
        assert_eq!(read().latest(), heads(7, 0xAB));
        for seq in 8..100 {
            read().advance(&heads(seq, 0xEF), &key(1)).unwrap();
        }
        assert_eq!((read().latest(), read().chains[&CHAIN].len()), (heads(99, 0xEF), HEADS_MAX));
        // After a loss it goes on from where the database is, and does not forget what was lost.
        read().resume(&heads(50, 0x11), &key(1)).unwrap();
        assert_eq!(read().latest(), heads(50, 0x11));
        assert!(read().chains[&CHAIN].contains(&heads(99, 0xEF)[&CHAIN]));
        fs::write(&file, "{}x").unwrap();
        assert!(RecordedHeads::read(&file).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_is_signed_by_its_writer_for_its_purpose() {
        let file = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        let read = |keys: Keyring, purpose| read_signed(&file, &keys, purpose);
        assert_eq!(read(key(1).into(), "a test").unwrap(), Heads::new());
        write_signed(&file, &heads(7, 0xAB), &key(1), "a test").unwrap();
        assert_eq!(read(key(1).into(), "a test").unwrap(), heads(7, 0xAB));
        assert_eq!(read(Keyring::new(key(2), vec![key(1)]), "a test").unwrap(), heads(7, 0xAB));
        assert!(matches!(read(key(2).into(), "a test"), Err(HeadsError::Foreign(_))));
        assert!(matches!(read(key(1).into(), "another"), Err(HeadsError::Unreadable(_))));
        assert!(matches!(RecordedHeads::read(&file), Err(HeadsError::Unreadable(_))));
        // Whatever is changed, by whomever signs it again with a key of his own.
        let written = fs::read_to_string(&file).unwrap();
        let other_key = [key(1), key(2)].map(|key| hex::encode(key.fingerprint()));
        for (from, to) in [("[7,", "[8,"), ("abab", "abac"), (&other_key[0], &other_key[1]), ("a test", "a text")] {
            fs::write(&file, written.replacen(from, to, 1)).unwrap();
            assert!(matches!(read(key(1).into(), "a test"), Err(HeadsError::Unreadable(_))), "{from}");
        }
        write_signed(&file, &heads(8, 0xAB), &key(2), "a test").unwrap();
        assert!(matches!(read(key(1).into(), "a test"), Err(HeadsError::Foreign(_))));
        fs::remove_file(&file).unwrap();
    }

    /// The file says all that an auditor needs, in a form that other tools read.
    #[test]
    fn the_public_key_alone_checks_a_file() {
        let file = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        RecordedHeads::read(&file).unwrap().advance(&heads(7, 0xAB), &key(1)).unwrap();
        let written: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let text = |name: &str| written[name].as_str().unwrap();
        let public: PublicKey = hex::decode(text("public_key")).unwrap().try_into().unwrap();
        assert_eq!(public, key(1).fingerprint());
        let signature = hex::decode(text("signature")).unwrap();
        assert!(is_signed(text("signed").as_bytes(), &signature, &public));
        assert!(!is_signed(text("signed").as_bytes(), &signature, &key(2).fingerprint()));
        assert!(text("signed").contains(r#""purpose":"recorded""#), "{}", text("signed"));
        fs::remove_file(&file).unwrap();
    }

    /// Containers have the same process id, and may share a folder.
    #[test]
    fn hosts_that_share_a_file_do_not_disturb_each_other() {
        let file = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        let write = |byte| {
            (0..200).for_each(|seq| RecordedHeads::read(&file).unwrap().resume(&heads(seq, byte), &key(1)).unwrap())
        };
        std::thread::scope(|scope| [1, 2].into_iter().for_each(|byte| drop(scope.spawn(move || write(byte)))));
        fs::remove_file(&file).unwrap();
    }
}
