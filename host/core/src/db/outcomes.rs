//! What became of orders. Rows are only added.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlx::{Connection as _, PgConnection};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::records::{self, Change, OWNER, Subject};
use super::unknown_text;
use crate::clock::{CLOCK_SKEW_MAX, at_millis};
use crate::db::decisions::{Period, each_decision};
use crate::domain::outcome::{CUSTOMER, OutcomeKind, Statement, counting};
use crate::sealing::ChainKey;

/// How long after an order's id was made its batch may be committed: more than a request may take.
const COMMIT_WAIT_MAX: Duration = Duration::minutes(2);

/// Who records statements, and when.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// A new id, from which those of the statements count up, so that they keep the order of the statements.
    pub first_id: Uuid,
    pub by: &'a str,
    pub now: OffsetDateTime,
}

/// Records all statements or none, except those that are there already. Returns how many are new.
///
/// # Errors
/// When the database fails.
pub async fn record(
    db: &mut PgConnection,
    key: &ChainKey,
    statements: &[Statement],
    recording: Recording<'_>,
) -> Result<usize, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let added = insert(&mut transaction, statements, recording).await?;
    let change = |id: &Uuid| Change::new(Subject::Outcome, id, "record", recording.by);
    let changes: Vec<_> = added.iter().map(change).collect();
    records::append_all(&mut transaction, key, &changes, recording.now).await?;
    transaction.commit().await?;
    Ok(added.len())
}

/// Records that a customer says that a transfer is not theirs. False if it is reported, or known to be a fraud, already.
///
/// # Errors
/// When the database fails.
pub async fn report(
    db: &mut PgConnection,
    key: &ChainKey,
    transfer_id: Uuid,
    recording: Recording<'_>,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // Of two reports at once the second sees the first.
    let lock = sqlx::query!("select from transfer where transfer_id = $1 for update", transfer_id);
    lock.fetch_optional(&mut *transaction).await?;
    let statements = of_subject(&mut transaction, transfer_id).await?;
    let known = counting(&statements, recording.now + CLOCK_SKEW_MAX).map(|it| it.kind);
    if known.is_some_and(|kind| kind == OutcomeKind::Reported || kind.is_fraud()) {
        return Ok(false);
    }
    let (kind, source, known_at) = (OutcomeKind::Reported, CUSTOMER.to_owned(), recording.now);
    let statement = Statement { subject_id: transfer_id, kind, source, known_at };
    let added = insert(&mut transaction, &[statement], recording).await?;
    for id in &added {
        let change = Change::new(Subject::Outcome, id, "report", OWNER);
        records::append(&mut transaction, key, change, recording.now).await?;
    }
    transaction.commit().await?;
    Ok(!added.is_empty())
}

/// The ids of the rows that were added, in order.
async fn insert(
    db: &mut PgConnection,
    statements: &[Statement],
    Recording { first_id, by, now }: Recording<'_>,
) -> Result<BTreeSet<Uuid>, sqlx::Error> {
    let ids: Vec<_> = (first_id.as_u128()..).take(statements.len()).map(Uuid::from_u128).collect();
    let subjects: Vec<_> = statements.iter().map(|it| it.subject_id).collect();
    let kinds: Vec<_> = statements.iter().map(|it| it.kind.as_str().to_owned()).collect();
    let sources: Vec<_> = statements.iter().map(|it| it.source.clone()).collect();
    let times: Vec<_> = statements.iter().map(|it| it.known_at).collect();
    let added = sqlx::query_scalar!(
        r#"
        insert into outcome (outcome_id, subject_id, kind, source, known_at, recorded_by, recorded_at)
        select outcome_id, subject_id, kind, source, known_at, $6, $7
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])
            as n (outcome_id, subject_id, kind, source, known_at)
        order by outcome_id
        on conflict (subject_id, kind, source, known_at) do nothing
        returning outcome_id
        "#,
        &ids,
        &subjects,
        &kinds,
        &sources,
        &times,
        by,
        now,
    );
    Ok(added.fetch_all(db).await?.into_iter().collect())
}

