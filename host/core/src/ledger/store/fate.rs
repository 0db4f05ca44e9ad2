//! Whether a batch was committed: inferred from the commit's error, or resolved in the database.

use sqlx::PgConnection;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use uuid::Uuid;

use super::contract::{CommitError, Fate};
use crate::db::barrier::write_barrier;
use crate::ledger::chain::{Header, Seal};

pub(super) fn classify(error: sqlx::Error) -> CommitError {
    let Some(database) = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>()) else {
        return match error {
            // Nothing was sent.
            sqlx::Error::Encode(_) | sqlx::Error::ColumnDecode { .. } => CommitError::Refused(error),
            // No reply: the commit may have happened.
            error => CommitError::Unknown(error),
        };
    };
    match (database.code(), database.constraint()) {
        (_, Some("ledger_batch_pkey")) => CommitError::LostChain,
        // Another writer was the first to write a version.
        (_, Some("batch_race")) => CommitError::LostRace,
        // Another writer was the first to use a number, an id or a key; a serialization failure; a deadlock.
        ("23505" | "40001" | "40P01", _) => CommitError::LostRace,
        // The session ended, before or after the commit: statement_completion_unknown, connection exceptions, operator
        // intervention.
        ("40003", _) => CommitError::Unknown(error),
        (code, _) if code.starts_with("08") || code.starts_with("57P") => CommitError::Unknown(error),
        _ if matches!(database.severity(), PgSeverity::Fatal | PgSeverity::Panic) => CommitError::Unknown(error),
        _ => CommitError::Refused(error),
    }
}

/// Resolves whether the batch `batch_id` was committed at the tombstone's sequence number.
///
/// Reading is not enough, because the commit may still be running. Inserting a tombstone at its sequence number waits
/// for it. If the insert succeeds, the batch can never commit; otherwise the existing row shows which batch did.
pub(super) async fn settle(db: &mut PgConnection, batch_id: Uuid, tombstone: &Seal) -> Result<Fate, sqlx::Error> {
    let Header { chain_id, seq, batch_id: tombstone_id, created_at, digests, prev_hash, .. } = &tombstone.header;
    sqlx::query!(
        r#"
        insert into ledger_batch (
            chain_id, seq, batch_id, created_at, digests, prev_hash, hash
        ) values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (chain_id, seq) do nothing
        "#,
        chain_id,
        seq,
        tombstone_id,
        created_at,
        digests.as_flattened(),
        &prev_hash[..],
        &tombstone.hash[..],
    )
    .execute(&mut *db)
    .await?;
    let found =
        sqlx::query_scalar!("select batch_id from ledger_batch where chain_id = $1 and seq = $2", chain_id, seq,)
            .fetch_one(&mut *db)
            .await?;
    // The row that was found may be a commit that no replica has: this server may have restarted while it waited.
    write_barrier(db).await?;
    Ok(match found {
        found if found == batch_id => Fate::Committed,
        found if found == *tombstone_id => Fate::Never,
        _ => Fate::LostChain,
    })
}
