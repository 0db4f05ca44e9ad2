//! What all hosts keep to, whatever each was started with: one row, which audit records cover.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::records::{self, Change, Covered, Recorded, Subject};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// The subject's key.
const KEY: &str = "hosts";

/// The actor of what a host records by itself.
const ACTOR: &str = "host";

struct Row {
    durability: String,
    changed_at: OffsetDateTime,
}

impl Row {
    fn state(&self, key: &ChainKey) -> Hash {
        let mut digest = Subject::Policy.state();
        digest.text(&self.durability);
        digest.time(self.changed_at);
        key.seal_digest(digest)
    }
}

async fn row(db: &mut PgConnection) -> Result<Option<Row>, sqlx::Error> {
    sqlx::query_as!(Row, "select durability, changed_at from policy").fetch_optional(db).await
}

/// Whether commits have to reach replicas, as far as the row can be trusted: see [`is_authentic`].
pub(crate) async fn is_replicated(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    Ok(row(db).await?.is_some_and(|row| row.durability == "replicated"))
}

/// Whether the policy is the one that was recorded last, if any was.
pub(crate) async fn is_authentic(db: &mut PgConnection, key: &ChainKey) -> Result<bool, sqlx::Error> {
    let state = row(db).await?.map(|row| row.state(key).to_vec());
    let recorded = records::find(db, key, Subject::Policy, KEY).await?;
    Ok(state == recorded.and_then(|record| record.state))
}

/// From now on, commits have to reach replicas.
pub(crate) async fn replicate(db: &mut PgConnection, key: &ChainKey, now: OffsetDateTime) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let durability = "replicated".to_owned();
    let set = sqlx::query!(
        r#"
        insert into policy (durability, changed_at) values ($1, $2)
        on conflict (only_one) do update set durability = $1, changed_at = $2 where policy.durability <> $1
        "#,
        durability,
        now,
    );
    if set.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(());
    }
    let state = Some(Row { durability, changed_at: now }.state(key));
    let change =
        Change { subject: Subject::Policy, key: KEY.to_owned(), action: "set", actor: ACTOR.to_owned(), state };
    records::append(&mut transaction, key, change, now).await?;
    transaction.commit().await
}

/// The policy beside its last record.
pub(super) async fn covered(
    db: &mut PgConnection,
    key: &ChainKey,
    mut visit: impl FnMut(Covered),
) -> Result<(), sqlx::Error> {
    let Some(row) = row(db).await? else { return Ok(()) };
    let recorded = sqlx::query_scalar!(
        "select state from audit_record where subject = 'policy' and subject_key = $1 order by seq desc limit 1",
        KEY,
    );
    let recorded = recorded.fetch_optional(db).await?;
    let recorded = Recorded::new(recorded.is_some(), recorded.flatten());
    visit(Covered { key: KEY.to_owned(), state: row.state(key), recorded });
    Ok(())
}