struct Row {
    subject_id: Uuid,
    kind: String,
    source: String,
    known_at: OffsetDateTime,
}

impl Row {
    fn read(self) -> Result<Statement, sqlx::Error> {
        let Self { subject_id, kind, source, known_at } = self;
        let kind = OutcomeKind::parse(&kind).ok_or_else(|| unknown_text("outcome.kind", &kind))?;
        Ok(Statement { subject_id, kind, source, known_at })
    }
}

/// In the order in which they were recorded.
async fn of_subject(db: &mut PgConnection, subject_id: Uuid) -> Result<Vec<Statement>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select subject_id, kind, source, known_at from outcome
        where subject_id = $1 order by recorded_at, outcome_id
        "#,
        subject_id,
    );
    rows.fetch_all(db).await?.into_iter().map(Row::read).collect()
}

/// All statements by subject, in the order in which they were recorded. There are few beside the decisions.
///
/// # Errors
/// When the database fails.
pub async fn by_subject(db: &mut PgConnection) -> Result<HashMap<Uuid, Vec<Statement>>, sqlx::Error> {
    let rows =
        sqlx::query_as!(Row, "select subject_id, kind, source, known_at from outcome order by recorded_at, outcome_id");
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    for row in rows.fetch_all(db).await? {
        let statement = row.read()?;
        all.entry(statement.subject_id).or_default().push(statement);
    }
    Ok(all)
}

/// Those that are neither a transfer, nor a hold, nor what a kept decision is about.
///
/// # Errors
/// When the database fails.
pub async fn unknown(db: &mut PgConnection, subjects: &[Uuid]) -> Result<BTreeSet<Uuid>, sqlx::Error> {
    let unmade = sqlx::query_scalar!(
        r#"
        select distinct w.id as "id!" from unnest($1::uuid[]) as w (id)
        where not exists (select from transfer where transfer_id = w.id and kind = 'spei')
            and not exists (select from hold where hold_id = w.id)
        "#,
        subjects,
    );
    let mut unknown: BTreeSet<_> = unmade.fetch_all(&mut *db).await?.into_iter().collect();
    for (from, until) in periods(&unknown) {
        each_decision(db, Period { from, until: Some(until) }, |_, decision| {
            unknown.remove(&decision.subject);
        })
        .await?;
    }
    Ok(unknown)
}

/// When orders with these ids can have been decided on: an id has the time at which it was made. Periods that overlap are
/// one.
fn periods(ids: &BTreeSet<Uuid>) -> Vec<(OffsetDateTime, OffsetDateTime)> {
    let made = ids.iter().filter_map(|id| {
        let (seconds, nanos) = id.get_timestamp()?.to_unix();
        Some(at_millis(i64::try_from(seconds).ok()?.checked_mul(1_000)? + i64::from(nanos / 1_000_000)))
    });
    let mut periods: BTreeMap<OffsetDateTime, OffsetDateTime> = BTreeMap::new();
    // Ids are in the order of their times.
    for at in made {
        let (from, until) = (at - CLOCK_SKEW_MAX, at + COMMIT_WAIT_MAX);
        match periods.last_entry() {
            Some(mut last) if *last.get() >= from => drop(last.insert(until.max(*last.get()))),
            _ => drop(periods.insert(from, until)),
        }
    }
    periods.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use time::macros::datetime;

    #[test]
    fn orders_are_looked_for_when_their_ids_were_made() {
        let noon = datetime!(2026-11-21 18:00 UTC);
        let clock = Clock::fixed(noon);
        let mut ids = BTreeSet::from([Uuid::new_v4(), Uuid::nil()]);
        assert_eq!(periods(&ids), []);
        for minutes in [0, 1, 60] {
            clock.advance(noon + Duration::minutes(minutes) - clock.now());
            ids.insert(clock.new_id());
        }
        let period = |from, until| (noon + from - CLOCK_SKEW_MAX, noon + until + COMMIT_WAIT_MAX);
        let [zero, one, hour] = [0, 1, 60].map(Duration::minutes);
        assert_eq!(periods(&ids), [period(zero, one), period(hour, hour)]);
    }
}
