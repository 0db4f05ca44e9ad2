//! Names of account holders that the bank vouches for.

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::records::{self, Change, Covered, Recorded, Subject};
use crate::domain::clabe::Clabe;
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// Longest name. SPEI takes the first 39 characters.
pub(crate) const NAME_CHARS_MAX: usize = 120;

fn state(key: &ChainKey, owner: &str, name: &str) -> Hash {
    let mut digest = Subject::Holder.state();
    [owner, name].iter().for_each(|text| digest.text(text));
    key.seal_digest(digest)
}

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
    let state = Some(state(key, owner, name));
    let (action, actor) = ("set", by.to_owned());
    let change = Change { subject: Subject::Holder, key: owner.to_owned(), action, actor, state };
    records::append(&mut transaction, key, change, now).await?;
    transaction.commit().await
}

/// Every name, or only those of these users, beside their last record.
pub(super) async fn covered(
    db: &mut PgConnection,
    key: &ChainKey,
    only: Option<&[String]>,
    mut visit: impl FnMut(Covered),
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select u.owner, u.holder_name as "name!", r.seq is not null as "is_recorded!", r.state as "state?"
        from app_user u left join lateral (
            select seq, state from audit_record
            where subject = 'holder' and subject_key = u.owner order by seq desc limit 1
        ) as r on true
        where u.holder_name is not null and ($1::text[] is null or u.owner = any($1))
        order by u.owner
        "#,
        only,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let state = state(key, &row.owner, &row.name);
        visit(Covered { key: row.owner, state, recorded: Recorded::new(row.is_recorded, row.state) });
    }
    Ok(())
}
