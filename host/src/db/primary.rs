//! Several Postgres servers, of which one at a time is the primary.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection, PgPool};
use tokio::time::{Instant, sleep, timeout};

use super::durability::unavailable;

/// How often the primary is asked whether it still is.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// Longest wait for one server. Its reply takes milliseconds, from another site tens of them.
const REPLY_TIME_MAX: Duration = Duration::from_secs(1);

/// Longest wait for a primary at the start: HAProxy takes a few seconds to tell it from the replicas, Patroni up to
/// half a minute to promote one.
const PROMOTION_TIME_MAX: Duration = Duration::from_secs(30);

/// Most servers in one URL: a cluster in quorum mode has three or five.
pub const SERVERS_MAX: usize = 9;

/// The servers of a `DATABASE_URL`.
#[derive(Debug, Clone)]
pub struct Servers(Vec<PgConnectOptions>);

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
            return Ok(Self(vec![url.parse()?]));
        }
        let options = hosts.split(',').map(|host| format!("{scheme}://{user}{host}{path}").parse());
        let options: Vec<_> = options.collect::<Result<_, _>>()?;
        if options.len() > SERVERS_MAX || hosts.split(',').any(str::is_empty) {
            return Err(sqlx::Error::Configuration(format!("1 to {SERVERS_MAX} hosts, none of them empty").into()));
        }
        Ok(Self(options))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Connects to the primary, and waits for one if there are only replicas.
    ///
    /// # Errors
    /// If a server cannot be reached and none is the primary, or if there is none for [`PROMOTION_TIME_MAX`].
    pub(crate) async fn wait_for_primary(&self) -> Result<(PgConnectOptions, PgConnection), sqlx::Error> {
        let deadline = Instant::now() + PROMOTION_TIME_MAX;
        loop {
            match self.connect().await {
                Ok(None) if Instant::now() < deadline => sleep(CHECK_EVERY).await,
                Ok(None) => return Err(unavailable("none of the servers in DATABASE_URL is a primary")),
                Ok(Some(connected)) => return Ok(connected),
                Err(error) => return Err(error),
            }
        }
    }

    /// `None` if all are replicas.
    async fn connect(&self) -> Result<Option<(PgConnectOptions, PgConnection)>, sqlx::Error> {
        if let [only] = &self.0[..] {
            let mut db = only.connect().await?;
            return Ok(is_primary(&mut db).await?.then_some((only.clone(), db)));
        }
        let mut failed = None;
        for options in &self.0 {
            match connect_to_primary(options).await {
                Ok(Some(db)) => return Ok(Some((options.clone(), db))),
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Points new connections of the pool to the primary, whichever it is. Can be aborted at any time.
    pub(crate) async fn follow(self, pool: PgPool) {
        if self.0.len() < 2 {
            return;
        }
        let mut current: Option<PgConnection> = None;
        loop {
            if let Some(db) = &mut current
                && !matches!(timeout(REPLY_TIME_MAX, is_primary(db)).await, Ok(Ok(true)))
            {
                current = None;
            }
            if current.is_none()
                && let Ok(Some((options, db))) = self.connect().await
            {
                tracing::info!(host = options.get_host(), port = options.get_port(), "following the primary");
                pool.set_connect_options(options);
                current = Some(db);
            }
            sleep(CHECK_EVERY).await;
        }
    }
}

impl From<PgConnectOptions> for Servers {
    fn from(only: PgConnectOptions) -> Self {
        Self(vec![only])
    }
}

async fn connect_to_primary(options: &PgConnectOptions) -> Result<Option<PgConnection>, sqlx::Error> {
    let connected = timeout(REPLY_TIME_MAX, async {
        let mut db = options.connect().await?;
        Ok(is_primary(&mut db).await?.then_some(db))
    });
    connected.await.unwrap_or_else(|_| Err(unavailable("a server in DATABASE_URL does not reply")))
}

async fn is_primary(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select not pg_is_in_recovery() as "is_primary!""#).fetch_one(db).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_share_user_database_and_parameters() {
        let servers =
            Servers::parse("postgres://ana:p%40ss@one:5433,two,[::1]:5434/bank?application_name=caudal").unwrap();
        let hosts: Vec<_> = servers.0.iter().map(|it| (it.get_host(), it.get_port())).collect();
        assert_eq!(hosts, [("one", 5433), ("two", 5432), ("[::1]", 5434)]);
        for options in &servers.0 {
            assert_eq!((options.get_username(), options.get_database()), ("ana", Some("bank")));
            assert_eq!(options.get_application_name(), Some("caudal"));
        }
        assert_eq!(Servers::parse("postgres:///bank?user=ana&host=/run").unwrap().len(), 1);
        for wrong in
            ["postgres://one,,two/bank", "one,two", &format!("postgres://{}/bank", ["h"; SERVERS_MAX + 1].join(","))]
        {
            assert!(Servers::parse(wrong).is_err(), "{wrong}");
        }
    }
}
