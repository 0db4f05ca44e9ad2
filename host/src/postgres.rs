//! The embedded default: a private Postgres cluster made from the system's binaries.
//!
//! One folder holds everything. The server listens on a Unix socket that only its own user (and
//! root) can reach, never on TCP. It runs as an unprivileged user, since Postgres refuses root, and
//! ends with this process: on a normal stop because it is told to, after `kill -9` because a
//! watchdog sees the pipe from this process close. Not for production: there, give `DATABASE_URL`.

mod binaries;
mod cluster;
mod process;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use sqlx::postgres::PgConnectOptions;

use binaries::Binaries;
use cluster::Cluster;
use process::Process;

/// Superuser of the cluster and owner of its database; also the database's name.
const NAME: &str = "caudal";

/// How often the server is looked at while it serves.
const WATCH_STEP: Duration = Duration::from_secs(1);

/// A running private server.
pub struct Server {
    cluster: Cluster,
    /// None when the server belongs to another process.
    own: Option<(Process, File)>,
}

impl Server {
    /// Starts the server of a data folder, or finds it running.
    ///
    /// With `exclusive` it has to be ours, so that it lives as long as this process.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub async fn start(data_dir: &Path, bin: Option<&Path>, exclusive: bool) -> Result<Self> {
        fs::create_dir_all(data_dir)
            .with_context(|| format!("cannot create the data folder {}", data_dir.display()))?;
        let data_dir = fs::canonicalize(data_dir)
            .with_context(|| format!("cannot find the data folder {}", data_dir.display()))?;
        let cluster = Cluster::locate(&data_dir)?;
        let Some(lock) = lock(&data_dir)? else {
            if exclusive {
                bail!("another caudal is running in {}: stop it, or choose another --data-dir", data_dir.display());
            }
            cluster.wait_until_ready(|| false).await?;
            return Ok(Self { cluster, own: None });
        };
        // Nobody owns the folder, so a server that still runs there is left over.
        process::stop_left_over(&cluster).await?;
        let binaries = Binaries::find(bin, cluster.version()?)?;
        cluster.create(&binaries)?;
        let mut process = Process::start(&binaries, &cluster)?;
        let ready = cluster.wait_until_ready(|| process.has_ended()).await;
        let server = Self { cluster, own: Some((process, lock)) };
        if let Err(error) = ready {
            server.stop().await?;
            return Err(error);
        }
        server.cluster.create_database().await?;
        Ok(server)
    }

    /// Whether a data folder holds a private cluster.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn exists(data_dir: &Path) -> Result<bool> {
        match fs::canonicalize(data_dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot read the data folder {}", data_dir.display())),
            Ok(data_dir) => Ok(Cluster::locate(&data_dir)?.version()?.is_some()),
        }
    }

    /// How to connect.
    pub fn options(&self) -> PgConnectOptions {
        self.cluster.options(NAME)
    }

    /// How to connect, as a `DATABASE_URL` that libpq's programs understand too.
    pub fn url(&self) -> String {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte);
        let encode = |byte: &u8| if is_plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
        let socket: String = self.cluster.socket.as_os_str().as_encoded_bytes().iter().map(encode).collect();
        format!("postgres:///{NAME}?user={NAME}&host={socket}")
    }

    /// Waits until the server ends by itself, and gives the reason that its log has.
    pub async fn lost(&self) -> anyhow::Error {
        while process::running_server(&self.cluster.data).is_some() {
            tokio::time::sleep(WATCH_STEP).await;
        }
        anyhow!("the private Postgres ended by itself; its log ends: {}", log_tail(&self.cluster.log))
    }

    /// Stops the server, if it is ours; the data stays.
    ///
    /// # Errors
    /// When it does not stop.
    pub async fn stop(self) -> Result<()> {
        match self.own {
            Some((process, _lock)) => process.stop().await,
            None => Ok(()),
        }
    }
}

/// The data folder's lock; none when another process has it.
fn lock(data_dir: &Path) -> Result<Option<File>> {
    let path = data_dir.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write to {}", data_dir.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

/// The log's last lines, for a message that says why the server did not start.
fn log_tail(path: &PathBuf) -> String {
    let log = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = log.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}
