//! TLS of a listener, with certificates that are replaced while it serves.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use arc_swap::ArcSwap;
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{CertificateError, RootCertStore, ServerConfig};
use time::OffsetDateTime;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Longest time for a handshake: a few round trips, on a slow telephone connection a second each.
pub const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);

/// How often the files are compared with what is in use.
pub const RELOAD_EVERY: Duration = Duration::from_secs(10);

/// Largest file. A chain of three certificates has five kilobytes, and a few dozen authorities a hundred.
const FILE_BYTES_MAX: u64 = 1 << 20;

const MALFORMED: &str = "a certificate is malformed";

/// What the server speaks (ALPN).
const PROTOCOL: &[u8] = b"http/1.1";

/// Where a listener's certificate comes from.
#[derive(Debug, Clone)]
pub struct Files {
    /// The server's certificate and those between it and its authority, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as unencrypted PEM.
    pub key: PathBuf,
    /// Authorities of clients' certificates, as PEM; with these, a client without such a certificate cannot connect.
    pub clients: Option<PathBuf>,
}

/// The contents of [`Files`].
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    clients: Option<Vec<u8>>,
}

/// What a listener presents. Clones share it.
#[derive(Clone)]
pub struct Tls {
    files: Arc<Files>,
    config: Arc<ArcSwap<ServerConfig>>,
    opened: Arc<Contents>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// If one cannot be read, or they do not belong together.
    pub fn open(files: Files) -> Result<Self> {
        let contents = Contents::read(&files)?;
        let config = contents.config().with_context(|| format!("cannot use {}", files.certificate.display()))?;
        let config = Arc::new(ArcSwap::from_pointee(config));
        Ok(Self { files: Arc::new(files), config, opened: Arc::new(contents) })
    }

    /// When the first of the certificates that are presented expires.
    ///
    /// # Errors
    /// If one is malformed.
    pub fn expires_at(&self) -> Result<OffsetDateTime> {
        // A verification looks at the times before anything else, and by then everything has expired.
        let end = UnixTime::since_unix_epoch(Duration::MAX);
        let mut first = u64::MAX;
        for certificate in certificates(&self.opened.certificate)? {
            let parsed = ParsedCertificate::try_from(&certificate).context(MALFORMED)?;
            let verified = verify_server_cert_signed_by_trust_anchor(&parsed, &RootCertStore::empty(), &[], end, &[]);
            match verified {
                Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
                    first = first.min(not_after.as_secs());
                }
                _ => bail!(MALFORMED),
            }
        }
        let first = i64::try_from(first).context(MALFORMED)?;
        OffsetDateTime::from_unix_timestamp(first).context(MALFORMED)
    }

    /// Which of these names the listener's own certificate is not for.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn lacking<'a>(&self, names: &[&'a str]) -> Result<Vec<&'a str>> {
        let presented = certificates(&self.opened.certificate)?;
        let own = ParsedCertificate::try_from(presented.first().context(MALFORMED)?).context(MALFORMED)?;
        let has = |name: &str| ServerName::try_from(name).is_ok_and(|name| verify_server_name(&own, &name).is_ok());
        Ok(names.iter().copied().filter(|name| !has(name)).collect())
    }

    /// Takes over what changes in the files. What cannot be used is logged, once, and what was there before stays in
    /// use.
    pub async fn follow(self, every: Duration) {
        let mut known = Arc::clone(&self.opened);
        // Files are replaced one after the other, so for a moment they may not belong together.
        let mut suspect = None;
        loop {
            tokio::time::sleep(every).await;
            let path = self.files.certificate.display();
            let contents = match Contents::read(&self.files) {
                Ok(contents) if contents == *known => continue,
                Ok(contents) => Arc::new(contents),
                Err(error) => {
                    tracing::error!(
                        error = format!("{error:#}"),
                        "cannot read the certificate files: the present certificate stays in use"
                    );
                    continue;
                }
            };
            match contents.config() {
                Ok(config) => {
                    self.config.store(Arc::new(config));
                    known = contents;
                    tracing::info!(%path, "serving with the new certificate");
                }
                Err(_) if suspect.as_ref() != Some(&contents) => suspect = Some(contents),
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(%path, error, "the new certificate is unusable: the one before stays in use");
                    known = contents;
                }
            }
        }
    }

    /// Completes a client's handshake.
    ///
    /// # Errors
    /// If the client does not, or takes too long.
    pub(super) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> io::Result<TlsStream<S>> {
        let acceptor = TlsAcceptor::from(self.config.load_full());
        timeout(HANDSHAKE_TIME_MAX, acceptor.accept(stream)).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Contents {
    fn read(files: &Files) -> Result<Self> {
        let read = |path: &PathBuf| {
            let size = std::fs::metadata(path).map(|file| file.len());
            if size.as_ref().is_ok_and(|size| *size > FILE_BYTES_MAX) {
                bail!("{} is larger than a certificate: it has more than {FILE_BYTES_MAX} bytes", path.display());
            }
            size.and_then(|_| std::fs::read(path)).with_context(|| format!("cannot read {}", path.display()))
        };
        Ok(Self {
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
            clients: files.clients.as_ref().map(read).transpose()?,
        })
    }

    fn config(&self) -> Result<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]).context("cannot speak TLS 1.2 and 1.3")?;
        let builder = match &self.clients {
            None => builder.with_no_client_auth(),
            Some(authorities) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(authorities).context("cannot read the clients' authorities")? {
                    roots.add(authority).context("an authority of clients is not a certificate")?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().context("cannot verify clients")?)
            }
        };
        let key = PrivateKeyDer::from_pem_slice(&self.key).context("the key is not an unencrypted PEM file")?;
        let mut config = builder
            .with_single_cert(certificates(&self.certificate)?, key)
            .context("the certificate and the key do not belong together")?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(config)
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().context("malformed PEM")?;
    if found.is_empty() {
        bail!("there is no certificate in the file");
    }
    Ok(found)
}
