//! Several Postgres servers, of which one at a time is the primary.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection, PgPool};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::durability::unavailable;
use super::timeline::Timeline;

/// How often all servers are asked which is the primary.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// Longest wait for one server. Its reply takes milliseconds, from another site tens of them.
const REPLY_TIME_MAX: Duration = Duration::from_secs(1);

/// Longest wait for a primary at the start: HAProxy takes a few seconds to tell it from the replicas, Patroni up to
/// half a minute to promote one.
const PROMOTION_TIME_MAX: Duration = Duration::from_secs(30);

/// Most servers in one URL: a cluster in quorum mode has three or five.
pub const SERVERS_MAX: usize = 9;

/// The servers of a `DATABASE_URL`. Clones share the connections that they are asked over.
#[derive(Debug, Clone, Default)]
pub struct Servers(Arc<[Server]>);

#[derive(Debug)]
struct Server {
    options: PgConnectOptions,
    /// `None` until it replies.
    db: Mutex<Option<PgConnection>>,
}

/// What a server says of itself.
#[derive(Debug, Clone, Copy)]
struct Sighting {
    is_primary: bool,
    timeline: u32,
}

impl Servers {
    /// Reads a URL whose hosts are separated by commas, as for libpq: `postgres://user@one:5432,two:5432/database`.
    ///
    /// # Errors
    /// If it has another form.
    pub fn parse(url: &str) -> Result<Self, sqlx::Error> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (format!("{user}@"), hosts),
            None => (String::new(), authority),
        };
        if !hosts.contains(',') {
            return Ok(Self::of(vec![url.parse()?]));
        }
        let options = hosts.split(',').map(|host| format!("{scheme}://{user}{host}{path}").parse());
        let options: Vec<_> = options.collect::<Result<_, _>>()?;
        if options.len() > SERVERS_MAX || hosts.split(',').any(str::is_empty) {
            return Err(sqlx::Error::Configuration(format!("1 to {SERVERS_MAX} hosts, none of them empty").into()));
        }
        Ok(Self::of(options))
    }

    fn of(options: Vec<PgConnectOptions>) -> Self {
        Self(options.into_iter().map(|options| Server { options, db: Mutex::default() }).collect())
    }

    pub(crate) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Connects to the primary, and waits for one if there are only replicas.
    ///
    /// # Errors
    /// If no server can be reached, or none is the primary for `PROMOTION_TIME_MAX`.
    pub async fn wait_for_primary(&self, timeline: &Timeline) -> Result<(PgConnectOptions, PgConnection), sqlx::Error> {
        let deadline = Instant::now() + PROMOTION_TIME_MAX;
        loop {
            if let [Server { options, .. }] = &self.0[..] {
                let mut db = unhurried(options).await?;
                if look(&mut db).await?.is_primary {
                    return Ok((options.clone(), db));
                }
            } else if let Some(options) = self.find(timeline).await? {
                return Ok((options.clone(), unhurried(options).await?));
            }
            if Instant::now() > deadline {
                return Err(unavailable("none of the servers in DATABASE_URL is a primary"));
            }
            sleep(CHECK_EVERY).await;
        }
    }

    /// Connects to the only server even if it is a replica, or else to the primary.
    ///
    /// # Errors
    /// As [`Self::wait_for_primary`].
    pub async fn wait_for_any(&self, timeline: &Timeline) -> Result<(PgConnectOptions, PgConnection), sqlx::Error> {
        match &self.0[..] {
            [Server { options, .. }] => Ok((options.clone(), unhurried(options).await?)),
            _ => self.wait_for_primary(timeline).await,
        }
    }

    /// The primary, unless it is on a lower timeline than any server has been on. All are asked, because one that was
    /// replaced may not know it. Fails if none replies.
    async fn find(&self, timeline: &Timeline) -> Result<Option<&PgConnectOptions>, sqlx::Error> {
        let (mut primaries, mut failed) = (Vec::new(), Vec::new());
        for (server, seen) in self.0.iter().zip(join_all(self.0.iter().map(Server::reach)).await) {
            match seen {
                Ok(seen) => {
                    timeline.note(seen.timeline);
                    primaries.extend(seen.is_primary.then_some((seen.timeline, &server.options)));
                }
                Err(error) => failed.push(error),
            }
        }
        if failed.len() == self.0.len() {
            return failed.pop().map_or(Ok(None), Err);
        }
        Ok(primaries.into_iter().find(|(number, _)| timeline.is_newest(*number)).map(|(_, options)| options))
    }

    /// Points new connections of the pool to the primary, whichever it is. Can be aborted at any time.
    pub async fn follow(self, pool: PgPool, timeline: Timeline) {
        let mut current = None;
        while self.are_several() {
            if let Ok(Some(options)) = self.find(&timeline).await {
                let address = (options.get_host(), options.get_port());
                if current != Some(address) {
                    tracing::info!(host = address.0, port = address.1, "following the primary");
                    pool.set_connect_options(options.clone());
                    current = Some(address);
                }
            }
            sleep(CHECK_EVERY).await;
        }
    }

    /// Takes note of all servers' timelines. One that cannot be reached is asked again only by [`Self::follow`].
    ///
    /// # Errors
    /// If most of them do not reply.
    pub(super) async fn ask(&self, timeline: &Timeline) -> Result<(), sqlx::Error> {
        let seen: Vec<_> = join_all(self.0.iter().map(Server::ask)).await.into_iter().flatten().collect();
        seen.iter().for_each(|it| timeline.note(it.timeline));
        if seen.len() > self.0.len() / 2 {
            Ok(())
        } else {
            Err(unavailable("most of the servers in DATABASE_URL do not reply"))
        }
    }
}

