//! Reads the ledger back, batch by batch, and compares it with the chain of hashes.
//!
//! Each table is read once in the order of its batches; nothing is kept but what one batch hashes to.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::chain::{
    AccountRow, ChainKey, Counts, Digest, Digests, EntryRow, Hash, Header, KeyRow, Row, StatusRow, TransferRow,
};
use super::super::writer::to_hash;
use super::columns::rejection_json;
use super::lookup::parse_rejection;

/// Something that does not fit the chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Break {
    /// The chain.
    pub chain_id: Uuid,
    /// The batch.
    pub seq: i64,
    /// What is wrong with it.
    pub what: &'static str,
}

/// The end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of its last batch.
    pub seq: i64,
    /// That one's hash; none in a batch older than the chain of hashes.
    pub hash: Option<Hash>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Proof {
    /// In the order of chains and numbers.
    pub breaks: Vec<Break>,
    /// The end of each chain.
    pub heads: BTreeMap<Uuid, Head>,
    /// Batches that are older than the chain of hashes: nothing can be said about them.
    pub unchained: i64,
}

/// A batch that was there once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The chain.
    pub chain_id: Uuid,
    /// The batch.
    pub seq: i64,
}

/// Where the chains end at the moment.
///
/// # Errors
/// When the database fails.
pub async fn heads(db: &mut PgConnection) -> Result<BTreeMap<Uuid, Head>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select w.chain_id, b.seq, b.hash
        from ledger_writer w
        cross join lateral (select seq, hash from ledger_batch b where b.chain_id = w.chain_id order by seq desc limit 1) b
        "#
    );
    let mut heads = BTreeMap::new();
    for row in rows.fetch_all(db).await? {
        heads.insert(row.chain_id, Head { seq: row.seq, hash: row.hash.map(to_hash).transpose()? });
    }
    Ok(heads)
}

/// Which of the noted ends of chains are not there any more, or are other batches now.
///
/// # Errors
/// When the database fails.
pub async fn missing(db: &mut PgConnection, noted: &BTreeMap<Uuid, Head>) -> Result<Vec<Missing>, sqlx::Error> {
    let mut missing = Vec::new();
    for (&chain_id, head) in noted {
        let hash =
            sqlx::query_scalar!("select hash from ledger_batch where chain_id = $1 and seq = $2", chain_id, head.seq);
        let found = hash.fetch_optional(&mut *db).await?.flatten().map(to_hash).transpose()?;
        if found != head.hash {
            missing.push(Missing { chain_id, seq: head.seq });
        }
    }
    Ok(missing)
}

/// Breaks that are told; a ledger with more is beyond counting.
const BREAKS_MAX: usize = 100;

/// Compares everything with the chain. Run it in a repeatable-read transaction.
///
/// # Errors
/// When the database fails.
pub async fn prove(db: &mut PgConnection, key: &ChainKey) -> Result<Proof, sqlx::Error> {
    let mut proof = Proof::default();
    batches(db, key, &mut proof).await?;
    accounts(db, &mut proof).await?;
    transfers(db, &mut proof).await?;
    entries(db, &mut proof).await?;
    statuses(db, &mut proof).await?;
    keys(db, &mut proof).await?;
    proof.breaks.sort();
    proof.breaks.dedup();
    Ok(proof)
}

impl Proof {
    fn add(&mut self, (chain_id, seq): Place, what: &'static str) {
        if self.breaks.len() < BREAKS_MAX {
            self.breaks.push(Break { chain_id, seq, what });
        }
    }
}

type Place = (Uuid, i64);

