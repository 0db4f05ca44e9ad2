//! What versions do, minute by minute: counts that all hosts add up and that are kept for two days.

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::components::digest_of;
use crate::domain::model::{Digest, ModelKind};

/// A count of one version within a minute, or a longer step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) kind: ModelKind,
    pub(crate) digest: Digest,
    pub(crate) measure: String,
    pub(crate) bucket: i32,
    pub(crate) count: i64,
    /// When the step begins.
    pub(crate) at: OffsetDateTime,
}

/// Adds counts to the minute that `now` is in.
pub(crate) async fn add(
    db: &mut PgConnection,
    counts: &[(ModelKind, Digest, &'static str, i32, i64)],
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    // All hosts lock rows in the same order, so that they cannot deadlock.
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(kind, digest, measure, bucket, _)| (kind.as_str(), digest.0, *measure, *bucket));
    let kinds: Vec<_> = counts.iter().map(|it| it.0.as_str().to_owned()).collect();
    let digests: Vec<_> = counts.iter().map(|it| it.1.0.to_vec()).collect();
    let measures: Vec<_> = counts.iter().map(|it| it.2.to_owned()).collect();
    let buckets: Vec<_> = counts.iter().map(|it| it.3).collect();
    let numbers: Vec<_> = counts.iter().map(|it| it.4).collect();
    sqlx::query!(
        r#"
        insert into traffic as t (minute, kind, sha256, measure, bucket, count)
        select date_trunc('minute', $1::timestamptz), kind, sha256, measure, bucket, count
        from unnest($2::text[], $3::bytea[], $4::text[], $5::integer[], $6::bigint[])
            as n (kind, sha256, measure, bucket, count)
        on conflict (minute, kind, sha256, measure, bucket) do update set count = t.count + excluded.count
        "#,
        now,
        &kinds,
        &digests,
        &measures,
        &buckets,
        &numbers,
    )
    .execute(db)
    .await
    .map(drop)
}

/// The counts of a kind from a moment on, in steps of this many seconds.
pub(crate) async fn of_kind(
    db: &mut PgConnection,
    kind: ModelKind,
    from: OffsetDateTime,
    step: i64,
) -> Result<Vec<Count>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select to_timestamp(floor(extract(epoch from minute)::float8 / $3::float8) * $3::float8) as "at!", sha256, measure, bucket,
            sum(count)::bigint as "count!"
        from traffic where kind = $1 and minute >= $2
        group by 1, sha256, measure, bucket order by 1
        "#,
        kind.as_str(),
        from,
        step as f64,
    );
    let count = rows.fetch_all(db).await?.into_iter().map(|row| {
        let digest = digest_of(&row.sha256)?;
        Ok(Count { kind, digest, measure: row.measure, bucket: row.bucket, count: row.count, at: row.at })
    });
    count.collect()
}

/// Deletes what is older than `before`.
pub(crate) async fn delete_before(db: &mut PgConnection, before: OffsetDateTime) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from traffic where minute < $1", before).execute(db).await.map(drop)
}
