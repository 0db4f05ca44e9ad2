//! Reads the ledger's batches with their rows, in the order of their moments.

use std::collections::{BTreeMap, VecDeque};

use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::proof::{batches, rows};
use super::{origins, retired};
use crate::db::audit::Slice;
use crate::db::decisions;
use crate::db::session::read;
use crate::db::transfers::parse_status;
use crate::domain::transfer::Status;
use crate::ledger::chain::{ChainKey, Header, Seal};
use crate::sealing::PublicKey;
use crate::sealing::digest::Hash;

/// Batches of a chain that are read at once, and their rows: a few megabytes, so that many chains fit into memory.
const PAGE: (i64, i64) = (4_096, 10_000);

/// A batch is dated before it is decided, which takes at most so long, so one that it rests on may have a later date.
const DATED_APART_MAX: Duration = Duration::minutes(1);

/// Every batch up to when it was begun.
pub struct History {
    chains: Vec<Chain>,
    /// Chains end with the first batch that is later.
    until: Option<OffsetDateTime>,
    /// The keys that sealed closed chains.
    pub closed: BTreeMap<Uuid, PublicKey>,
}

struct Chain {
    chain_id: Uuid,
    stripe: i16,
    after: i64,
    end: i64,
    page: VecDeque<Seal>,
}

impl History {
    /// Of all batches, or of those before a time and the minute after it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn begin(db: &mut PgConnection, until: Option<OffsetDateTime>) -> Result<Self, sqlx::Error> {
        // In one snapshot: no batch then rests on one that is missing.
        read(db, async |db| {
            let mut chains = Vec::new();
            for announced in origins::all(db).await? {
                let (chain_id, stripe) = (announced.origin.chain_id, announced.origin.stripe);
                let end = batches::last(db, chain_id).await?.map_or(-1, |last| last.seq);
                chains.push(Chain { chain_id, stripe, after: -1, end, page: VecDeque::new() });
            }
            let closed = retired::closed(&retired::all(db).await?);
            let closed = closed.into_iter().map(|(chain_id, closed)| (chain_id, closed.fingerprint)).collect();
            let until = until.and_then(|until| until.checked_add(DATED_APART_MAX));
            Ok(Self { chains, until, closed })
        })
        .await
    }

    /// The next batch, and the stripe of its chain.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn next(&mut self, db: &mut PgConnection) -> Result<Option<(Seal, i16)>, sqlx::Error> {
        for chain in &mut self.chains {
            while chain.page.is_empty() && chain.after < chain.end {
                read(db, async |db| chain.read(db).await).await?;
            }
        }
        // Within a chain moments only grow, but for tombstones, which nothing rests on.
        let first = self.chains.iter_mut().filter(|chain| !chain.page.is_empty());
        let first = first.min_by_key(|chain| (chain.page.front().map(|seal| seal.header.moment), chain.chain_id));
        let Some(chain) = first else { return Ok(None) };
        let next = chain.page.pop_front().map(|seal| (seal, chain.stripe));
        let is_last = next.as_ref().is_some_and(|(seal, _)| self.until.is_some_and(|it| seal.header.created_at >= it));
        if is_last {
            (chain.after, chain.page) = (chain.end, VecDeque::new());
        }
        Ok(next)
    }
}

impl Chain {
    async fn read(&mut self, db: &mut PgConnection) -> Result<(), sqlx::Error> {
        let Self { chain_id, after, end, .. } = *self;
        let batches = batches::next(db, (chain_id, after, end), PAGE).await?;
        let last = batches.last().map_or(end, |last| last.seq);
        let mut rows = rows::read(db, &Slice { chain_id, after, last }).await?;
        let mut kept = decisions::of_slice(db, (chain_id, after, last)).await?;
        for row in batches {
            let (header, hash) = row.sealed()?;
            let (rows, kept) = (rows.remove(&row.seq), kept.remove(&row.seq));
            let (rows, (_, kept)) = (rows.unwrap_or_default(), kept.unwrap_or((header.created_at, Vec::new())));
            self.page.push_back(Seal { header, hash, rows, kept });
        }
        self.after = last;
        Ok(())
    }
}

/// A batch without its rows, and the decisions that are kept of it.
///
/// # Errors
/// When the database fails.
pub async fn batch(
    db: &mut PgConnection,
    (chain_id, seq): (Uuid, i64),
) -> Result<Option<((Header, Hash), Vec<u8>)>, sqlx::Error> {
    let found = batches::next(db, (chain_id, seq - 1, seq), PAGE).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let kept = decisions::of_slice(db, (chain_id, seq - 1, seq)).await?.remove(&seq);
    Ok(Some((row.sealed()?, kept.map(|(_, kept)| kept).unwrap_or_default())))
}

/// The second status of a transfer, if a batch gave it one and its rows are as they were sealed.
///
/// # Errors
/// When the database fails.
pub async fn second_status(
    db: &mut PgConnection,
    key: &ChainKey,
    (chain_id, seq): (Uuid, i64),
    transfer_id: Uuid,
) -> Result<Option<Status>, sqlx::Error> {
    let Some(((header, hash), _)) = batch(db, (chain_id, seq)).await? else { return Ok(None) };
    let rows = rows::read(db, &Slice { chain_id, after: seq - 1, last: seq }).await?.remove(&seq).unwrap_or_default();
    if key.hash(&header) != hash || rows.digests() != header.digests {
        return Ok(None);
    }
    let row = rows.statuses.iter().find(|row| row.transfer_id == transfer_id && row.ordinal == 1);
    row.map(|row| parse_status(&row.status)).transpose()
}
