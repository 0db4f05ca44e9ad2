//! Opens a command's database: the configured one, or the private one in the data folder.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, PgPool};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::audit;
use crate::config::{Common, Policy};
use crate::db::barrier::Barrier;
use crate::db::durability::{self, Durability};
use crate::db::primary::Servers;
use crate::db::timeline::Timeline;
use crate::db::{policy, roles, schema, session};
use crate::postgres::Server;

/// Connections per host: on a small machine, more would only contend with each other.
const CONNECTIONS_MAX: u32 = 16;

/// How long a request waits for a connection before it fails with `overloaded`.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// How often a host looks whether the policy has changed, and whether Postgres has replicas by now.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// Longest wait for a reply to a ping. A server that has vanished without closing its connections never replies.
const PING_TIME_MAX: Duration = Duration::from_secs(1);

/// How long after its last use a connection is assumed to be open. If the server stops within that time, the requests
/// that discover it get 503, like those that arrive while it is down.
const IDLE_TRUSTED: Duration = Duration::from_secs(1);

pub(super) const UNREACHABLE: &str = "cannot connect to Postgres: start it, or correct DATABASE_URL";

pub(super) const UNREADABLE: &str = "cannot read the database";

pub(super) const UNUSABLE: &str = "cannot use the tables";

const MALFORMED: &str = "DATABASE_URL does not have the form postgres://user@host/database";

pub(super) const PRIVATE: &str = "the private Postgres of a data folder has one role for everything, so it is for the \
    sandbox: set DATABASE_URL to a Postgres with the roles that `caudal roles` creates";

pub(super) const EXPOSED: &str =
    "anyone between this host and Postgres can read and change the traffic: add sslmode=verify-full to DATABASE_URL";

/// A pool and, if this process started it, the server behind it.
pub(super) struct Database {
    pub(super) pool: PgPool,
    pub(super) barrier: Barrier,
    /// What all hosts keep to; its default before it was set, and in the sandbox, what that was started with.
    pub(super) policy: Policy,
    is_sandbox: bool,
    /// The roles that were granted what they need.
    pub(super) granted: Vec<&'static str>,
    follower: JoinHandle<()>,
    server: Option<Server>,
}

/// What a command expects of the database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use<'a> {
    /// An existing ledger. A private server may belong to another process.
    Shared,
    /// The same, which is only read: a replica will do.
    Read,
    /// A ledger that is created if missing, of a sandbox with this policy. A private server has to live as long as this
    /// process.
    Sandbox(&'a Policy),
    /// An existing ledger, as a role that does not own its tables.
    Served,
    /// A ledger that is created if missing, as the owner of its tables.
    Migrated,
}

impl Use<'_> {
    fn may_create(self, common: &Common) -> bool {
        matches!(self, Self::Sandbox(_) | Self::Migrated) || common.create
    }

    /// Whether it is a host that runs on it.
    fn is_host(self) -> bool {
        matches!(self, Self::Sandbox(_) | Self::Served)
    }
}

impl Database {
    /// Connects and runs the migrations.
    ///
    /// A mistyped folder must not look like a bank without customers, so only the sandbox, `migrate` and `--create` create a
    /// ledger.
    pub(super) async fn open(common: &Common, usage: Use<'_>) -> Result<Self> {
        let may_create = usage.may_create(common);
        let (servers, server) = match &common.database_url {
            Some(url) => (servers(url)?, None),
            None if usage == Use::Served => bail!(PRIVATE),
            None if !may_create && !Server::exists(&common.data_dir)? => bail!(
                "there is no ledger in {}: set --data-dir (CAUDAL_DATA_DIR) to the data folder of the service, or \
                 DATABASE_URL to its Postgres; `caudal serve --sandbox` creates a new one",
                absolute(common).display()
            ),
            None => {
                let server = Server::start(&common.data_dir, common.postgres_bin.as_deref(), usage.is_host()).await?;
                (Servers::from(server.options()), Some(server))
            }
        };
        let (pool, barrier, granted, policy) = match connect(common, &servers, usage).await {
            Ok(connected) => connected,
            Err(error) => {
                if let Some(server) = server {
                    server.stop().await?;
                }
                return Err(error);
            }
        };
        let follower = tokio::spawn(servers.follow(pool.clone(), barrier.timeline().clone()));
        let is_sandbox = matches!(usage, Use::Sandbox(_));
        Ok(Self { pool, barrier, policy, is_sandbox, granted, follower, server })
    }

    /// Resolves with the reason if a private server exits unexpectedly.
    pub(super) async fn lost(&self) -> anyhow::Error {
        match &self.server {
            Some(server) => server.lost().await,
            None => std::future::pending().await,
        }
    }

