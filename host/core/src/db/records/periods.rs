//! Which key sealed which audit records.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use uuid::Uuid;

use crate::sealing::{ChainKey, Keyring};

/// The last record that each retired key sealed in each chain, in order.
pub(super) struct Periods(BTreeMap<Uuid, Vec<Period>>);

struct Period {
    last: i64,
    fingerprint: Vec<u8>,
    /// Of the last record, if the rotation pinned it; what follows in the first chain links to it at once.
    hash: Option<Vec<u8>>,
}

impl Periods {
    pub(super) async fn load(db: &mut PgConnection) -> Result<Self, sqlx::Error> {
        let rows = sqlx::query!(
            r#"
            select '00000000-0000-0000-0000-000000000000'::uuid as "chain_id!", last_record as "last!",
                fingerprint as "fingerprint!", null::bytea as hash
            from retired_key
            union all select chain_id, seq, fingerprint, hash from retired_chain
            order by 1, 2
            "#
        );
        let mut periods: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in rows.fetch_all(db).await? {
            let period = Period { last: row.last, fingerprint: row.fingerprint, hash: row.hash };
            periods.entry(row.chain_id).or_default().push(period);
        }
        Ok(Self(periods))
    }

    fn of(&self, chain_id: Uuid, seq: i64) -> Option<&Period> {
        let periods = self.0.get(&chain_id)?;
        periods.get(periods.partition_point(|period| period.last < seq))
    }

    /// The key of a record; `None` if it is retired and was not given.
    pub(super) fn key<'a>(&self, chain_id: Uuid, seq: i64, keys: &'a Keyring) -> Option<&'a ChainKey> {
        match self.of(chain_id, seq) {
            Some(period) => keys.find(&period.fingerprint),
            None => Some(keys.present()),
        }
    }

    /// Whether a record is another than the one that a retired key sealed last.
    pub(super) fn differs(&self, chain_id: Uuid, seq: i64, hash: &[u8]) -> bool {
        let pinned = self.of(chain_id, seq).filter(|period| period.last == seq).and_then(|period| period.hash.as_ref());
        pinned.is_some_and(|pinned| pinned != hash)
    }

    /// Whether a chain that ends with this record ends before a retired key's last one.
    pub(super) fn is_cut(&self, chain_id: Uuid, seq: i64) -> bool {
        self.of(chain_id, seq + 1).is_some()
    }
}
