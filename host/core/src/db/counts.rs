//! Counts of what versions do, to which every host adds: by deployment in `comparison`; minute by minute, for two days,
//! in `traffic`.

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::components::digest_of;
use crate::domain::model::{Digest, ModelKind};

/// A count of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count<At> {
    pub(crate) kind: ModelKind,
    /// The epoch of a deployment, or a moment.
    pub at: At,
    pub digest: Digest,
    pub measure: String,
    /// Bucket of the measure's histogram.
    pub bucket: i32,
    pub count: i64,
}

struct Columns<At> {
    kinds: Vec<String>,
    at: Vec<At>,
    digests: Vec<Vec<u8>>,
    measures: Vec<String>,
    buckets: Vec<i32>,
    counts: Vec<i64>,
}

impl<At: Copy + Ord> Columns<At> {
    /// All hosts lock rows in the same order, so that they cannot deadlock.
    fn sorted(counts: &[Count<At>]) -> Self {
        let mut sorted: Vec<_> = counts.iter().collect();
        sorted.sort_by_key(|it| (it.kind, it.at, it.digest.0, &it.measure, it.bucket));
        Self {
            kinds: sorted.iter().map(|it| it.kind.as_str().to_owned()).collect(),
            at: sorted.iter().map(|it| it.at).collect(),
            digests: sorted.iter().map(|it| it.digest.0.to_vec()).collect(),
            measures: sorted.iter().map(|it| it.measure.clone()).collect(),
            buckets: sorted.iter().map(|it| it.bucket).collect(),
            counts: sorted.iter().map(|it| it.count).collect(),
        }
    }
}

/// Adds to what was compared in deployments.
pub(crate) async fn add_comparisons(db: &mut PgConnection, counts: &[Count<i64>]) -> Result<(), sqlx::Error> {
    let Columns { kinds, at: epochs, digests, measures, buckets, counts } = Columns::sorted(counts);
    sqlx::query!(
        r#"
        insert into comparison as c (kind, epoch, sha256, measure, bucket, count)
        select * from unnest($1::text[], $2::bigint[], $3::bytea[], $4::text[], $5::integer[], $6::bigint[])
        on conflict (kind, epoch, sha256, measure, bucket) do update set count = c.count + excluded.count
        "#,
        &kinds,
        &epochs,
        &digests,
        &measures,
        &buckets,
        &counts,
    )
    .execute(db)
    .await
    .map(drop)
}

/// All that was compared in a deployment.
pub(crate) async fn of_epoch(
    db: &mut PgConnection,
    kind: ModelKind,
    epoch: i64,
) -> Result<Vec<Count<i64>>, sqlx::Error> {
    let rows = sqlx::query!(
        "select sha256, measure, bucket, count from comparison where kind = $1 and epoch = $2",
        kind.as_str(),
        epoch,
    );
    let count = rows.fetch_all(db).await?.into_iter().map(|row| {
        let digest = digest_of(&row.sha256)?;
        Ok(Count { kind, at: epoch, digest, measure: row.measure, bucket: row.bucket, count: row.count })
    });
    count.collect()
}

/// Adds to the minutes that the moments are in.
pub(crate) async fn add_traffic(db: &mut PgConnection, counts: &[Count<OffsetDateTime>]) -> Result<(), sqlx::Error> {
    let Columns { kinds, at, digests, measures, buckets, counts } = Columns::sorted(counts);
    sqlx::query!(
        r#"
        insert into traffic as t (minute, kind, sha256, measure, bucket, count)
        select date_trunc('minute', at), kind, sha256, measure, bucket, count
        from unnest($1::text[], $2::timestamptz[], $3::bytea[], $4::text[], $5::integer[], $6::bigint[])
            as n (kind, at, sha256, measure, bucket, count)
        on conflict (minute, kind, sha256, measure, bucket) do update set count = t.count + excluded.count
        "#,
        &kinds,
        &at,
        &digests,
        &measures,
        &buckets,
        &counts,
    )
    .execute(db)
    .await
    .map(drop)
}

/// The traffic of a kind from a moment on, in steps of this many seconds, each with its beginning.
pub async fn traffic_of(
    db: &mut PgConnection,
    kind: ModelKind,
    from: OffsetDateTime,
    step: i64,
) -> Result<Vec<Count<OffsetDateTime>>, sqlx::Error> {
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
        Ok(Count { kind, at: row.at, digest, measure: row.measure, bucket: row.bucket, count: row.count })
    });
    count.collect()
}

/// Deletes traffic before a moment.
pub(crate) async fn delete_traffic(db: &mut PgConnection, before: OffsetDateTime) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from traffic where minute < $1", before).execute(db).await.map(drop)
}
