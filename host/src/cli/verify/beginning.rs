//! Where a verification begins: at the beginning, where one was interrupted, or after what is trusted.

use std::path::Path;

use anyhow::{Result, bail};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Since, Verify};
use crate::ledger::chain::Keyring;
use crate::ledger::heads::{Heads, RecordedHeads, read_signed};
use crate::ledger::store::proof::{self, Proof, Scope};

/// Name of the file with the heads that the last sound full verification found. It is kept beside the recorded
/// heads, which the hosts advance; these change only with the next such verification.
pub(super) const PROVEN: &str = "proven.json";

/// Name of the file with the heads up to which a full verification that has not ended found everything sound.
pub(super) const CHECKPOINT: &str = "checkpoint.json";

pub(super) enum Beginning {
    Whole,
    Interrupted(Heads),
    Heads { name: String, heads: Heads },
    Time(OffsetDateTime),
}

impl Beginning {
    /// `path` is that of the recorded heads.
    pub(super) fn new(path: &Path, recorded: &RecordedHeads, keys: &Keyring, verify: &Verify) -> Result<Self> {
        let sealed = |name| -> Result<(String, Heads)> {
            let path = path.with_extension(name);
            Ok((path.display().to_string(), read_signed(&path, keys, name)?))
        };
        Ok(match verify.since {
            None if verify.resume => match sealed(CHECKPOINT)? {
                (path, heads) if heads.is_empty() => {
                    bail!("{path} records no verification that was interrupted: run `caudal verify` without --resume")
                }
                (_, heads) => Self::Interrupted(heads),
            },
            None => Self::Whole,
            Some(Since::Last) => match sealed(PROVEN)? {
                (path, heads) if heads.is_empty() => {
                    bail!("{path} records no full verification to start from: run `caudal verify` without --since")
                }
                (path, heads) => Self::Heads { name: format!("the last full verification ({path})"), heads },
            },
            Some(Since::Heads) => {
                let heads = recorded.latest();
                if heads.is_empty() {
                    bail!("there are no heads in {}: name the file of recorded heads with --heads", path.display());
                }
                Self::Heads { name: format!("the heads in {}", path.display()), heads }
            }
            Some(Since::Ago(time)) => Self::Time(Clock::system().now() - time),
            Some(Since::At(time)) => Self::Time(time),
        })
    }

    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole | Self::Interrupted(_))
    }

    pub(super) async fn scope(&self, db: &mut PgConnection) -> Result<Scope, sqlx::Error> {
        Ok(match self {
            Self::Whole => Scope::whole(),
            Self::Interrupted(heads) => Scope { after: heads.clone(), ..Scope::whole() },
            Self::Heads { heads, .. } => Scope::since(heads.clone()),
            Self::Time(time) => Scope::since(proof::heads_before(db, *time).await?),
        })
    }

    /// What is trusted; `None` if nothing is.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Self::Whole | Self::Interrupted(_) => None,
            Self::Heads { name, .. } => Some(name.clone()),
            Self::Time(time) => Some(time.to_string()),
        }
    }

    pub(super) fn print_unchecked(&self, proof: &Proof) -> Result<()> {
        let (batches, records) = (proof.checked.batches_before, proof.checked.records_before);
        match self {
            Self::Whole => Ok(()),
            Self::Interrupted(_) => print(&format!(
                "  note    resumed: the {batches} batches and {records} audit records before were sound then"
            )),
            _ => print(&format!(
                "  note    NOT checked: the {batches} batches and {records} audit records up to that point, their rows, \
                 what payees were sent earlier, and rows that no batch or audit record since then names"
            )),
        }
    }
}
