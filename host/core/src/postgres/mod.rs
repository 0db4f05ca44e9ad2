//! The default database: a private Postgres cluster, run with the system's binaries. In production, set `DATABASE_URL`.
//!
//! One folder holds everything. The server listens on a Unix socket that only its own user and root can reach, never on
//! TCP. It runs as an unprivileged user, since Postgres refuses to run as root, and it never outlives this process: a
//! normal exit stops it, and after `kill -9` a watchdog does, when the pipe from this process closes.

mod binaries;
mod cluster;
mod process;

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use sqlx::postgres::PgConnectOptions;

use binaries::Binaries;
use cluster::{Cluster, NAME};
use process::Process;

/// How often [`Server::lost`] checks the server.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// A running private server.
pub struct Server {
    cluster: Cluster,
    /// The server's process and the lock on the data folder; `None` if the server belongs to another process.
    own: Option<(Process, File)>,
}

impl Server {
    /// Starts the server of a data folder, or uses the running one. With `exclusive` it must belong to this
    /// process, and lives as long as it.
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
        // This process holds the lock, so a server that is still running is an orphan.
        process::stop_orphan(&cluster).await?;
        let binaries = Binaries::find(bin, cluster.version()?)?;
        cluster.create(&binaries)?;
        let mut process = Process::start(&binaries, &cluster)?;
        let ready = cluster.wait_until_ready(|| process.has_exited()).await;
        let server = Self { cluster, own: Some((process, lock)) };
        if let Err(error) = ready {
            server.stop().await?;
            return Err(error);
        }
        server.cluster.create_database().await?;
        Ok(server)
    }

    /// Whether a data folder holds a private cluster.
    pub fn exists(data_dir: &Path) -> Result<bool> {
        match fs::canonicalize(data_dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot read the data folder {}", data_dir.display())),
            Ok(data_dir) => Ok(Cluster::locate(&data_dir)?.version()?.is_some()),
        }
    }

    pub fn options(&self) -> PgConnectOptions {
        self.cluster.options(NAME)
    }

    /// A `DATABASE_URL`, which libpq programs accept too.
    pub fn url(&self) -> String {
        let is_unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte);
        let encode =
            |byte: &u8| if is_unreserved(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
        let socket: String = self.cluster.socket.as_os_str().as_encoded_bytes().iter().map(encode).collect();
        format!("postgres:///{NAME}?user={NAME}&host={socket}")
    }

    /// Waits until the server exits unexpectedly and returns an error with the end of its log.
    pub async fn lost(&self) -> anyhow::Error {
        while process::running_server(&self.cluster.data).is_some() {
            tokio::time::sleep(WATCH_EVERY).await;
        }
        anyhow!("the private Postgres exited unexpectedly; its log ends: {}", self.cluster.log_tail())
    }

    /// Stops the server if it belongs to this process.
    pub async fn stop(self) -> Result<()> {
        match self.own {
            Some((process, _lock)) => process.stop().await,
            None => Ok(()),
        }
    }
}

/// `None` if another process has the lock.
fn lock(data_dir: &Path) -> Result<Option<File>> {
    let path = data_dir.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write to {}", data_dir.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}