async fn batches(db: &mut PgConnection, key: &ChainKey, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select chain_id, seq, batch_id, created_at, users_meant, balances_meant, transfers_meant, moves_meant,
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, accounts_digest, transfers_digest,
            entries_digest, statuses_digest, keys_digest, prev_hash, hash
        from ledger_batch order by chain_id, seq
        "#
    )
    .fetch(db);
    // The chain, its last number and what the next one has to point at.
    let mut last: Option<(Uuid, Head)> = None;
    while let Some(row) = rows.try_next().await? {
        let place = (row.chain_id, row.seq);
        let before = last.filter(|(chain_id, _)| *chain_id == row.chain_id).map(|(_, head)| head);
        if row.seq != before.map_or(0, |head| head.seq + 1) {
            proof.add(place, "a batch before it is missing");
        }
        let digests =
            (row.accounts_digest, row.transfers_digest, row.entries_digest, row.statuses_digest, row.keys_digest);
        let hash = match (digests, row.prev_hash, row.hash) {
            (
                (Some(accounts), Some(transfers), Some(entries), Some(statuses), Some(keys)),
                Some(prev_hash),
                Some(hash),
            ) => {
                let header = Header {
                    chain_id: row.chain_id,
                    seq: row.seq,
                    batch_id: row.batch_id,
                    created_at: row.created_at,
                    counts: Counts {
                        users: row.users_meant,
                        balances: row.balances_meant,
                        transfers: row.transfers_meant,
                        moves: row.moves_meant,
                        statuses: row.statuses_meant,
                        entries: row.entries_meant,
                        keys: row.keys_meant,
                        debits: row.debits,
                    },
                    transfer_ids: row.transfer_ids,
                    digests: Digests {
                        accounts: to_hash(accounts)?,
                        transfers: to_hash(transfers)?,
                        entries: to_hash(entries)?,
                        statuses: to_hash(statuses)?,
                        keys: to_hash(keys)?,
                    },
                    prev_hash: to_hash(prev_hash)?,
                };
                let hash = to_hash(hash)?;
                let expected = before.and_then(|head| head.hash).unwrap_or_else(|| key.genesis(row.chain_id, row.seq));
                if header.prev_hash != expected {
                    proof.add(place, "it does not continue the batch before it");
                }
                if key.hash(&header) != hash {
                    proof.add(place, "its row of ledger_batch is not the one that was written");
                }
                Some(hash)
            }
            _ => {
                if before.is_some_and(|head| head.hash.is_some()) {
                    proof.add(place, "it has no hash");
                }
                proof.unchained += 1;
                None
            }
        };
        let head = Head { seq: row.seq, hash };
        proof.heads.insert(row.chain_id, head);
        last = Some((row.chain_id, head));
    }
    Ok(())
}

/// Rows of one table as they come, batch by batch; compares each batch's digest.
struct Rows {
    what: &'static str,
    table: &'static [u8],
    open: Option<(Place, Option<Hash>, Digest)>,
}

impl Rows {
    fn of<R: Row>(what: &'static str) -> Self {
        Self { what, table: R::TABLE, open: None }
    }

    /// A row, or that a batch has none in this table.
    fn add(
        &mut self,
        proof: &mut Proof,
        place: Place,
        expected: Option<Vec<u8>>,
        row: Option<&impl Row>,
    ) -> Result<(), sqlx::Error> {
        if self.open.as_ref().is_none_or(|(open, ..)| *open != place) {
            self.close(proof);
            self.open = Some((place, expected.map(to_hash).transpose()?, Digest::new(self.table)));
        }
        if let (Some((_, _, digest)), Some(row)) = (&mut self.open, row) {
            row.add_to(digest);
        }
        Ok(())
    }

    fn close(&mut self, proof: &mut Proof) {
        let Some((place, Some(expected), digest)) = self.open.take() else { return };
        if digest.finish() != expected {
            proof.add(place, self.what);
        }
    }
}

async fn accounts(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Rows::of::<AccountRow<'_>>("rows of account are not the ones that it wrote");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.accounts_digest as digest, a.account_id as "account_id?", a.owner,
            a.account_number as "account_number?", a.number_key as "number_key?", a.account_type as "account_type?",
            a.created_at as "created_at?"
        from ledger_batch b left join account a using (chain_id, seq)
        where b.hash is not null
        order by b.chain_id, b.seq, a.account_id
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let (owner, number) = (row.owner.unwrap_or_default(), row.account_number.unwrap_or_default());
        let (number_key, account_type) = (row.number_key.unwrap_or_default(), row.account_type.unwrap_or_default());
        let account = row.account_id.zip(row.created_at).map(|(account_id, created_at)| AccountRow {
            account_id,
            owner: &owner,
            account_number: &number,
            number_key: &number_key,
            account_type: &account_type,
            created_at,
        });
        table.add(proof, (row.chain_id, row.seq), row.digest, account.as_ref())?;
    }
    table.close(proof);
    Ok(())
}