    /// Resolves with the reason once a host has to start again: the policy has changed, or Postgres has replicas that
    /// the host does not wait for although no setting says so.
    pub(super) async fn outgrown(&self) -> anyhow::Error {
        let may_replicate = self.policy.durability.is_none() && self.barrier.durability() == Durability::Local;
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            let Ok(mut db) = self.pool.acquire().await else { continue };
            let Ok(recorded) = policy::settings(&mut db).await else { continue };
            // One with settings that this release does not know is another one, too.
            let recorded = recorded.map_or(Ok(Policy::default()), |part| part.content.parse());
            if !self.is_sandbox && !recorded.is_ok_and(|it| it == self.policy) {
                return anyhow!("the policy of all hosts has changed: start again, to keep to it");
            }
            if may_replicate && durability::has_replicas(&mut db).await.is_ok_and(|has_replicas| has_replicas) {
                return anyhow!("Postgres has synchronous replicas now: start again, so that commits wait for them");
            }
        }
    }

    /// Closes the pool, and stops the server if this process started it.
    pub(super) async fn close(self) -> Result<()> {
        self.follower.abort();
        self.pool.close().await;
        match self.server {
            Some(server) => server.stop().await,
            None => Ok(()),
        }
    }
}

/// The data folder as an absolute path: a relative one does not show where a command looked.
pub(super) fn absolute(common: &Common) -> PathBuf {
    std::path::absolute(&common.data_dir).unwrap_or_else(|_| common.data_dir.clone())
}

pub(super) fn servers(url: &str) -> Result<Servers> {
    Servers::parse(url).context(MALFORMED)
}

async fn connect(
    common: &Common,
    servers: &Servers,
    usage: Use<'_>,
) -> Result<(PgPool, Barrier, Vec<&'static str>, Policy)> {
    // Migrations may be slow, so they run on a connection without a statement timeout.
    let timeline = Timeline::default();
    let found = match usage {
        Use::Read => servers.wait_for_any(&timeline).await,
        _ => servers.wait_for_primary(&timeline).await,
    };
    let (options, mut db) = found.context(UNREACHABLE)?;
    let is_replica = usage == Use::Read && session::is_replica(&mut db).await.context(UNREACHABLE)?;
    if usage.is_host() && is_exposed(&options) {
        audit::warn_of_configuration(EXPOSED);
    }
    session::fix_schema(&mut db).await.context(UNREACHABLE)?;
    let is_empty = schema::is_empty(&mut db).await.context(UNREADABLE)?;
    let is_owner = roles::is_owner(&mut db).await.context(UNREADABLE)?;
    check_role(&mut db, usage).await?;
    if is_empty && !(is_owner && usage.may_create(common)) {
        let place = match common.database_url {
            Some(_) => "of DATABASE_URL".to_owned(),
            None => format!("in {}", absolute(common).display()),
        };
        bail!(
            "the database {place} has no ledger: set --data-dir (CAUDAL_DATA_DIR) or DATABASE_URL to that of the service; \
             `caudal migrate`, and `caudal serve` in the sandbox, create a new one"
        );
    }
    let granted = if is_owner && !is_replica {
        schema::migrate(&mut db).await.context(UNUSABLE)?
    } else {
        schema::check(&mut db).await.context(UNUSABLE)?;
        Vec::new()
    };
    if usage == Use::Served {
        schema::check_rights(&mut db).await.context(UNUSABLE)?;
        schema::check_catalogue(&mut db).await.context(UNUSABLE)?;
    }
    check_settings(&mut db, usage).await?;
    if usage.is_host() {
        check_collation(&mut db).await?;
    }
    let policy = policy_of(&mut db, usage).await?;
    let durability = if is_replica { Durability::Local } else { durability(&policy, &mut db, usage).await? };
    db.close().await.context(UNREACHABLE)?;
    // The statements of operators' commands may well read whole tables.
    let options = if matches!(usage, Use::Shared | Use::Read) { options.disable_statement_logging() } else { options };
    let barrier = |pool: PgPool| Barrier::new(pool, durability, timeline.clone()).among(servers.clone());
    let pool = PgPoolOptions::new().max_connections(CONNECTIONS_MAX).acquire_timeout(CONNECTION_WAIT);
    // The pool asks again on release, and would wait for ever for a server that has vanished.
    let pool = pool.test_before_acquire(false).after_release(|db, _| Box::pin(responds(db)));
    let pool = if is_replica {
        pool.after_connect(|db, _| Box::pin(session::prepare(db)))
    } else {
        follow(pool, durability, timeline.clone())
    };
    let pool = pool.connect_with(options).await.context(UNREACHABLE)?;
    Ok((pool.clone(), barrier(pool), granted, policy))
}

/// Refuses a role that has too many rights for what it is used for, or too few.
pub(super) async fn check_role(db: &mut PgConnection, usage: Use<'_>) -> Result<()> {
    let is_owner = roles::is_owner(db).await.context(UNREADABLE)?;
    let role = roles::current(db).await.context(UNREADABLE)?;
    match usage {
        Use::Served if is_owner => bail!(refused_owner(&role)),
        Use::Migrated if !is_owner => bail!(
            "the role {} does not own the ledger's tables, and may not create any: set DATABASE_URL to their owner",
            role.name
        ),
        _ => Ok(()),
    }
}

