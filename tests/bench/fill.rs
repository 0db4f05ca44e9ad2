//! Databases full of transfers, filled by SQL because the ledger would take many minutes.

use caudal::clock::Clock;
use caudal::ledger::chain::ChainKey;
use caudal::ledger::store::proof;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use uuid::Uuid;

use crate::database::{Database, Server};
use crate::host::LEDGER_KEY;

/// Users who share the transfers that are not the first user's.
const OTHERS: i64 = 1_000;

/// That each user pays in turn.
const PAYEES: i64 = 100;

/// The user whose pages are read, and their only account. The script creates both.
pub(crate) const OWNER: &str = "user-0";
pub(crate) const ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_9000_0000_0000_0000);

/// A filled database.
pub(crate) struct Filled {
    pub(crate) database: Database,
    /// Number of transfers.
    pub(crate) total: i64,
    /// Number of the first user's transfers. The account has one more entry, the opening credit.
    pub(crate) own: i64,
}

/// A line of the first user's statement.
#[derive(sqlx::FromRow)]
pub(crate) struct Place {
    pub(crate) number: i64,
    pub(crate) millis: i64,
    pub(crate) transfer_id: Uuid,
}

impl Filled {
    /// Inserts `total` transfers; every `share`-th is the first user's.
    pub(crate) async fn new(server: &Server, name: &str, total: i64, share: i64) -> Self {
        let database = server.database(name).await;
        let mut db = database.migrate().await;
        let script = include_str!("fill.sql").replace(":total", &total.to_string());
        let script = script.replace(":share", &share.to_string()).replace(":users", &OTHERS.to_string());
        let script = script.replace(":payees", &PAYEES.to_string());
        sqlx::raw_sql(AssertSqlSafe(script)).execute(&mut db).await.unwrap();
        let key = ChainKey::new(LEDGER_KEY.as_bytes()).unwrap();
        proof::record_all(&mut db, &key, Clock::system().now()).await.unwrap();
        // As autovacuum has done many times in a ledger that grew over years.
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

    /// The lines with these numbers, in the given order.
    pub(crate) async fn places(&self, numbers: &[i64]) -> Vec<Place> {
        let places = sqlx::query_as(
            "select version as number, (extract(epoch from created_at) * 1000)::bigint as millis, transfer_id
             from unnest($2::bigint[]) with ordinality as n (version, nth)
             join entry using (version) where account_id = $1 and stripe = 0 order by nth",
        );
        places.bind(ACCOUNT).bind(numbers).fetch_all(&mut self.database.connect().await).await.unwrap()
    }
}
