//! Databases full of transfers: by SQL, as the ledger would take many minutes for the large one.

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use uuid::Uuid;

use crate::database::{Database, Server};

/// Users who share what is not the first one's.
const OTHERS: i64 = 1_000;

/// The user whose pages are read, and their only account: made by the script.
pub(crate) const OWNER: &str = "user-0";
pub(crate) const ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_9000_0000_0000_0000);

/// A filled database.
pub(crate) struct Filled {
    pub(crate) database: Database,
    /// Transfers in all.
    pub(crate) total: i64,
    /// Transfers of the first user. The account has one entry more, the first: what it opened with.
    pub(crate) own: i64,
}

/// A line of the first user's statement and the transfer that it is of.
#[derive(sqlx::FromRow)]
pub(crate) struct Place {
    pub(crate) number: i64,
    pub(crate) millis: i64,
    pub(crate) transfer_id: Uuid,
}

impl Filled {
    /// Makes so many transfers, of which the first user has each `share`-th one.
    pub(crate) async fn new(server: &Server, name: &str, total: i64, share: i64) -> Self {
        let database = server.database(name).await;
        let mut db = database.migrate().await;
        let script = include_str!("fill.sql").replace(":total", &total.to_string());
        let script = script.replace(":share", &share.to_string()).replace(":users", &OTHERS.to_string());
        sqlx::raw_sql(AssertSqlSafe(script)).execute(&mut db).await.unwrap();
        // As a ledger that grew over years has been many times.
        db.execute("vacuum analyze").await.unwrap();
        db.execute("checkpoint").await.unwrap();
        let own = total / share;
        let found: (i64, i64, i64, i64) = sqlx::query_as(
            "select (select count(*) from transfer where kind = 'spei'), (select sum(delta)::bigint from entry),
                (select count(*) from transfer where owner = $1 and kind = 'spei'),
                (select count(*) from entry where account_id = $2 and stripe = 0 and delta < 0)",
        )
        .bind(OWNER)
        .bind(ACCOUNT)
        .fetch_one(&mut db)
        .await
        .unwrap();
        assert_eq!(found, (total, 0, own, own));
        db.close().await.unwrap();
        Self { database, total, own }
    }

    /// The lines with these numbers, in this order.
    pub(crate) async fn places(&self, numbers: &[i64]) -> Vec<Place> {
        let places = sqlx::query_as(
            "select version as number, (extract(epoch from created_at) * 1000)::bigint as millis, transfer_id
             from unnest($2::bigint[]) with ordinality as n (version, nth)
             join entry using (version) where account_id = $1 and stripe = 0 order by nth",
        );
        places.bind(ACCOUNT).bind(numbers).fetch_all(&mut self.database.connect().await).await.unwrap()
    }
}
