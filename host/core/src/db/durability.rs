//! How far a commit must have got before anyone learns of it.
//!
//! With [`Durability::Replicated`], a commit counts once Postgres' synchronous replicas have it. Postgres hides a
//! commit until then, with exceptions: a wait that was cancelled ends in success and a warning, and a server that
//! restarts or is promoted shows what it had not confirmed before. So a write that ends in a warning has an unknown
//! outcome, and what was read has to pass a [`Barrier`](super::barrier::Barrier).

use std::cell::Cell;

use sqlx::{Executor as _, PgConnection};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Durability {
    /// On the server's own disk
    Local,
    /// Also on the synchronous replicas, so that no failover loses it
    Replicated,
}

/// How sqlx passes on a notice of the server.
const NOTICE_TARGET: &str = "sqlx::postgres::notice";

/// Provokes a warning, to see whether warnings arrive. It shows in the log, too.
const PROBE: &str = "do $$ begin raise warning 'caudal checks that warnings arrive'; end $$";

tokio::task_local! {
    /// Whether the server warned during [`watch`].
    static WARNED: Cell<bool>;
}

struct Warnings;

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        // Fails outside of `watch`, where warnings do not matter.
        let _ = WARNED.try_with(|warned| warned.set(true));
    }
}

/// Sees the server's warnings, whatever the log filter says. Belongs to every subscriber of a process that serves with
/// [`Durability::Replicated`].
pub fn warnings<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    Warnings.with_filter(Targets::new().with_target(NOTICE_TARGET, LevelFilter::WARN))
}

/// Runs `work`, and tells whether the server warned meanwhile.
async fn watch<T>(work: impl Future<Output = T>) -> (T, bool) {
    WARNED.scope(Cell::new(false), async { (work.await, WARNED.with(Cell::get)) }).await
}

pub(super) fn unavailable(reason: &'static str) -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::other(reason))
}

impl Durability {
    /// Makes a session wait for the replicas, whatever its role or database is configured with.
    pub async fn prepare(self, db: &mut PgConnection) -> Result<(), sqlx::Error> {
        if self == Self::Local {
            return Ok(());
        }
        let is_stronger =
            sqlx::query_scalar!(r#"select current_setting('synchronous_commit') = 'remote_apply' as "is!""#);
        if !is_stronger.fetch_one(&mut *db).await? {
            db.execute("set synchronous_commit = on").await?;
        }
        db.execute("set client_min_messages = warning").await.map(drop)
    }

    /// Fails where the server does not replicate, or its warnings do not arrive here.
    pub async fn check(self, db: &mut PgConnection) -> Result<(), sqlx::Error> {
        if self == Self::Local {
            return Ok(());
        }
        check_replicas(db).await?;
        match watch(db.execute(PROBE)).await {
            (Ok(_), true) => Ok(()),
            (Ok(_), false) => {
                Err(unavailable("the server's warnings do not arrive: connect without a proxy that hides them"))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Fails, before anything is written, where the server does not replicate.
    pub(crate) async fn check_replicas(self, db: &mut PgConnection) -> Result<(), sqlx::Error> {
        match self {
            Self::Local => Ok(()),
            Self::Replicated => check_replicas(db).await,
        }
    }

    /// Runs a write. If it succeeds but cannot be confirmed, that is an error, and the outcome is unknown.
    pub(super) async fn confirmed<T>(
        self,
        write: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        match watch(write).await {
            (Ok(_), true) if self == Self::Replicated => {
                Err(unavailable("the wait for the replicas was cancelled, so they may lack the commit"))
            }
            (result, _) => result,
        }
    }
}

/// Whether commits wait for replicas.
pub async fn has_replicas(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let names = sqlx::query_scalar!(r#"select current_setting('synchronous_standby_names') as "names!""#);
    Ok(!names.fetch_one(db).await?.trim().is_empty())
}

/// Why a server that does not replicate is not used.
#[derive(Debug, thiserror::Error)]
#[error(
    "commits have to wait for synchronous replicas, and none is named: set synchronous_standby_names in Postgres, or ask \
     for --durability local with `caudal policy set`"
)]
pub(crate) struct NoReplicas;

pub(super) async fn check_replicas(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    if has_replicas(db).await? { Ok(()) } else { Err(sqlx::Error::Io(std::io::Error::other(NoReplicas))) }
}
