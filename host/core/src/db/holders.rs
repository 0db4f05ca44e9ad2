//! Names of account holders that the bank vouches for.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::limits::Limits;
use super::records::{self, Change, Subject};
use crate::domain::clabe::Clabe;
use crate::sealing::ChainKey;

/// Longest name. SPEI takes the first 39 characters.
pub const NAME_CHARS_MAX: usize = 120;

/// Whether a user's name, or its absence, is as the last record says.
pub(super) fn is_recorded(key: &ChainKey, owner: &str, content: Option<&str>, recorded: Option<&[u8]>) -> bool {
    records::is_recorded(key, (Subject::Holder, owner), content, recorded)
}

/// `None` for a user without a verified name.
pub async fn find(db: &mut PgConnection, owner: &str) -> Result<Option<String>, sqlx::Error> {
    let name = sqlx::query_scalar!("select holder_name from app_user where owner = $1", owner);
    Ok(name.fetch_optional(db).await?.flatten())
}

/// The verified name of the holder of an issued number: `None` if it was not issued, `Some(None)` if there is no such
/// name, or somebody altered it.
pub async fn find_issued(
    db: &mut PgConnection,
    key: &ChainKey,
    number: Clabe,
) -> Result<Option<Option<String>>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select a.owner as "owner!", u.holder_name as "name?",
            case when u.holder_name is not null then
                jsonb_build_object('owner', u.owner, 'holder_name', u.holder_name)::text
            end as content, (
                select state from audit_record where subject = 'holder' and subject_key = a.owner order by seq desc limit 1
            ) as recorded
        from account a left join app_user u using (owner) where a.issued = $1
        "#,
        number.body(),
    );
    Ok(row.fetch_optional(db).await?.map(|row| {
        let is_recorded = is_recorded(key, &row.owner, row.content.as_deref(), row.recorded.as_deref());
        row.name.filter(|_| is_recorded)
    }))
}

/// Works before the user's first account too.
pub async fn set(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    name: &str,
    by: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let set = sqlx::query!(
        r#"
        insert into app_user (owner, holder_name, limits_seal, created_at) values ($1, $2, $3, $4)
        on conflict (owner) do update set holder_name = excluded.holder_name
        "#,
        owner,
        name,
        &Limits::default().seal(key, owner)[..],
        now,
    );
    set.execute(&mut *transaction).await?;
    records::append(&mut transaction, key, Change::new(Subject::Holder, owner, "set", by), now).await?;
    transaction.commit().await
}
