//! Holds, read-only: the ledger writes them.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Position, unknown_text};
use crate::domain::hold::{Hold, OwnedHold, Status};
use crate::domain::money::Money;

/// A hold, and the transfer that captured it.
#[derive(Debug, Clone)]
pub struct StoredHold {
    pub hold: Hold,
    pub transfer_id: Option<Uuid>,
}

pub(crate) fn parse_status(status: &str) -> Result<Status, sqlx::Error> {
    Status::parse(status).ok_or_else(|| unknown_text("hold.status", status))
}

/// Newest first, after `position`.
pub async fn list_holds(
    db: &mut PgConnection,
    owner: &str,
    position: Option<Position>,
    limit: i64,
) -> Result<Vec<StoredHold>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select h.hold_id, h.owner, h.account_id, h.beneficiary_id, h.beneficiary_name, h.amount, h.status, h.expires_at,
            h.created_at, e.transfer_id as "transfer_id?"
        from hold h left join hold_end e using (hold_id)
        where h.owner = $1
            and (h.created_at, h.hold_id) < (
                coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
            )
        order by h.created_at desc, h.hold_id desc
        limit $4
        "#,
        owner,
        position.map(|position| position.created_at),
        position.map(|position| position.id),
        limit,
    );
    rows.fetch_all(db).await?.into_iter().map(Row::read).collect()
}

/// `None` if the hold does not exist or is another user's.
pub async fn find_hold(db: &mut PgConnection, owner: &str, hold_id: Uuid) -> Result<Option<StoredHold>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select h.hold_id, h.owner, h.account_id, h.beneficiary_id, h.beneficiary_name, h.amount, h.status, h.expires_at,
            h.created_at, e.transfer_id as "transfer_id?"
        from hold h left join hold_end e using (hold_id)
        where h.owner = $1 and h.hold_id = $2
        "#,
        owner,
        hold_id,
    );
    row.fetch_optional(db).await?.map(Row::read).transpose()
}

/// Of any user.
pub(crate) async fn find_all(db: &mut PgConnection, ids: &[Uuid]) -> Result<BTreeMap<Uuid, OwnedHold>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select hold_id, owner, account_id, beneficiary_id, beneficiary_name, amount, status, expires_at, created_at,
            null::uuid as transfer_id
        from hold where hold_id = any($1)
        "#,
        ids,
    );
    let owned = |row: Row| {
        let owner = row.owner.clone();
        Ok((row.hold_id, OwnedHold { owner, hold: row.read()?.hold }))
    };
    rows.fetch_all(db).await?.into_iter().map(owned).collect()
}

/// Open holds that have expired: hold and account.
pub(crate) async fn list_due(
    db: &mut PgConnection,
    now: OffsetDateTime,
    limit: i64,
) -> Result<Vec<(Uuid, Uuid)>, sqlx::Error> {
    let rows = sqlx::query!(
        "select hold_id, account_id from hold where status = 'placed' and expires_at <= $1 order by expires_at limit $2",
        now,
        limit,
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.hold_id, row.account_id)).collect())
}

struct Row {
    hold_id: Uuid,
    owner: String,
    account_id: Uuid,
    beneficiary_id: Uuid,
    beneficiary_name: String,
    amount: i64,
    status: String,
    expires_at: OffsetDateTime,
    created_at: OffsetDateTime,
    transfer_id: Option<Uuid>,
}

impl Row {
    fn read(self) -> Result<StoredHold, sqlx::Error> {
        let hold = Hold {
            hold_id: self.hold_id,
            account_id: self.account_id,
            beneficiary_id: self.beneficiary_id,
            beneficiary_name: self.beneficiary_name,
            amount: Money::from_minor(self.amount),
            status: parse_status(&self.status)?,
            expires_at: self.expires_at,
            created_at: self.created_at,
        };
        Ok(StoredHold { hold, transfer_id: self.transfer_id })
    }
}