/// Refuses a Postgres that may lose or damage what it has acknowledged.
pub(super) async fn check_settings(db: &mut PgConnection, usage: Use<'_>) -> Result<()> {
    if !session::is_durable(db).await.context(UNREACHABLE)? {
        bail!("Postgres runs with synchronous_commit = off, which may lose acknowledged transfers: turn it on");
    }
    if usage == Use::Served
        && let Some(setting) = session::unsafe_setting(db).await.context(UNREACHABLE)?
    {
        bail!("Postgres runs with {setting} = off, so a crash of its machine may corrupt the ledger: turn it on");
    }
    Ok(())
}

/// Refuses indexes that may miss what they hold.
pub(super) async fn check_collation(db: &mut PgConnection) -> Result<()> {
    if session::has_other_collation(db).await.context(UNREACHABLE)? {
        bail!(
            "the system's library orders text otherwise than when this database was created: run `reindex database`, then \
             `alter database ... refresh collation version`; host/OPERATING.md has the steps"
        );
    }
    Ok(())
}

/// What a command keeps to.
pub(super) async fn policy_of(db: &mut PgConnection, usage: Use<'_>) -> Result<Policy> {
    let recorded = recorded_policy(db).await?;
    Ok(match usage {
        Use::Sandbox(_) if recorded.is_some() => bail!(
            "a policy is set here, so this ledger is not a sandbox: leave out --sandbox, or choose another --data-dir or \
             DATABASE_URL"
        ),
        Use::Sandbox(own) => own.clone(),
        _ => recorded.unwrap_or_default(),
    })
}

/// The policy that was set, if any was.
pub(super) async fn recorded_policy(db: &mut PgConnection) -> Result<Option<Policy>> {
    let Some(part) = policy::settings(db).await.context("cannot read the policy of the hosts")? else {
        return Ok(None);
    };
    match part.content.parse() {
        Ok(policy) => Ok(Some(policy)),
        Err(_) => bail!("this release does not know all settings of the policy: start the one that set them"),
    }
}

/// How far commits have to get: what the policy says, or else what Postgres is set up for, and never less than what
/// hosts did before. A command may also run beside a copy of the ledger that nothing replicates.
pub(super) async fn durability(policy: &Policy, db: &mut PgConnection, usage: Use<'_>) -> Result<Durability> {
    let replicates = durability::has_replicas(db).await.context(UNREADABLE)?
        || usage.is_host() && policy::is_replicated(db).await.context(UNREADABLE)?;
    let durability = match policy.durability {
        Some(Durability::Local) if replicates && usage.is_host() => {
            audit::warn_of_configuration(
                "--durability local: a failover loses transfers that were acknowledged; set it to replicated to wait for \
                 the replicas",
            );
            Durability::Local
        }
        Some(durability) if durability == Durability::Local || usage.is_host() => durability,
        _ if replicates => Durability::Replicated,
        _ => Durability::Local,
    };
    durability.check(db).await.context("Postgres does not replicate")?;
    Ok(durability)
}

/// For a host that could rewrite what only grows.
fn refused_owner(role: &roles::Role) -> String {
    let (name, serve) = (role.name.as_str(), roles::SERVE);
    let (what, owner) =
        if role.is_only_superuser { ("is a superuser", roles::OWNER) } else { ("owns the ledger's tables", name) };
    let creation = if owner == roles::OWNER { String::new() } else { format!(" --owner {owner}") };
    format!(
        "the role {name} {what}, so an attacker who takes over a host could rewrite history: run `caudal roles{creation} | \
         psql` as an administrator, then `caudal migrate` as {owner}, and set the host's DATABASE_URL to the role {serve}"
    )
}

/// Whether a connection crosses a network without proving whom it reaches.
pub(super) fn is_exposed(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let is_local = options.get_socket().is_some() || host.starts_with('/') || is_loopback;
    !is_local && !matches!(options.get_ssl_mode(), PgSslMode::VerifyFull)
}

/// Connections that wait for the replicas if they have to, none of them to a server that is no longer the primary.
fn follow(pool: PgPoolOptions, durability: Durability, timeline: Timeline) -> PgPoolOptions {
    let newest = timeline.clone();
    pool.after_connect(move |db, _| {
        let timeline = timeline.clone();
        Box::pin(async move {
            session::prepare(db).await?;
            timeline.check(db).await?;
            durability.prepare(db).await
        })
    })
    .before_acquire(move |db, connection| {
        let is_usable = newest.is_current(connection.age);
        // Asking every time would double what the database does for a read.
        let is_trusted = connection.idle_for <= IDLE_TRUSTED;
        Box::pin(async move { Ok(is_usable && (is_trusted || responds(db).await?)) })
    })
}

async fn responds(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let silent = |_| Err(sqlx::Error::Io(std::io::Error::from(std::io::ErrorKind::TimedOut)));
    timeout(PING_TIME_MAX, db.ping()).await.unwrap_or_else(silent).map(|()| true)
}
