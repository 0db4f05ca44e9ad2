//! The warnings on the bank's page: which customers see which variant, and what became of them, from the analytics
//! events of customers who consented.

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::records::{self, Change, Covered, Recorded, Subject};
use crate::domain::experiment::{Experiment, Portion};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// An experiment as an operator decided on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decided {
    /// Counted from 1.
    pub(crate) change: i64,
    pub(crate) experiment: Experiment,
    pub(crate) reason: String,
    pub(crate) by: String,
    pub(crate) at: OffsetDateTime,
}

struct Row {
    change: i64,
    name: String,
    variants: Vec<String>,
    percentages: Vec<i16>,
    reason: String,
    changed_by: String,
    changed_at: OffsetDateTime,
}

impl Row {
    fn state(&self, key: &ChainKey) -> Hash {
        let mut digest = Subject::Warnings.state();
        digest.int(self.change);
        [&self.name, &self.reason, &self.changed_by].iter().for_each(|text| digest.text(text));
        digest.int(self.variants.len() as i64);
        self.variants.iter().for_each(|variant| digest.text(variant));
        digest.int(self.percentages.len() as i64);
        self.percentages.iter().for_each(|percent| digest.int(i64::from(*percent)));
        digest.time(self.changed_at);
        key.seal_digest(digest)
    }
}

impl From<&Decided> for Row {
    fn from(Decided { change, experiment: Experiment { name, portions }, reason, by, at }: &Decided) -> Self {
        Self {
            change: *change,
            name: name.clone(),
            variants: portions.iter().map(|it| it.variant.clone()).collect(),
            percentages: portions.iter().map(|it| it.percent.into()).collect(),
            reason: reason.clone(),
            changed_by: by.clone(),
            changed_at: *at,
        }
    }
}

impl From<Row> for Decided {
    fn from(row: Row) -> Self {
        // A percentage that is none was altered, which its state shows.
        let percent = |it: i16| u8::try_from(it).unwrap_or(u8::MAX);
        let portions = row.variants.into_iter().zip(row.percentages);
        let portions = portions.map(|(variant, it)| Portion { variant, percent: percent(it) }).collect();
        let experiment = Experiment { name: row.name, portions };
        Self { change: row.change, experiment, reason: row.reason, by: row.changed_by, at: row.changed_at }
    }
}

/// The one that holds; `None` until an operator decides on one.
pub(crate) async fn present(db: &mut PgConnection) -> Result<Option<Decided>, sqlx::Error> {
    let row = sqlx::query_as!(Row, "select * from warning_experiment order by change desc limit 1");
    Ok(row.fetch_optional(db).await?.map(Decided::from))
}

/// False if another change with this number was made meanwhile.
pub(crate) async fn decide(db: &mut PgConnection, key: &ChainKey, decided: &Decided) -> Result<bool, sqlx::Error> {
    let row = Row::from(decided);
    let mut transaction = db.begin().await?;
    let inserted = sqlx::query!(
        "insert into warning_experiment values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
        row.change,
        row.name,
        &row.variants,
        &row.percentages,
        row.reason,
        row.changed_by,
        row.changed_at,
    );
    if inserted.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let (subject, key_of_row, state) = (Subject::Warnings, row.change.to_string(), Some(row.state(key)));
    let change = Change { subject, key: key_of_row, action: "set", actor: row.changed_by, state };
    records::append(&mut transaction, key, change, row.changed_at).await?;
    transaction.commit().await.map(|()| true)
}

/// Every experiment beside its record.
pub(super) async fn covered(
    db: &mut PgConnection,
    key: &ChainKey,
    mut visit: impl FnMut(Covered),
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select e.*, r.seq is not null as "is_recorded!", r.state as "state?"
        from warning_experiment e left join lateral (
            select seq, state from audit_record
            where subject = 'warnings' and subject_key = e.change::text order by seq desc limit 1
        ) as r on true
        order by e.change
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let recorded = Recorded::new(row.is_recorded, row.state);
        let row = Row {
            change: row.change,
            name: row.name,
            variants: row.variants,
            percentages: row.percentages,
            reason: row.reason,
            changed_by: row.changed_by,
            changed_at: row.changed_at,
        };
        visit(Covered { key: row.change.to_string(), state: row.state(key), recorded });
    }
    Ok(())
}

/// What became of a variant's warnings. Customers count once, because what one customer does again is no new evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Experiment and variant, as the page names them.
    pub variant: String,
    /// Customers who were warned.
    pub customers: i64,
    /// Warnings that they were shown.
    pub shown: i64,
    /// Customers who sent none of the payments.
    pub kept: i64,
    /// Customers who said so, by choosing not to send.
    pub stopped: i64,
    /// Customers who sent a payment and later looked up what to do about a fraud.
    pub regretted: i64,
}

/// Of each variant that was shown since a time, in the order of their names.
///
/// # Errors
/// If the database fails.
pub async fn outcomes(db: &mut PgConnection, since: OffsetDateTime) -> Result<Vec<Outcome>, sqlx::Error> {
    sqlx::query_as!(
        Outcome,
        r#"
        with customer as (
            select owner, split_part(details, ' ', 1) as variant,
                count(*) filter (where event_type = 'warning_shown') as shown,
                count(*) filter (where event_type = 'warning_stopped') as stopped,
                min(received_at) filter (where event_type = 'warning_continued') as continued_at
            from event
            where received_at >= $1 and details is not null
                and event_type in ('warning_shown', 'warning_stopped', 'warning_continued')
            group by owner, split_part(details, ' ', 1)
        ), help as (
            -- Whichever variant they would see now.
            select owner, max(received_at) as sought_at from event
            where received_at >= $1 and event_type in ('fraud_help_opened') group by owner
        )
        select variant as "variant!", count(*) as "customers!", sum(shown)::bigint as "shown!",
            count(*) filter (where continued_at is null) as "kept!", count(*) filter (where stopped > 0) as "stopped!",
            count(*) filter (where sought_at >= continued_at) as "regretted!"
        from customer left join help using (owner) where shown > 0 group by variant order by variant
        "#,
        since,
    )
    .fetch_all(db)
    .await
}
