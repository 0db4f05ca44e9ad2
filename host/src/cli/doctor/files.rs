//! What is checked of keys, certificates and recorded heads.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use nix::unistd::{AccessFlags, Uid, access};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::finding::{Finding, within};
use super::machine::existing;
use crate::cli::secret::{self, Missing};
use crate::cli::{ledger, listeners, serve};
use crate::clock::timestamp;
use crate::config::{Common, Serve};
use crate::http::server::tls::Tls;
use crate::ledger::chain::ChainKey;

/// Certificates are commonly renewed thirty days before they expire: by then that has failed for a week or more.
const EXPIRY_NEAR: Duration = Duration::days(21);

const NEW_KEY: &str =
    "set it to a file that this user can read; `(umask 077; openssl rand -hex 32 > FILE)` makes a new one";

const STP_KEY: &str = "set it to the private key, as PEM, whose public key STP has";

/// Where systemd keeps a unit's credentials.
const CREDENTIALS: &str = "/run/credentials";

type Read = fn(&Path) -> Result<Vec<u8>>;

/// Checks the files of keys, and reads the ledger's.
pub(super) fn keys(common: &Common, serve: &Serve) -> (Vec<Finding>, Option<ChainKey>) {
    let is_configured = common.ledger_key.is_some() || common.ledger_key_file.is_some();
    let (key, finding) = match secret::ledger_key(common, Missing::Refuse) {
        Ok((key, _)) if is_configured || serve.sandbox => (Some(key), Finding::ok("ledger key", "it is private")),
        Ok((key, _)) => {
            let seen = "it is the one that `serve` generated in the data folder, where no other host has it";
            let fix =
                "move it to a file of its own, keep a copy elsewhere, and set CAUDAL_LEDGER_KEY_FILE on every host";
            (Some(key), Finding::warn("ledger key", seen, fix))
        }
        Err(_) if serve.sandbox && !is_configured => (None, Finding::skip("ledger key", "the sandbox generates one")),
        Err(error) => (None, Finding::of("ledger key", Err(error), NEW_KEY)),
    };
    let mut findings = vec![finding];
    let others: [(&'static str, &Option<PathBuf>, Read, &str); 3] = [
        ("acknowledgment key", &serve.acknowledgment_key_file, secret::from_file, NEW_KEY),
        ("cache key", &serve.cache_key_file, secret::from_file, NEW_KEY),
        ("STP key", &serve.rail.stp_key_file, secret::read_private, STP_KEY),
    ];
    for (name, path, read, missing) in others {
        let Some(path) = path else { continue };
        let is_later = path.starts_with(CREDENTIALS) && !path.exists();
        let fix = if is_later { "start the service, whose credentials exist while it runs" } else { missing };
        findings.push(Finding::of(name, read(path).map(|_| format!("{} is private", path.display())), fix));
    }
    if serve.model_keys.is_some() {
        let read = serve::model_keys(serve).map(|_| "they can be read".to_owned());
        findings.push(Finding::of("model keys", read, "set --model-keys to a file of public keys, as PEM"));
    }
    let tls = &serve.tls;
    let files = [&common.ledger_key_file, &tls.ledger_tls_key, &tls.assist_tls_key].into_iter();
    findings.extend(files.chain(others.map(|(_, path, ..)| path)).flatten().filter_map(|path| foreign_owner(path)));
    (findings, key)
}

/// The owner of a file can change its mode. When root runs this, that may be the service's user.
fn foreign_owner(path: &Path) -> Option<Finding> {
    let (owner, user) = (Uid::from_raw(fs::metadata(path).ok()?.uid()), Uid::effective());
    if user.is_root() || owner.is_root() || owner == user {
        return None;
    }
    let path = path.display();
    let seen = format!("{path} belongs to user {owner}, who can read and replace it");
    Some(Finding::warn("key owner", seen, format!("run `chown {user} {path}` as root")))
}

pub(super) fn certificates(serve: &Serve, now: OffsetDateTime) -> Vec<Finding> {
    let tls = &serve.tls;
    let names: Vec<_> = serve.assist_hosts.iter().map(String::as_str).collect();
    let ledger = listeners::files(&tls.ledger_tls_cert, &tls.ledger_tls_key, &None);
    let assist = listeners::files(&tls.assist_tls_cert, &tls.assist_tls_key, &tls.assist_client_ca);
    vec![
        certificate("ledger certificate", "ledger", (ledger, &[]), now),
        certificate("assist certificate", "assist", (assist, &names), now),
    ]
}

fn certificate(
    name: &'static str,
    flag: &str,
    (tls, names): (Result<Option<Tls>>, &[&str]),
    now: OffsetDateTime,
) -> Finding {
    let files = format!("set --{flag}-tls-cert to the certificate and --{flag}-tls-key to its own private key");
    let tls = match tls {
        Ok(Some(tls)) => tls,
        Ok(None) => return Finding::skip(name, "none is set"),
        Err(error) => return Finding::of(name, Err(error), &files),
    };
    let read = tls.expires_at().and_then(|expires_at| Ok((expires_at, tls.lacking(names)?)));
    let (expires_at, lacking) = match read {
        Ok(read) => read,
        Err(error) => return Finding::fail(name, format!("{error:#}"), files),
    };
    let renew = format!("renew the file of --{flag}-tls-cert; hosts read it again within seconds");
    let until = timestamp(expires_at);
    if expires_at <= now {
        Finding::fail(name, format!("it expired at {until}"), renew)
    } else if !lacking.is_empty() {
        let lacking = lacking.join(", ");
        let fix = "order one with these names (subjectAltName), or correct --assist-host, which takes no port";
        Finding::fail(name, format!("it is not for {lacking}"), fix)
    } else if expires_at - now < EXPIRY_NEAR {
        Finding::warn(name, format!("it expires at {until}"), renew)
    } else {
        Finding::ok(name, format!("it is valid until {until}"))
    }
}

/// Each file of recorded heads, compared with the database, and where it is.
pub(super) async fn heads(common: &Common, serve: &Serve, pool: &PgPool, key: Option<&ChainKey>) -> Vec<Finding> {
    let Some(key) = key else { return vec![Finding::skip("recorded heads", "the ledger key cannot be read")] };
    let own = ledger::heads_path(&common.data_dir);
    let mut findings = Vec::new();
    for path in [&own].into_iter().chain(&serve.heads_copy) {
        let compared = within(ledger::check(pool, key, std::slice::from_ref(path))).await;
        let seen = compared.map(|()| format!("the database has what {} recorded", path.display()));
        let otherwise = "restore the file of this ledger from another host, or from a backup";
        findings.push(Finding::of("recorded heads", seen, otherwise));
    }
    if serve.sandbox {
        return findings;
    }
    if serve.heads_copy.is_empty() {
        let fix = "set --heads-copy (CAUDAL_HEADS_COPY) to a file on another machine's disk";
        findings.push(Finding::warn("copy of heads", "heads are recorded in the data folder only", fix));
    }
    findings.extend(serve.heads_copy.iter().map(|path| copy(path, &own)));
    findings
}

fn copy(path: &Path, own: &Path) -> Finding {
    let (name, shown) = ("copy of heads", path.display());
    let Some(folder) = path.parent().filter(|it| it.is_dir() || it.as_os_str().is_empty()) else {
        return Finding::fail(name, format!("{shown} is in no folder"), "mount its disk, or correct --heads-copy");
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if let Err(error) = access(folder, AccessFlags::W_OK) {
        let seen = format!("{} cannot be written: {error}", folder.display());
        return Finding::fail(name, seen, "make the folder the service's own with `chown`, or mount it writable");
    }
    match (device(folder), device(own)) {
        (Ok(one), Ok(other)) if one == other => {
            let fix = "set --heads-copy (CAUDAL_HEADS_COPY) to a file on another disk, best on another machine's";
            Finding::warn(name, format!("{shown} is on the same file system as the data folder"), fix)
        }
        (Ok(_), Ok(_)) => Finding::ok(name, format!("{shown} is on another file system")),
        (Err(error), _) | (_, Err(error)) => Finding::fail(name, format!("{error:#}"), "correct --heads-copy"),
    }
}

/// On which file system a path is, or will be.
fn device(path: &Path) -> Result<u64> {
    let path = std::path::absolute(path).with_context(|| format!("{} is no path", path.display()))?;
    let place = existing(&path).with_context(|| format!("{} is nowhere", path.display()))?;
    Ok(fs::metadata(place).with_context(|| format!("cannot read {}", place.display()))?.dev())
}
