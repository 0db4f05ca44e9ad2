//! Names of account holders that the bank vouches for.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::records::{self, Change, Subject};
use crate::domain::clabe::Clabe;
use crate::sealing::ChainKey;

/// Longest name. SPEI takes the first 39 characters.
pub(crate) const NAME_CHARS_MAX: usize = 120;

/// `None` for a user without a verified name.
pub(crate) async fn find(db: &mut PgConnection, owner: &str) -> Result<Option<String>, sqlx::Error> {
    let name = sqlx::query_scalar!("select holder_name from app_user where owner = $1", owner);
    Ok(name.fetch_optional(db).await?.flatten())
}

/// The verified name of the holder of an issued number: `None` if it was not issued, `Some(None)` if there is no such
/// name.
pub(crate) async fn find_issued(db: &mut PgConnection, number: Clabe) -> Result<Option<Option<String>>, sqlx::Error> {
    let name = sqlx::query_scalar!(
        r#"select u.holder_name as "name?" from account a left join app_user u using (owner) where a.issued = $1"#,
        number.body(),
    );
    name.fetch_optional(db).await
}

/// Works before the user's first account too.
pub(crate) async fn set(
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
        insert into app_user (owner, holder_name, created_at) values ($1, $2, $3)
        on conflict (owner) do update set holder_name = excluded.holder_name
        "#,
        owner,
        name,
        now,
    );
    set.execute(&mut *transaction).await?;
    records::append(&mut transaction, key, Change::new(Subject::Holder, owner, "set", by), now).await?;
    transaction.commit().await
}
