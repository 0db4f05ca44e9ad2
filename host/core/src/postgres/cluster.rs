//! The cluster's folder: its location, its owner and its socket.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use nix::unistd::{Uid, User};
use sha2::{Digest as _, Sha256};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use super::binaries::Binaries;

/// Name of the superuser and of the database.
pub(super) const NAME: &str = "caudal";

/// User that runs the server if this process is root. Postgres packages create it.
const SERVER_USER: &str = "postgres";

/// In bytes; the limit of a Unix socket's path is 103 to 107, depending on the system.
const SOCKET_PATH_MAX: usize = 100;

const SOCKET: &str = ".s.PGSQL.5432";

/// All that the server's programs need: where the system's own are, and a locale that every system has.
pub(super) const ENVIRONMENT: [(&str, &str); 2] = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C")];

/// Longest wait until the server accepts connections, including crash recovery.
const START_TIME_MAX: Duration = Duration::from_secs(60);

pub(super) struct Cluster {
    pub(super) data: PathBuf,
    /// Folder of the socket.
    pub(super) socket: PathBuf,
    pub(super) log: PathBuf,
    /// User and group to run as, if this process is root.
    pub(super) user: Option<(u32, u32)>,
}

impl Cluster {
    /// Chooses folders that the server's user can reach and where the socket's path is short enough, within the data
    /// folder if possible.
    pub(super) fn locate(data_dir: &Path) -> Result<Self> {
        let user = server_user()?;
        let preferred = data_dir.join("postgres");
        let name = hex::encode(&Sha256::digest(data_dir.as_os_str().as_encoded_bytes())[..6]);
        let root = match user {
            Some(user) if !can_reach(user, data_dir) || !fits(&preferred.join("run")) => {
                PathBuf::from("/var/lib/caudal").join(name.clone())
            }
            _ => preferred,
        };
        let mut socket = root.join("run");
        if !fits(&socket) {
            socket = PathBuf::from(format!("/tmp/caudal-{}-{name}", Uid::effective()));
        }
        Ok(Self { data: root.join("data"), socket, log: root.join("server.log"), user })
    }

    /// Major version of an existing cluster.
    pub(super) fn version(&self) -> Result<Option<u32>> {
        match fs::read_to_string(self.data.join("PG_VERSION")) {
            Ok(text) => Ok(text.trim().parse().ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read the cluster in {}", self.data.display())),
        }
    }

    /// Creates the folders and the cluster where they are missing.
    pub(super) fn create(&self, binaries: &Binaries) -> Result<()> {
        let root = self.data.parent().context("the cluster has no parent folder")?;
        for folder in [root, &self.data, &self.socket] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            // In /tmp another user may have created this folder, or a link of this name.
            let found = fs::symlink_metadata(folder).with_context(|| format!("cannot inspect {}", folder.display()))?;
            let owners = [Uid::effective().as_raw(), self.user.map_or(0, |(uid, _)| uid)];
            if !found.is_dir() || !owners.contains(&found.uid()) {
                bail!("{} is not a folder owned by this user: remove it", folder.display());
            }
            if let Some((uid, gid)) = self.user {
                chown(folder, Some(uid), Some(gid))
                    .with_context(|| format!("cannot change the owner of {}", folder.display()))?;
            }
            let only_owner = Permissions::from_mode(0o700);
            fs::set_permissions(folder, only_owner)
                .with_context(|| format!("cannot restrict access to {}", folder.display()))?;
        }
        if self.version()?.is_some() {
            return Ok(());
        }
        tracing::info!(folder = %self.data.display(), "creating a private Postgres cluster");
        // Trust authentication is safe: only the owner of the socket's folder and root can connect.
        let output = self
            .command(&binaries.path("initdb"))
            .args(["--username", NAME, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--pgdata"])
            .arg(&self.data)
            .output()
            .context("cannot run initdb")?;
        if !output.status.success() {
            bail!("initdb refused {}: {}", self.data.display(), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }

    /// A command that runs as the server's user, in a folder that it can read, without this process's environment: that
    /// may hold keys, and libpq's variables.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(ENVIRONMENT).current_dir("/").stdin(Stdio::null());
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        command
    }

    pub(super) fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass().socket(&self.socket).username(NAME).database(database)
    }

    /// Waits until the server accepts connections, exits or takes too long.
    pub(super) async fn wait_until_ready(&self, mut has_exited: impl FnMut() -> bool) -> Result<()> {
        let step = Duration::from_millis(50);
        let mut waited = Duration::ZERO;
        loop {
            let Err(error) = self.options("postgres").connect().await else { return Ok(()) };
            if waited >= START_TIME_MAX || has_exited() {
                let message = format!("the private Postgres did not start; its log ends: {}", self.log_tail());
                return Err(error).context(message);
            }
            tokio::time::sleep(step).await;
            waited += step;
        }
    }

    pub(super) async fn create_database(&self) -> Result<()> {
        // A busy disk makes the creation slow, which is nothing to warn of.
        let options = self.options("postgres").disable_statement_logging();
        let mut db = options.connect().await.context("cannot connect to the private Postgres")?;
        let exists = sqlx::query_scalar::<_, bool>("select exists (select from pg_database where datname = $1)");
        if !exists.bind(NAME).fetch_one(&mut db).await.context("cannot list databases")? {
            db.execute("create database caudal").await.context("cannot create the database")?;
        }
        db.close().await.context("cannot close a connection")
    }

    /// The last lines of the server's log, for error messages.
    pub(super) fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(3).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

/// `None` unless this process is root.
fn server_user() -> Result<Option<(u32, u32)>> {
    if !Uid::effective().is_root() {
        return Ok(None);
    }
    match User::from_name(SERVER_USER).context("cannot look up users")? {
        Some(user) => Ok(Some((user.uid.as_raw(), user.gid.as_raw()))),
        None => bail!(
            "Postgres refuses to run as root, and there is no user {SERVER_USER}: run `apt-get install postgresql`, or \
             set DATABASE_URL to a running one"
        ),
    }
}

/// Whether the path of a socket in this folder is short enough.
fn fits(folder: &Path) -> bool {
    folder.as_os_str().len() + 1 + SOCKET.len() <= SOCKET_PATH_MAX
}

/// Whether a user can enter the folder.
fn can_reach((uid, gid): (u32, u32), folder: &Path) -> bool {
    let status = Command::new("test").arg("-x").arg(folder).current_dir("/").uid(uid).gid(gid).status();
    status.is_ok_and(|status| status.success())
}
