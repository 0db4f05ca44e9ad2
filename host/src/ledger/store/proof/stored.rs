//! Compares stored rows with the digests in the headers of their batches.

use futures_util::{Stream, TryStreamExt as _};
use uuid::Uuid;

use super::report::{Place, Proof};
use crate::ledger::rows::Row;
use crate::ledger::store::codec::digests_from_bytes;
use crate::sealing::digest::{Digest, Hash};

/// A row and its batch. A batch without rows in a table comes once, without a row.
pub(super) struct Stored<R> {
    pub(super) chain_id: Uuid,
    pub(super) seq: i64,
    /// `None` for a row of a batch that is not there.
    pub(super) digests: Option<Vec<u8>>,
    pub(super) row: Option<R>,
}

/// Compares the rows of the table at `place` in the digests. They arrive ordered by batch.
pub(super) async fn compare<R: Row>(
    mut rows: impl Stream<Item = Result<Stored<R>, sqlx::Error>> + Unpin,
    place: usize,
    proof: &mut Proof,
) -> Result<(), sqlx::Error> {
    let mut batch: Option<(Place, Hash, Digest)> = None;
    while let Some(Stored { chain_id, seq, digests, row }) = rows.try_next().await? {
        proof.watch.row(R::table());
        if batch.as_ref().is_none_or(|(current, ..)| *current != (chain_id, seq)) {
            finish::<R>(batch.take(), proof);
            let Some(digests) = digests else {
                proof.add((chain_id, seq), format!("it is not there, but {} rows of it are", R::table()));
                continue;
            };
            let expected = digests_from_bytes(&digests)[place];
            batch = Some(((chain_id, seq), expected, Digest::new(R::table().as_bytes())));
        }
        if let (Some((_, _, digest)), Some(row)) = (&mut batch, row) {
            row.add_to(digest);
        }
    }
    finish::<R>(batch, proof);
    Ok(())
}

fn finish<R: Row>(batch: Option<(Place, Hash, Digest)>, proof: &mut Proof) {
    let Some((place, expected, digest)) = batch else { return };
    if digest.finish() != expected {
        proof.add(place, format!("its {} rows were altered", R::table()));
    }
}
