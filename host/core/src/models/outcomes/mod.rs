//! Compares decisions on risks with what became of their orders.

pub mod report;
pub mod row;

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::components::{self, named};
use crate::db::decisions::{Period, each_decision};
use crate::db::outcomes::by_subject;
use report::{OutcomeReport, Seen, Tally};
use row::LabelledRow;

/// How well the versions did that decided since then.
///
/// # Errors
/// When the database fails.
pub async fn report(
    db: &mut PgConnection,
    since: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<OutcomeReport, sqlx::Error> {
    let (stated, registered) = (by_subject(db).await?, components::list(db).await?);
    let mut tally = Tally::new(now);
    each_decision(db, Period::since(since), |decided_at, decision| {
        let statements = stated.get(&decision.subject).map(Vec::as_slice).unwrap_or_default();
        if let Some(seen) = Seen::of(decided_at, decision) {
            tally.add(&seen, statements);
        }
    })
    .await?;
    Ok(tally.report(|digest| named(digest, &registered)))
}

/// Visits the decisions on risks since then, each with what is known of its order now.
///
/// # Errors
/// When the database fails.
pub async fn each_row(
    db: &mut PgConnection,
    since: OffsetDateTime,
    now: OffsetDateTime,
    mut visit: impl FnMut(LabelledRow<'_>),
) -> Result<(), sqlx::Error> {
    let stated = by_subject(db).await?;
    each_decision(db, Period::since(since), |decided_at, decision| {
        let statements = stated.get(&decision.subject).map(Vec::as_slice).unwrap_or_default();
        if let Some(row) = LabelledRow::of(decided_at, decision, statements, now) {
            visit(row);
        }
    })
    .await
}
