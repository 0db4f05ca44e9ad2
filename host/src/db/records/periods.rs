//! Which key sealed which audit records.

use sqlx::PgConnection;

use crate::sealing::{ChainKey, Keyring};

/// The last record that each retired key sealed, and the key's fingerprint.
pub(super) struct Periods(Vec<(i64, Vec<u8>)>);

impl Periods {
    pub(super) async fn load(db: &mut PgConnection) -> Result<Self, sqlx::Error> {
        let rows = sqlx::query!("select last_record, fingerprint from retired_key order by last_record");
        Ok(Self(rows.fetch_all(db).await?.into_iter().map(|row| (row.last_record, row.fingerprint)).collect()))
    }

    /// The key of a record; `None` if it is retired and was not given.
    pub(super) fn key<'a>(&self, seq: i64, keys: &'a Keyring) -> Option<&'a ChainKey> {
        match self.0.get(self.0.partition_point(|(last, _)| *last < seq)) {
            Some((_, fingerprint)) => keys.find(fingerprint),
            None => Some(keys.present()),
        }
    }
}
