//! The warnings on the bank's page: which customers see which variant, and what became of them, from the analytics events
//! of customers who consented.

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::records::{self, Change, Covered, Recorded, Subject};
use crate::domain::experiment::{Experiment, Portion};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// An experiment as an operator decided on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) id: Uuid,
    pub(crate) experiment: Experiment,
    pub(crate) reason: String,
    pub(crate) by: String,
    pub(crate) at: OffsetDateTime,
}

impl Decided {
    fn state(&self, key: &ChainKey) -> Hash {
        let mut digest = Subject::Warnings.state();
        digest.bytes(self.id.as_bytes());
        [&self.experiment.name, &self.reason, &self.by].iter().for_each(|text| digest.text(text));
        for Portion { variant, percent } in &self.experiment.portions {
            digest.text(variant);
            digest.int(i64::from(*percent));
        }
        digest.time(self.at);
        key.seal_digest(digest)
    }
}

struct Row {
    experiment_id: Uuid,
    name: String,
    variants: Vec<String>,
    percentages: Vec<i16>,
    reason: String,
    changed_by: String,
    changed_at: OffsetDateTime,
}

impl From<Row> for Decided {
    fn from(row: Row) -> Self {
        // A percentage that is none was altered, which its state shows.
        let percent = |it: i16| u8::try_from(it).unwrap_or(u8::MAX);
        let portions = row.variants.into_iter().zip(row.percentages);
        let portions = portions.map(|(variant, it)| Portion { variant, percent: percent(it) }).collect();
        let experiment = Experiment { name: row.name, portions };
        Self { id: row.experiment_id, experiment, reason: row.reason, by: row.changed_by, at: row.changed_at }
    }
}

/// The one that holds; `None` until an operator decides on one.
pub(crate) async fn present(db: &mut PgConnection) -> Result<Option<Decided>, sqlx::Error> {
    let row = sqlx::query_as!(Row, "select * from warning_experiment order by experiment_id desc limit 1");
    Ok(row.fetch_optional(db).await?.map(Decided::from))
}

pub(crate) async fn decide(db: &mut PgConnection, key: &ChainKey, decided: &Decided) -> Result<(), sqlx::Error> {
    let Decided { id, experiment: Experiment { name, portions }, reason, by, at } = decided;
    let (variants, percentages): (Vec<_>, Vec<_>) =
        portions.iter().map(|it| (it.variant.clone(), i16::from(it.percent))).unzip();
    let mut transaction = db.begin().await?;
    sqlx::query!(
        "insert into warning_experiment values ($1, $2, $3, $4, $5, $6, $7)",
        id,
        name,
        &variants,
        &percentages,
        reason,
        by,
        at,
    )
    .execute(&mut *transaction)
    .await?;
    let (action, actor, state) = ("set", by.clone(), Some(decided.state(key)));
    let change = Change { subject: Subject::Warnings, key: id.to_string(), action, actor, state };
    records::append(&mut transaction, key, change, *at).await?;
    transaction.commit().await
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
            where subject = 'warnings' and subject_key = e.experiment_id::text order by seq desc limit 1
        ) as r on true
        order by e.experiment_id
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let recorded = Recorded::new(row.is_recorded, row.state);
        let decided = Decided::from(Row {
            experiment_id: row.experiment_id,
            name: row.name,
            variants: row.variants,
            percentages: row.percentages,
            reason: row.reason,
            changed_by: row.changed_by,
            changed_at: row.changed_at,
        });
        visit(Covered { key: decided.id.to_string(), state: decided.state(key), recorded });
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
                count(*) filter (where event_type = 'warning_continued') as continued,
                count(*) filter (where event_type = 'fraud_help_opened') as helped
            from event
            where received_at >= $1 and details is not null
                and event_type in ('warning_shown', 'warning_stopped', 'warning_continued', 'fraud_help_opened')
            group by owner, split_part(details, ' ', 1)
        )
        select variant as "variant!", count(*) as "customers!", sum(shown)::bigint as "shown!",
            count(*) filter (where continued = 0) as "kept!", count(*) filter (where stopped > 0) as "stopped!",
            count(*) filter (where continued > 0 and helped > 0) as "regretted!"
        from customer where shown > 0 group by variant order by variant
        "#,
        since,
    )
    .fetch_all(db)
    .await
}
