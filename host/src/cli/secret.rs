//! Secrets: configured, read from files, or the ledger key of the data folder.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::auth::claims::TokenConfig;
use crate::auth::token::SECRET_BYTES_MIN;
use crate::cli::database::absolute;
use crate::config::file::is_private;
use crate::config::{Common, Jwt};
use crate::ledger::chain::ChainKey;

/// File of the key of the ledger's hashes.
const LEDGER: &str = "ledger-key";

/// What to do if the data folder lacks a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Generate,
    Refuse,
}

impl Missing {
    /// For commands other than `serve`: a new secret would match no service.
    pub(super) fn of_command(common: &Common) -> Self {
        if common.create { Self::Generate } else { Self::Refuse }
    }
}

/// The key of the ledger's hashes, and its bytes: the configured one, or the data folder's.
pub(super) fn ledger_key(common: &Common, missing: Missing) -> Result<(ChainKey, Vec<u8>)> {
    let key = match (&common.ledger_key, &common.ledger_key_file) {
        (Some(_), Some(_)) => bail!("set either CAUDAL_LEDGER_KEY or CAUDAL_LEDGER_KEY_FILE"),
        (Some(key), None) => key.clone().into_bytes(),
        (None, Some(path)) => return ledger_key_file(path),
        (None, None) => stored(common, missing)?,
    };
    let chain_key = ChainKey::new(&key)
        .context("CAUDAL_LEDGER_KEY is too short: use at least 32 bytes, for example from `openssl rand -hex 32`")?;
    Ok((chain_key, key))
}

/// A ledger key in a file of its own.
pub(super) fn ledger_key_file(path: &Path) -> Result<(ChainKey, Vec<u8>)> {
    let key = from_file(path)?;
    Ok((ChainKey::new(&key)?, key))
}

/// A secret in a file of its own. Editors and shells end files with a line end, which is not part of it.
pub(super) fn from_file(path: &Path) -> Result<Vec<u8>> {
    let mut secret = read_private(path)?;
    secret.truncate(secret.trim_ascii_end().len());
    if secret.len() < SECRET_BYTES_MIN {
        bail!(
            "{} is too short: use at least {SECRET_BYTES_MIN} bytes, for example from `openssl rand -hex 32`",
            path.display()
        );
    }
    Ok(secret)
}

/// Puts a new ledger key into the data folder, if the old one is there rather than configured; returns where the old
/// one is kept.
pub(super) fn replace_ledger_key(common: &Common, new: &[u8], old_name: &str) -> Result<Option<PathBuf>> {
    if common.ledger_key.is_some() || common.ledger_key_file.is_some() {
        return Ok(None);
    }
    let path = absolute(common).join(LEDGER);
    let kept = path.with_file_name(format!("{LEDGER}.retired-{old_name}"));
    let next = path.with_file_name(format!("{LEDGER}.new"));
    let replace = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
        file.write_all(new)?;
        file.sync_all()?;
        fs::hard_link(&path, &kept)?;
        fs::rename(&next, &path)
    };
    replace().with_context(|| {
        format!(
            "the key was replaced in the ledger; now put the new one into {} yourself and keep the old",
            path.display()
        )
    })?;
    Ok(Some(kept))
}

/// Refuses a secret that others can read.
pub(super) fn check_private(path: &Path) -> Result<()> {
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !is_private(&metadata) {
        bail!("{path} is readable by others: run `chmod 600 {path}`", path = path.display());
    }
    Ok(())
}

pub(super) fn read_private(path: &Path) -> Result<Vec<u8>> {
    check_private(path)?;
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads or generates the ledger key in the data folder.
fn stored(common: &Common, missing: Missing) -> Result<Vec<u8>> {
    let data_dir = absolute(common);
    let path = data_dir.join(LEDGER);
    if missing == Missing::Refuse && !path.exists() {
        bail!(
            "there is no {LEDGER} in {}: set --data-dir (CAUDAL_DATA_DIR) to the data folder of the service, or \
             CAUDAL_LEDGER_KEY to its value there",
            data_dir.display()
        );
    }
    fs::create_dir_all(&data_dir).with_context(|| format!("cannot create the data folder {}", data_dir.display()))?;
    let mut random = [0; SECRET_BYTES_MIN];
    getrandom::fill(&mut random).context("cannot get random bytes from the system")?;
    let secret = hex::encode(random);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            file.write_all(secret.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
            return Ok(secret.into_bytes());
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(|| format!("cannot create {}", path.display())),
    }
    let secret = read_private(&path)?;
    if secret.len() < SECRET_BYTES_MIN {
        bail!("{} has fewer than {SECRET_BYTES_MIN} bytes: restore it, or set CAUDAL_LEDGER_KEY", path.display());
    }
    Ok(secret)
}

pub(super) fn token_config(jwt: &Jwt) -> TokenConfig {
    TokenConfig { user_claim: jwt.user_claim.clone(), audience: jwt.audience.clone(), issuer: jwt.issuer.clone() }
}
