//! What became of the warnings on the bank's page, from the analytics events of customers who consented.

use sqlx::PgConnection;
use time::OffsetDateTime;

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
