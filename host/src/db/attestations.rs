//! What vouches for components: signatures, and statements about their origin.

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::components::digest_of;
use super::records::{self, Change, Covered, Recorded, Subject};
use crate::domain::model::Digest;
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// The form of a signature of a component's bytes. Others are statements.
const SIGNATURE: &str = "signature";

/// A stored signature or statement.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) form: String,
    pub(crate) body: String,
    pub(crate) added_by: String,
    pub(crate) added_at: OffsetDateTime,
}

impl Stored {
    pub(crate) fn is_signature(&self) -> bool {
        self.form == SIGNATURE
    }

    fn state(&self, key: &ChainKey, component: Digest) -> Hash {
        let mut digest = Subject::Attestation.state();
        digest.bytes(&component.0);
        [&self.form, &self.body, &self.added_by].iter().for_each(|text| digest.text(text));
        digest.time(self.added_at);
        key.seal_digest(digest)
    }
}

/// Adds the signature of a component, or replaces an earlier one.
///
/// # Errors
/// When the database fails.
pub async fn sign(
    db: &mut PgConnection,
    key: &ChainKey,
    component: Digest,
    signature: &str,
    by: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let (form, body, added_by) = (SIGNATURE.to_owned(), signature.to_owned(), by.to_owned());
    add(db, key, component, Stored { form, body, added_by, added_at: now }).await
}

/// Adds a signature or statement, or replaces an earlier one of its form.
pub(crate) async fn add(
    db: &mut PgConnection,
    key: &ChainKey,
    component: Digest,
    new: Stored,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let saved = sqlx::query!(
        r#"
        insert into attestation as a (sha256, form, body, added_by, added_at) values ($1, $2, $3, $4, $5)
        on conflict (sha256, form) do update
            set body = excluded.body, added_by = excluded.added_by, added_at = excluded.added_at
            where a.body <> excluded.body
        "#,
        &component.0[..],
        new.form,
        new.body,
        new.added_by,
        new.added_at,
    );
    if saved.execute(&mut *transaction).await?.rows_affected() == 1 {
        let (subject, subject_key) = (Subject::Attestation, format!("{component}/{}", new.form));
        let (state, now) = (Some(new.state(key, component)), new.added_at);
        let change = Change { subject, key: subject_key, action: "attest", actor: new.added_by, state };
        records::append(&mut transaction, key, change, now).await?;
    }
    transaction.commit().await
}

/// The signature of a component, in base64.
pub(crate) async fn signature_of(db: &mut PgConnection, component: Digest) -> Result<Option<String>, sqlx::Error> {
    let body = sqlx::query_scalar!(
        "select body from attestation where sha256 = $1 and form = $2",
        &component.0[..],
        SIGNATURE,
    );
    body.fetch_optional(db).await
}

/// All there is about a component.
pub(crate) async fn list(db: &mut PgConnection, component: Digest) -> Result<Vec<Stored>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Stored,
        "select form, body, added_by, added_at from attestation where sha256 = $1 order by form",
        &component.0[..],
    );
    rows.fetch_all(db).await
}

/// Every row beside its last record.
pub(super) async fn covered(
    db: &mut PgConnection,
    key: &ChainKey,
    mut visit: impl FnMut(Covered),
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select a.sha256, a.form, a.body, a.added_by, a.added_at, r.seq is not null as "is_recorded!", r.state as "state?"
        from attestation a left join lateral (
            select seq, state from audit_record
            where subject = 'attestation' and subject_key = encode(a.sha256, 'hex') || '/' || a.form
            order by seq desc limit 1
        ) as r on true
        order by a.sha256, a.form
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let recorded = Recorded::new(row.is_recorded, row.state);
        let component = digest_of(&row.sha256)?;
        let stored = Stored { form: row.form, body: row.body, added_by: row.added_by, added_at: row.added_at };
        visit(Covered { key: format!("{component}/{}", stored.form), state: stored.state(key, component), recorded });
    }
    Ok(())
}
