//! The OpenID provider whose access tokens count: reads its keys, and reads them again when they change.
//!
//! Keys that were read once count during an outage of the provider, but not for ever: a key that it withdrew must not
//! be valid for as long as somebody keeps the provider from being asked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use arc_swap::ArcSwapOption;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use super::keys::KeySet;
use crate::client::{Client, Transport};

/// How often keys are read: how long a withdrawn key counts.
const READ_EVERY: Duration = Duration::from_secs(5 * 60);

/// Pause between two reads, at least, however many tokens name an unknown key: anyone can make such tokens.
const READ_EVERY_MIN: Duration = Duration::from_secs(1);

/// Longest pause after failed reads; the first is [`READ_EVERY_MIN`], and each is twice the one before.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// How long keys count without being read again. Longer than an outage that a bank tolerates of its login.
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest wait of a request for keys: the shortest pause and a slow reply.
const WAIT_MAX: Duration = Duration::from_secs(4);

/// Requests that wait for keys; more are refused, so that tokens with invented key ids cannot hold all of a listener's
/// 4,096 connections. Twice as many as one address may have, so that nobody takes the places of those with a new key.
const WAITERS_MAX: usize = 2_048;

/// For one reply of the provider.
const REPLY_TIMEOUT: Duration = Duration::from_secs(3);

/// Longest file of keys, in bytes; as long as a reply may be.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Where a provider's keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// At the URL that the issuer's configuration names (OpenID Connect Discovery).
    Discovery {
        issuer: String,
    },
    Url(String),
    /// Read again like a URL, so a file may be replaced while the host runs.
    File(PathBuf),
}

/// Where people sign in, as the provider's configuration says.
#[derive(Debug, Clone, Deserialize)]
pub struct Endpoints {
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub end_session_endpoint: Option<String>,
}

/// The provider's keys are not known: none were read, or the ones that were are too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeysUnknown;

pub struct Provider {
    source: Source,
    client: Option<Client>,
    published: ArcSwapOption<Published>,
    progress: watch::Sender<Progress>,
    /// A token named an unknown key.
    asked: Notify,
    waiters: Semaphore,
}

/// What a provider published.
pub(super) struct Published {
    pub(super) keys: KeySet,
    endpoints: Option<Endpoints>,
    /// Tells sets of keys apart.
    pub(super) digest: [u8; 32],
    read_at: Instant,
}

#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    started: u64,
    finished: u64,
    /// The last read failed.
    is_failing: bool,
}

#[derive(Deserialize)]
struct Configuration {
    issuer: String,
    jwks_uri: String,
    #[serde(flatten)]
    endpoints: Option<Endpoints>,
}

impl Provider {
    /// Reads nothing yet.
    ///
    /// # Errors
    /// When a URL is neither `https` nor on this machine, or the root certificates cannot be read.
    pub fn new(source: Source) -> Result<Self> {
        let client = match &source {
            Source::Discovery { issuer: url } | Source::Url(url) => Some(Client::new(transport(url)?, REPLY_TIMEOUT)?),
            Source::File(_) => None,
        };
        Ok(Self {
            source,
            client,
            published: ArcSwapOption::empty(),
            progress: watch::Sender::default(),
            asked: Notify::new(),
            waiters: Semaphore::new(WAITERS_MAX),
        })
    }

    /// Keeps the keys up to date until it is aborted.
    pub async fn run(self: Arc<Self>) {
        let mut pause = READ_EVERY_MIN;
        loop {
            self.progress.send_modify(|progress| progress.started += 1);
            let read = self.read().await;
            let is_failing = read.is_err();
            match read {
                Ok(published) => self.published.store(Some(Arc::new(published))),
                Err(error) => tracing::error!(
                    error = &*error as &dyn std::error::Error,
                    "cannot read the keys of access tokens; the last ones count for a day"
                ),
            }
            self.progress.send_modify(|progress| {
                progress.finished = progress.started;
                progress.is_failing = is_failing;
            });
            if is_failing {
                sleep(pause).await;
                pause = (pause * 2).min(RETRY_AFTER_MAX);
            } else {
                pause = READ_EVERY_MIN;
                sleep(READ_EVERY_MIN).await;
                // Reads again when asked, or after `READ_EVERY` at the latest.
                let _ = timeout(READ_EVERY, self.asked.notified()).await;
            }
        }
    }

    /// Reads the keys once, and keeps none.
    ///
    /// # Errors
    /// When the provider cannot be reached, or what it publishes is not usable.
    pub async fn check(&self) -> Result<()> {
        self.read().await.map(drop)
    }

    /// What was read last, unless that is too long ago.
    pub(super) fn published(&self) -> Option<Arc<Published>> {
        self.published.load_full().filter(|published| published.read_at.elapsed() < AGE_MAX)
    }

    /// Where people sign in, once the provider's configuration was read.
    pub fn endpoints(&self) -> Option<Endpoints> {
        self.published()?.endpoints.clone()
    }

    /// Waits for keys that are read from now on, since a token named one that is unknown.
    pub(super) async fn read_again(&self) -> Result<(), KeysUnknown> {
        let mut progress = self.progress.subscribe();
        let now = *progress.borrow_and_update();
        if now.is_failing {
            return Err(KeysUnknown);
        }
        let _waiter = self.waiters.try_acquire().map_err(|_| KeysUnknown)?;
        self.ask();
        let later = timeout(WAIT_MAX, progress.wait_for(|progress| progress.finished > now.started)).await;
        match later {
            Ok(Ok(progress)) if !progress.is_failing => Ok(()),
            _ => Err(KeysUnknown),
        }
    }

    /// Has the keys read soon.
    pub(super) fn ask(&self) {
        self.asked.notify_one();
    }

    async fn read(&self) -> Result<Published> {
        let (json, endpoints) = match &self.source {
            Source::File(path) => {
                let file =
                    tokio::fs::File::open(path).await.with_context(|| format!("cannot read {}", path.display()))?;
                let mut json = Vec::new();
                file.take(FILE_BYTES_MAX + 1).read_to_end(&mut json).await?;
                ensure!(json.len() as u64 <= FILE_BYTES_MAX, "{} has more than {FILE_BYTES_MAX} bytes", path.display());
                (json.into(), None)
            }
            Source::Url(url) => (self.get(url).await?, None),
            Source::Discovery { issuer } => {
                let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
                let configuration: Configuration =
                    serde_json::from_slice(&self.get(&url).await?).context("not the configuration of a provider")?;
                if configuration.issuer != *issuer {
                    bail!("the provider at {issuer} calls itself {}", configuration.issuer);
                }
                // A configuration must not get this host to ask others without TLS.
                if transport(issuer)? == Transport::Tls {
                    ensure!(transport(&configuration.jwks_uri)? == Transport::Tls, "the keys are not served with TLS");
                }
                (self.get(&configuration.jwks_uri).await?, configuration.endpoints)
            }
        };
        let digest = Sha256::digest(&json).into();
        Ok(Published { keys: KeySet::parse(&json)?, endpoints, digest, read_at: Instant::now() })
    }

    async fn get(&self, url: &str) -> Result<Bytes> {
        let client = self.client.as_ref().context("a file has no client")?;
        let request = Request::get(url).body(Full::default())?;
        let reply = client.exchange(request).await.with_context(|| format!("cannot get {url}"))?;
        ensure!(reply.status == StatusCode::OK, "{url} answers with status {}", reply.status);
        Ok(reply.body)
    }
}

fn transport(url: &str) -> Result<Transport> {
    Transport::of(url).with_context(|| format!("{url} is neither an https URL nor a http URL of this machine"))
}