async fn transfers(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Rows::of::<TransferRow<'_>>("rows of transfer are not the ones that it wrote");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.transfers_digest as digest, t.transfer_id as "transfer_id?", t.kind as "kind?",
            t.owner as "owner?", t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?",
            t.amount as "amount?", t.beneficiary_id, t.beneficiary_name, t.beneficiary_bank,
            t.beneficiary_account_number, t.payee_key, t.spei_reference, t.rail, t.returns,
            t.created_at as "created_at?"
        from ledger_batch b left join transfer t using (chain_id, seq)
        where b.hash is not null
        order by b.chain_id, b.seq, t.transfer_id
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let transfer = match (row.transfer_id, row.debit_account_id, row.credit_account_id, row.amount, row.created_at)
        {
            (Some(transfer_id), Some(debit_account_id), Some(credit_account_id), Some(amount), Some(created_at)) => {
                Some(TransferRow {
                    transfer_id,
                    kind: row.kind.as_deref().unwrap_or_default(),
                    owner: row.owner.as_deref().unwrap_or_default(),
                    debit_account_id,
                    credit_account_id,
                    amount,
                    beneficiary_id: row.beneficiary_id,
                    beneficiary_name: row.beneficiary_name.as_deref(),
                    beneficiary_bank: row.beneficiary_bank.as_deref(),
                    beneficiary_account_number: row.beneficiary_account_number.as_deref(),
                    payee_key: row.payee_key.as_deref(),
                    spei_reference: row.spei_reference.as_deref(),
                    rail: row.rail.as_deref(),
                    returns: row.returns,
                    created_at,
                })
            }
            _ => None,
        };
        table.add(proof, (row.chain_id, row.seq), row.digest, transfer.as_ref())?;
    }
    table.close(proof);
    Ok(())
}

async fn entries(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Rows::of::<EntryRow>("rows of entry are not the ones that it wrote");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.entries_digest as digest, e.account_id as "account_id?", e.stripe as "stripe?",
            e.version as "version?", e.transfer_id as "transfer_id?", e.delta as "delta?",
            e.balance_after as "balance_after?", e.created_at as "created_at?"
        from ledger_batch b left join entry e using (chain_id, seq)
        where b.hash is not null
        order by b.chain_id, b.seq, e.account_id, e.stripe, e.version
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let key = row.account_id.zip(row.stripe).zip(row.version).zip(row.transfer_id);
        let values = row.delta.zip(row.balance_after).zip(row.created_at);
        let entry = key.zip(values).map(
            |((((account_id, stripe), version), transfer_id), ((delta, balance_after), created_at))| EntryRow {
                account_id,
                stripe,
                version,
                transfer_id,
                delta,
                balance_after,
                created_at,
            },
        );
        table.add(proof, (row.chain_id, row.seq), row.digest, entry.as_ref())?;
    }
    table.close(proof);
    Ok(())
}

async fn statuses(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Rows::of::<StatusRow<'_>>("rows of transfer_event are not the ones that it wrote");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.statuses_digest as digest, v.transfer_id as "transfer_id?", v.ordinal as "ordinal?",
            v.status as "status?", v.reason, v.created_at as "created_at?"
        from ledger_batch b left join transfer_event v using (chain_id, seq)
        where b.hash is not null
        order by b.chain_id, b.seq, v.transfer_id, v.ordinal
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let key = row.transfer_id.zip(row.ordinal).zip(row.created_at);
        let event = key.map(|((transfer_id, ordinal), created_at)| StatusRow {
            transfer_id,
            ordinal,
            status: row.status.as_deref().unwrap_or_default(),
            reason: row.reason.as_deref(),
            created_at,
        });
        table.add(proof, (row.chain_id, row.seq), row.digest, event.as_ref())?;
    }
    table.close(proof);
    Ok(())
}

async fn keys(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut table = Rows::of::<KeyRow<'_>>("rows of idempotency are not the ones that it wrote");
    let mut rows = sqlx::query!(
        r#"
        select b.chain_id, b.seq, b.keys_digest as digest, i.owner as "owner?", i.key as "key?",
            i.fingerprint as "fingerprint?", i.transfer_id, i.rejection, i.created_at as "created_at?"
        from ledger_batch b left join idempotency i using (chain_id, seq)
        where b.hash is not null
        order by b.chain_id, b.seq, i.owner collate "C", i.key collate "C"
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let place = (row.chain_id, row.seq);
        let rejection = row.rejection.as_ref().map(parse_rejection).transpose();
        let rejection = rejection.unwrap_or_default();
        // What else stands in the column would not be in the digest.
        if row.rejection != rejection.as_deref().map(rejection_json) {
            proof.add(place, table.what);
        }
        let fingerprint = row.fingerprint.unwrap_or_default();
        let (owner, key) = (row.owner.unwrap_or_default(), row.key.unwrap_or_default());
        let answer = row.created_at.map(|created_at| KeyRow {
            owner: &owner,
            key: &key,
            fingerprint: &fingerprint,
            transfer_id: row.transfer_id,
            rejection: rejection.as_deref(),
            created_at,
        });
        table.add(proof, place, row.digest, answer.as_ref())?;
    }
    table.close(proof);
    Ok(())
}