impl Server {
    /// `None` if it does not reply.
    async fn ask(&self) -> Option<Sighting> {
        let mut kept = self.db.lock().await;
        // It is put back once it has replied: a question that is dropped must not leave its answer to the next one.
        let mut db = kept.take()?;
        let seen = timeout(REPLY_TIME_MAX, look(&mut db)).await.ok()?.ok()?;
        *kept = Some(db);
        Some(seen)
    }

    /// Asks it, over a new connection if there is none.
    async fn reach(&self) -> Result<Sighting, sqlx::Error> {
        if let Some(seen) = self.ask().await {
            return Ok(seen);
        }
        let connected = timeout(REPLY_TIME_MAX, async {
            let mut db = self.options.connect().await?;
            let seen = look(&mut db).await?;
            Ok((db, seen))
        });
        let silent = |_| Err(unavailable("a server in DATABASE_URL does not reply"));
        let (db, seen) = connected.await.unwrap_or_else(silent)?;
        *self.db.lock().await = Some(db);
        Ok(seen)
    }
}

/// A connection that does not warn of slow statements: migrations are.
async fn unhurried(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    options.clone().disable_statement_logging().connect().await
}

impl From<PgConnectOptions> for Servers {
    fn from(only: PgConnectOptions) -> Self {
        Self::of(vec![only])
    }
}

/// A replica's control file follows its primary's timeline with the next restart point. What it receives shows at once,
/// but only to a role with `pg_read_all_stats`.
async fn look(db: &mut PgConnection) -> Result<Sighting, sqlx::Error> {
    let seen = sqlx::query!(
        r#"
        select not is_replica as "is_primary!",
            case when is_replica then greatest(
                (select timeline_id from pg_control_checkpoint()),
                (select min_recovery_end_timeline from pg_control_recovery()),
                (select received_tli from pg_stat_wal_receiver)
            ) else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end as "timeline!"
        from pg_is_in_recovery() as is_replica
        "#
    );
    let seen = seen.fetch_one(db).await?;
    Ok(Sighting { is_primary: seen.is_primary, timeline: u32::try_from(seen.timeline).unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_share_user_database_and_parameters() {
        let servers =
            Servers::parse("postgres://ana:p%40ss@one:5433,two,[::1]:5434/bank?application_name=caudal").unwrap();
        let hosts: Vec<_> = servers.0.iter().map(|it| (it.options.get_host(), it.options.get_port())).collect();
        assert_eq!(hosts, [("one", 5433), ("two", 5432), ("[::1]", 5434)]);
        for Server { options, .. } in servers.0.iter() {
            assert_eq!((options.get_username(), options.get_database()), ("ana", Some("bank")));
            assert_eq!(options.get_application_name(), Some("caudal"));
        }
        assert_eq!(Servers::parse("postgres:///bank?user=ana&host=/run").unwrap().0.len(), 1);
        for wrong in
            ["postgres://one,,two/bank", "one,two", &format!("postgres://{}/bank", ["h"; SERVERS_MAX + 1].join(","))]
        {
            assert!(Servers::parse(wrong).is_err(), "{wrong}");
        }
    }
}
