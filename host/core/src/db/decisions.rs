//! The decision log, from which decisions can be replayed.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::components::kind_of;
use super::deployments::{cut_offs_of, stored};
use crate::domain::model::ModelKind;
use crate::domain::risk::CutOffs;

#[derive(Debug, Clone)]
pub struct LoggedDecision {
    pub(crate) decision_id: Uuid,
    pub(crate) kind: ModelKind,
    pub(crate) model_version: String,
    /// By which the answer was judged.
    pub(crate) cut_offs: CutOffs,
    /// The transfer decided on, if any.
    pub(crate) transfer_id: Option<Uuid>,
    /// JSON.
    pub(crate) request: String,
    /// JSON.
    pub(crate) response: String,
    pub(crate) decided_at: OffsetDateTime,
}

/// Records all decisions or none. A later decision on the same transfer replaces the earlier one, since the ledger
/// decides again after a lost race.
pub(crate) async fn insert(db: &mut PgConnection, decisions: &[LoggedDecision]) -> Result<(), sqlx::Error> {
    let ids: Vec<_> = decisions.iter().map(|it| it.decision_id).collect();
    let kinds: Vec<_> = decisions.iter().map(|it| it.kind.as_str().to_owned()).collect();
    let versions: Vec<_> = decisions.iter().map(|it| it.model_version.clone()).collect();
    let requests: Vec<_> = decisions.iter().map(|it| it.request.clone()).collect();
    let responses: Vec<_> = decisions.iter().map(|it| it.response.clone()).collect();
    let (medium_from, high_from): (Vec<_>, Vec<_>) = decisions.iter().map(|it| stored(it.cut_offs)).unzip();
    let transfers: Vec<_> = decisions.iter().map(|it| it.transfer_id).collect();
    let times: Vec<_> = decisions.iter().map(|it| it.decided_at).collect();
    sqlx::query!(
        r#"
        insert into decision (decision_id, kind, model_version, request, response, decided_at, transfer_id, medium_from, high_from)
        select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::uuid[],
            $8::float8[], $9::float8[])
        on conflict (transfer_id) where transfer_id is not null do update
            set model_version = excluded.model_version, request = excluded.request, response = excluded.response,
                decided_at = excluded.decided_at
        "#,
        &ids,
        &kinds,
        &versions,
        &requests,
        &responses,
        &times,
        &transfers as &[Option<Uuid>],
        &medium_from as &[Option<f64>],
        &high_from as &[Option<f64>],
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Newest first, not before `since`.
pub async fn latest(
    db: &mut PgConnection,
    kind: ModelKind,
    since: OffsetDateTime,
    limit: i64,
) -> Result<Vec<LoggedDecision>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select decision_id, kind, model_version, medium_from, high_from, transfer_id, request, response, decided_at
        from decision where kind = $1 and decided_at >= $2
        order by decided_at desc, decision_id desc limit $3
        "#,
        kind.as_str(),
        since,
        limit,
    );
    let decision = rows.fetch_all(db).await?.into_iter().map(|row| {
        Ok(LoggedDecision {
            decision_id: row.decision_id,
            kind: kind_of(&row.kind)?,
            model_version: row.model_version,
            cut_offs: cut_offs_of(row.medium_from, row.high_from),
            transfer_id: row.transfer_id,
            request: row.request,
            response: row.response,
            decided_at: row.decided_at,
        })
    });
    decision.collect()
}

/// Deletes at most `limit` decisions and returns how many.
pub(crate) async fn delete_before(
    db: &mut PgConnection,
    before: OffsetDateTime,
    limit: i64,
) -> Result<u64, sqlx::Error> {
    let deleted = sqlx::query!(
        r#"
        delete from decision where decision_id in
            (select decision_id from decision where decided_at < $1 order by decided_at limit $2)
        "#,
        before,
        limit,
    );
    Ok(deleted.execute(db).await?.rows_affected())
}
