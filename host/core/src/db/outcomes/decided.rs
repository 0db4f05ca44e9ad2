//! The decisions that outcomes are about.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::domain::decision::Decision;

/// Visits the decisions of a period with the times of their batches.
///
/// # Errors
/// When the database fails.
pub async fn each_decision(
    // Until decisions are kept with their batches there are none.
    _db: &mut PgConnection,
    _period: (OffsetDateTime, OffsetDateTime),
    _visit: impl FnMut(OffsetDateTime, &Decision),
) -> Result<(), sqlx::Error> {
    Ok(())
}
