//! Compares the decisions that are kept with the batches that rest on them.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::report::Proof;
use crate::db::audit::Slice;
use crate::db::decisions;
use crate::decision::kept;
use crate::sealing::digest::Hash;
use crate::sealing::merkle;

/// What a batch says of its decisions.
pub(super) struct Sealed {
    pub(super) root: Vec<u8>,
    pub(super) created_at: OffsetDateTime,
}

/// Decisions are deleted when they are old, the oldest first: those of a batch may be gone if no older ones are there.
pub(super) async fn verify(
    db: &mut PgConnection,
    slice: &Slice,
    mut batches: BTreeMap<i64, Sealed>,
    proof: &mut Proof,
) -> Result<(), sqlx::Error> {
    let Slice { chain_id, after, last } = *slice;
    let none: Hash = merkle::root(&[]);
    batches.retain(|_, sealed| sealed.root != none);
    for (seq, (created_at, bytes)) in decisions::of_slice(db, (chain_id, after, last)).await? {
        proof.watch.row("decision");
        let root = kept::decode(&bytes).map(|(decisions, salt)| kept::root(&decisions, salt));
        let is_sealed = batches
            .remove(&seq)
            .is_some_and(|sealed| root.is_some_and(|root| sealed.root == root) && sealed.created_at == created_at);
        if !is_sealed {
            proof.add((chain_id, seq), "its decisions were altered");
        }
    }
    let Some(latest) = batches.values().map(|sealed| sealed.created_at).max() else { return Ok(()) };
    let oldest = sqlx::query_scalar!("select min(created_at) from decision where created_at < $1", latest);
    let Some(oldest) = oldest.fetch_one(db).await? else { return Ok(()) };
    for (seq, _) in batches.into_iter().filter(|(_, sealed)| sealed.created_at > oldest) {
        proof.add((chain_id, seq), "its decisions are gone, though older ones are kept");
    }
    Ok(())
}
