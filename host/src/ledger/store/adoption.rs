//! What the first host with the key found and could not prove, as it wrote it down.

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::codec::hash_from_bytes;
use super::origins::HOST;
use crate::db::records::{self, Change, Covered, Recorded, Subject};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// The key of the only record about it.
const LEDGER: &str = "ledger";

/// What was trusted without proof: nothing in a new database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    pub at: OffsetDateTime,
    pub chains: i64,
    /// Batches without a hash.
    pub batches: i64,
    /// Customers' accounts that no batch opened.
    pub accounts: i64,
    pub(super) accounts_digest: Hash,
    pub beneficiaries: i64,
    /// Users with limits of their own.
    pub limits: i64,
    pub components: i64,
    pub deployments: i64,
}

impl Adoption {
    /// Whether there was nothing to trust.
    pub fn is_empty(&self) -> bool {
        let Self { chains, batches, accounts, beneficiaries, limits, components, deployments, .. } = self;
        [chains, batches, accounts, beneficiaries, limits, components, deployments].iter().all(|count| **count == 0)
    }

    pub(super) fn change(&self, key: &ChainKey) -> Change {
        let (key_of, actor, state) = (LEDGER.to_owned(), HOST.to_owned(), Some(self.state(key)));
        Change { subject: Subject::Adoption, key: key_of, action: "adopt", actor, state }
    }

    fn state(&self, key: &ChainKey) -> Hash {
        let mut digest = Subject::Adoption.state();
        digest.time(self.at);
        digest.int(self.chains);
        digest.int(self.batches);
        digest.int(self.accounts);
        digest.bytes(&self.accounts_digest);
        [self.beneficiaries, self.limits, self.components, self.deployments].iter().for_each(|it| digest.int(*it));
        key.seal_digest(digest)
    }
}

pub(super) async fn insert(db: &mut PgConnection, adoption: &Adoption) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        insert into adoption (adopted_at, chains, batches, accounts, accounts_digest, beneficiaries, limits, components,
            deployments)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        "#,
        adoption.at,
        adoption.chains,
        adoption.batches,
        adoption.accounts,
        &adoption.accounts_digest[..],
        adoption.beneficiaries,
        adoption.limits,
        adoption.components,
        adoption.deployments,
    )
    .execute(db)
    .await
    .map(drop)
}

/// The adoption beside its record; `None` if no host with the key ever came.
pub(super) async fn recorded(
    db: &mut PgConnection,
    key: &ChainKey,
) -> Result<Option<(Adoption, Covered)>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select adopted_at, chains, batches, accounts, accounts_digest, beneficiaries, limits, components, deployments
        from adoption
        "#
    );
    let Some(row) = row.fetch_optional(&mut *db).await? else { return Ok(None) };
    let adoption = Adoption {
        at: row.adopted_at,
        chains: row.chains,
        batches: row.batches,
        accounts: row.accounts,
        accounts_digest: hash_from_bytes(row.accounts_digest)?,
        beneficiaries: row.beneficiaries,
        limits: row.limits,
        components: row.components,
        deployments: row.deployments,
    };
    let record = records::find(db, key, Subject::Adoption, LEDGER).await?;
    let recorded = record.map_or(Recorded::Never, |record| Recorded::new(true, record.state));
    let covered = Covered { key: LEDGER.to_owned(), state: adoption.state(key), recorded };
    Ok(Some((adoption, covered)))
}
