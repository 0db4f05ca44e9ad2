//! Sinks, as operators manage them. Audit records cover what they are, not how far they are.

pub(crate) mod delivery;

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::outbox::Position;
use super::records::{self, Change, Subject};
use super::unknown_text;
use crate::domain::sink::{Kind, Sink, State};
use crate::sealing::ChainKey;

/// A sink, and how much it did not accept.
#[derive(Debug)]
pub struct ListedSink {
    pub sink: Sink,
    pub undelivered: i64,
    /// When the oldest of these events happened.
    pub oldest: Option<OffsetDateTime>,
    pub cursor: String,
}

/// An event that a sink did not accept, or that waits for an earlier one.
#[derive(Debug, Clone, PartialEq)]
pub struct Undelivered {
    pub number: i64,
    pub event_id: String,
    pub kind: String,
    pub keys: Vec<String>,
    pub(crate) stripe: i16,
    pub(crate) seq: i64,
    pub happened_at: OffsetDateTime,
    pub attempts: i32,
    pub last_error: Option<String>,
    pub(crate) is_due: bool,
}

struct Row {
    sink_id: Uuid,
    kind: String,
    url: String,
    types: Vec<String>,
    state: String,
    created_by: String,
    created_at: OffsetDateTime,
}

impl Row {
    fn read(self) -> Result<Sink, sqlx::Error> {
        Ok(Sink {
            sink_id: self.sink_id,
            kind: Kind::parse(&self.kind).ok_or_else(|| unknown_text("sink.kind", &self.kind))?,
            url: self.url,
            types: self.types,
            state: State::parse(&self.state).ok_or_else(|| unknown_text("sink.state", &self.state))?,
            created_by: self.created_by,
            created_at: self.created_at,
        })
    }
}

/// Inserts a sink that gets what follows the cursor. False if there are so many already.
pub async fn insert(
    db: &mut PgConnection,
    key: &ChainKey,
    it: &Sink,
    (cursor, most): (&str, i64),
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // One at a time, so that the count is right.
    records::take_turn(&mut transaction).await?;
    let inserted = sqlx::query!(
        r#"
        insert into sink (sink_id, kind, url, types, state, created_by, created_at)
        select $1, $2, $3, $4, $5, $6, $7 where (select count(*) from sink) < $8
        "#,
        it.sink_id,
        it.kind.as_str(),
        it.url,
        &it.types,
        it.state.as_str(),
        it.created_by,
        it.created_at,
        most,
    );
    if inserted.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let progress = sqlx::query!(
        "insert into sink_progress (sink_id, cursor, due_at) values ($1, $2, clock_timestamp())",
        it.sink_id,
        cursor,
    );
    progress.execute(&mut *transaction).await?;
    records::append(
        &mut transaction,
        key,
        Change::new(Subject::Sink, it.sink_id, "add", &it.created_by),
        it.created_at,
    )
    .await?;
    transaction.commit().await?;
    Ok(true)
}

/// All sinks, oldest first.
pub async fn list(db: &mut PgConnection) -> Result<Vec<ListedSink>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select s.sink_id, s.kind, s.url, s.types, s.state, s.created_by, s.created_at, p.cursor,
            count(u.number) as "undelivered!", min(u.happened_at) as oldest
        from sink s join sink_progress p using (sink_id) left join sink_undelivered u using (sink_id)
        group by s.sink_id, p.cursor order by s.created_at, s.sink_id
        "#
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|it| {
        let (undelivered, oldest, cursor) = (it.undelivered, it.oldest, it.cursor);
        let row = Row {
            sink_id: it.sink_id,
            kind: it.kind,
            url: it.url,
            types: it.types,
            state: it.state,
            created_by: it.created_by,
            created_at: it.created_at,
        };
        Ok(ListedSink { sink: row.read()?, undelivered, oldest, cursor })
    })
    .collect()
}

/// Pauses a sink or lets it go on. False if there is none.
pub async fn set_state(
    db: &mut PgConnection,
    key: &ChainKey,
    (sink_id, state): (Uuid, State),
    by: &str,
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let set = sqlx::query!("update sink set state = $2 where sink_id = $1", sink_id, state.as_str());
    if set.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    interrupt(&mut transaction, sink_id).await?;
    let action = if state == State::Paused { "pause" } else { "resume" };
    records::append(&mut transaction, key, Change::new(Subject::Sink, sink_id, action, by), now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Removes a sink, with what it did not accept. False if there is none.
pub async fn remove(
    db: &mut PgConnection,
    key: &ChainKey,
    sink_id: Uuid,
    by: &str,
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let removed = sqlx::query!("delete from sink where sink_id = $1", sink_id);
    if removed.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    records::append(&mut transaction, key, Change::new(Subject::Sink, sink_id, "remove", by), now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Delivers again what follows a position, given as a cursor too; without one, what was not accepted is due now. False
/// if there is no such sink.
pub async fn resend(
    db: &mut PgConnection,
    key: &ChainKey,
    (sink_id, from): (Uuid, Option<(&Position, &str)>),
    by: &str,
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    if !interrupt(&mut transaction, sink_id).await? {
        return Ok(false);
    }
    match from {
        None => {
            sqlx::query!("update sink_undelivered set due_at = clock_timestamp() where sink_id = $1", sink_id)
                .execute(&mut *transaction)
                .await?;
        }
        Some((position, cursor)) => {
            let (stripes, nexts): (Vec<_>, Vec<_>) =
                position.next.iter().map(|(stripe, next)| (*stripe, *next)).unzip();
            // What is read again must not be delivered twice.
            sqlx::query!(
                r#"
                delete from sink_undelivered u
                where sink_id = $1 and (stripe < 0 or stripe >= $4) and seq >= coalesce((
                    select next from unnest($2::smallint[], $3::bigint[]) as c (stripe, next) where c.stripe = u.stripe
                ), 0)
                "#,
                sink_id,
                &stripes,
                &nexts,
                position.floor,
            )
            .execute(&mut *transaction)
            .await?;
            sqlx::query!("update sink_progress set cursor = $2 where sink_id = $1", sink_id, cursor)
                .execute(&mut *transaction)
                .await?;
        }
    }
    records::append(&mut transaction, key, Change::new(Subject::Sink, sink_id, "resend", by), now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Makes a sink due now. The host that is at it finds its claim gone. False if there is no such sink.
async fn interrupt(db: &mut PgConnection, sink_id: Uuid) -> Result<bool, sqlx::Error> {
    let due = sqlx::query!("update sink_progress set due_at = clock_timestamp() where sink_id = $1", sink_id);
    Ok(due.execute(db).await?.rows_affected() > 0)
}

/// What a sink did not accept, in the order in which it is to arrive.
pub async fn undelivered(db: &mut PgConnection, sink_id: Uuid) -> Result<Vec<Undelivered>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Undelivered,
        r#"
        select number, event_id, type as kind, keys, stripe, seq, happened_at, attempts, last_error,
            due_at <= clock_timestamp() as "is_due!"
        from sink_undelivered where sink_id = $1 order by number
        "#,
        sink_id,
    );
    rows.fetch_all(db).await
}
