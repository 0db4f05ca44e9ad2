//! Locks rows before they are read, for a batch that lost a race.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::ledger::batch::Row;

/// In the order of [`Row`].
pub(super) async fn rows(db: &mut PgConnection, rows: impl IntoIterator<Item = Row>) -> Result<(), sqlx::Error> {
    let (mut accounts, mut stripes, mut owners) = (Vec::<Uuid>::new(), Vec::<i16>::new(), Vec::<String>::new());
    for row in rows {
        match row {
            Row::Balance((account, stripe)) => {
                accounts.push(account);
                stripes.push(stripe);
            }
            Row::User(owner) => owners.push(owner),
        }
    }
    if !accounts.is_empty() {
        sqlx::query!(
            r#"
            select b.account_id
            from account_balance b
            join unnest($1::uuid[], $2::smallint[]) as k (account_id, stripe) using (account_id, stripe)
            where b.account_id = any($1)
            order by b.account_id, b.stripe
            for no key update of b
            "#,
            &accounts,
            &stripes,
        )
        .fetch_all(&mut *db)
        .await?;
    }
    if !owners.is_empty() {
        let users =
            sqlx::query!("select owner from app_user where owner = any($1) order by owner for no key update", &owners);
        users.fetch_all(db).await?;
    }
    Ok(())
}
