//! What is deployed of each kind of component, and the history of changes.

use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgListener, PgPool};
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::components::{digest_of, kind_of};
use super::records::{self, Change, Subject};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::risk::CutOffs;
use crate::sealing::ChainKey;

/// Channel that notifies hosts of changes. They also poll, in case a notification is lost.
const CHANNEL: &str = "caudal_deployment";

/// Stored as the operator who withdraws canaries: no token of an operator may name this user.
pub const AUTOMATIC: &str = "automatic";

/// A challenger that serves a share of the users. Its version is a digest, or a name where people read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Canary<V = Digest> {
    pub version: V,
    /// Percentage of users, 0 to 99; with 0 it is compared as a shadow is, and watched as a canary.
    pub percent: u8,
    /// Percentage of compared answers that may differ in class from the champion's, 1 to 100.
    pub max_flip_percent: u8,
}

/// What is deployed of a kind, was, or is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    pub kind: ModelKind,
    /// Number of changes so far.
    pub epoch: i64,
    pub champion: Digest,
    /// The champion before. A rollback returns to it, unless it is on trial as a challenger.
    pub previous: Digest,
    pub canary: Option<Canary>,
    /// Compared with the champion without serving anyone; at most four.
    pub shadows: Vec<Digest>,
    /// Whether `previous` answers when the champion fails: not if the champion came by a rollback.
    pub has_fallback: bool,
    /// The oldest version that may be deployed, such as `2.0.0`.
    pub minimum_release: Option<String>,
    /// Where the levels of risk begin, whichever version answers; only `risk` has others than the defaults.
    pub cut_offs: CutOffs,
    /// The operator's reason for the change.
    pub reason: String,
    pub changed_by: String,
    pub changed_at: OffsetDateTime,
    /// When the first host served the champion; known of the history only.
    pub served_at: Option<OffsetDateTime>,
}

impl Deployment {
    /// The state before the first deployment.
    pub fn nothing(kind: ModelKind, champion: Digest) -> Self {
        let (reason, changed_by) = (String::new(), String::new());
        Self {
            kind,
            epoch: 0,
            champion,
            previous: champion,
            canary: None,
            shadows: Vec::new(),
            has_fallback: true,
            minimum_release: None,
            cut_offs: CutOffs::DEFAULT,
            reason,
            changed_by,
            changed_at: OffsetDateTime::UNIX_EPOCH,
            served_at: None,
        }
    }

    /// The change to the same versions.
    pub fn next(&self, reason: &str, by: &str, now: OffsetDateTime) -> Self {
        let (reason, changed_by) = (reason.to_owned(), by.to_owned());
        Self { epoch: self.epoch + 1, reason, changed_by, changed_at: now, served_at: None, ..self.clone() }
    }

    /// In the records.
    fn name(&self) -> String {
        format!("{}/{}", self.kind, self.epoch)
    }

    /// What records call the change that made it.
    fn actions(&self, before: Option<&Self>) -> Vec<&'static str> {
        let versions = |it: &Self| (it.champion, it.canary, it.shadows.clone(), it.minimum_release.clone());
        let has_cut_offs = self.cut_offs != before.map_or(CutOffs::DEFAULT, |it| it.cut_offs);
        let has_versions = before.is_none_or(|before| versions(before) != versions(self));
        let of = |action, is_one: bool| is_one.then_some(action);
        [of("deploy", has_versions || !has_cut_offs), of("cut-offs", has_cut_offs)].into_iter().flatten().collect()
    }

    /// The version that answers when the champion fails.
    pub fn fallback(&self) -> Option<Digest> {
        (self.has_fallback && self.previous != self.champion).then_some(self.previous)
    }

    pub fn challengers(&self) -> impl Iterator<Item = Digest> {
        self.canary.map(|canary| canary.version).into_iter().chain(self.shadows.iter().copied())
    }

    pub fn has_challenger(&self, version: Digest) -> bool {
        self.challengers().any(|it| it == version)
    }

    /// Everything that a host must load.
    pub fn components(&self) -> impl Iterator<Item = Digest> {
        [self.champion, self.previous].into_iter().chain(self.challengers())
    }

    /// The canary that no longer answers anyone after a change. One that becomes the champion is not ended.
    pub fn canary_ended_by(&self, next: &Self) -> Option<Digest> {
        let canary = self.canary?.version;
        (next.champion != canary && next.canary.is_none_or(|it| it.version != canary)).then_some(canary)
    }
}

/// Cut-offs as columns, which are null for the defaults.
pub(super) fn stored(it: CutOffs) -> (Option<f64>, Option<f64>) {
    let stored = (it != CutOffs::DEFAULT).then_some(it);
    (stored.map(|it| it.medium_from), stored.map(|it| it.high_from))
}

pub(super) fn cut_offs_of(medium_from: Option<f64>, high_from: Option<f64>) -> CutOffs {
    let stored = medium_from.zip(high_from);
    stored.map_or(CutOffs::DEFAULT, |(medium_from, high_from)| CutOffs { medium_from, high_from })
}

/// A row of `deployment` or `deployment_history`.
struct DeploymentRow {
    kind: String,
    epoch: i64,
    champion: Vec<u8>,
    previous: Vec<u8>,
    canary: Option<Vec<u8>>,
    canary_percent: Option<i16>,
    canary_max_flip_percent: Option<i16>,
    shadows: Vec<Vec<u8>>,
    has_fallback: bool,
    minimum_release: Option<String>,
    medium_from: Option<f64>,
    high_from: Option<f64>,
    reason: String,
    changed_by: String,
    changed_at: OffsetDateTime,
    served_at: Option<OffsetDateTime>,
    /// Whether the history says the same.
    is_in_history: bool,
}

impl DeploymentRow {
    fn read(self) -> Result<Deployment, sqlx::Error> {
        let percent = |value: Option<i16>| value.and_then(|it| u8::try_from(it).ok()).unwrap_or_default();
        let canary = self.canary.map(|digest| {
            Ok::<_, sqlx::Error>(Canary {
                version: digest_of(&digest)?,
                percent: percent(self.canary_percent),
                max_flip_percent: percent(self.canary_max_flip_percent),
            })
        });
        Ok(Deployment {
            kind: kind_of(&self.kind)?,
            epoch: self.epoch,
            champion: digest_of(&self.champion)?,
            previous: digest_of(&self.previous)?,
            canary: canary.transpose()?,
            shadows: self.shadows.iter().map(|digest| digest_of(digest)).collect::<Result<_, _>>()?,
            has_fallback: self.has_fallback,
            minimum_release: self.minimum_release,
            cut_offs: cut_offs_of(self.medium_from, self.high_from),
            reason: self.reason,
            changed_by: self.changed_by,
            changed_at: self.changed_at,
            served_at: self.served_at,
        })
    }
}

/// Kinds that were never deployed are absent.
pub async fn deployments(db: &mut PgConnection) -> Result<Vec<Deployment>, sqlx::Error> {
    rows(db).await?.into_iter().map(DeploymentRow::read).collect()
}

async fn rows(db: &mut PgConnection) -> Result<Vec<DeploymentRow>, sqlx::Error> {
    let rows = sqlx::query_as!(
        DeploymentRow,
        r#"
        select d.*, h.served_at, h.kind is not null as "is_in_history!"
        from deployment d left join deployment_history h
            on h.kind = d.kind and to_jsonb(h) - 'served_at' = to_jsonb(d)
                and h.epoch = (select max(epoch) from deployment_history as last where last.kind = d.kind)
        order by d.kind
        "#,
    );
    rows.fetch_all(db).await
}

/// Each with whether a host recorded it, as the last one of its kind.
pub async fn recorded_deployments(
    db: &mut PgConnection,
    key: &ChainKey,
) -> Result<Vec<(Deployment, bool)>, sqlx::Error> {
    let mut recorded = Vec::new();
    for row in rows(db).await? {
        let (is_in_history, deployment) = (row.is_in_history, row.read()?);
        let name = deployment.name();
        let is_recorded = is_in_history && records::find(db, key, Subject::Deployment, &name).await?.is_some();
        recorded.push((deployment, is_recorded));
    }
    Ok(recorded)
}

/// What a change of it goes by.
///
/// # Errors
/// When the database fails, or no host recorded what is there.
pub(crate) async fn of_kind(
    db: &mut PgConnection,
    key: &ChainKey,
    kind: ModelKind,
) -> Result<Option<Deployment>, sqlx::Error> {
    match recorded_deployments(db, key).await?.into_iter().find(|(it, _)| it.kind == kind) {
        Some((_, false)) => Err(sqlx::Error::Protocol(format!(
            "the deployment of {kind} does not match its audit record and is not changed: run `caudal verify`"
        ))),
        found => Ok(found.map(|(deployment, _)| deployment)),
    }
}

/// Newest first.
pub async fn history_of(db: &mut PgConnection, kind: ModelKind, limit: i64) -> Result<Vec<Deployment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        DeploymentRow,
        r#"
        select *, true as "is_in_history!" from deployment_history where kind = $1 order by epoch desc limit $2
        "#,
        kind.as_str(),
        limit,
    );
    rows.fetch_all(db).await?.into_iter().map(DeploymentRow::read).collect()
}

/// Replaces the deployment before `next`, records the change and notifies every host. `None` if there is no such
/// deployment any more. With another champion, `previous` becomes the latest other champion that served on some host,
/// and stays what `next` says if none ever did.
///
/// # Errors
/// When the database fails, or a component is not registered.
pub async fn deploy(
    db: &mut PgConnection,
    key: &ChainKey,
    next: &Deployment,
) -> Result<Option<Deployment>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let before = history_of(&mut transaction, next.kind, 1).await?.into_iter().next();
    let (medium_from, high_from) = stored(next.cut_offs);
    let shadows: Vec<Vec<u8>> = next.shadows.iter().map(|digest| digest.0.to_vec()).collect();
    let previous = sqlx::query_scalar!(
        r#"
        with changed as (
            insert into deployment as d
            select $1, $2::bigint, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15
            where $2::bigint = 1 or exists (select from deployment where kind = $1)
            on conflict (kind) do update
                set epoch = excluded.epoch, champion = excluded.champion,
                    -- A rollback returns to a champion that served, not to one that was only deployed.
                    previous = case when d.champion = excluded.champion then d.previous else coalesce(
                        (select served.champion from deployment_history served
                            where served.kind = $1 and served.served_at is not null and served.champion <> $3
                            order by served.epoch desc limit 1),
                        excluded.previous) end,
                    canary = excluded.canary, canary_percent = excluded.canary_percent,
                    canary_max_flip_percent = excluded.canary_max_flip_percent, shadows = excluded.shadows,
                    has_fallback = excluded.has_fallback, minimum_release = excluded.minimum_release,
                    medium_from = excluded.medium_from, high_from = excluded.high_from,
                    reason = excluded.reason, changed_by = excluded.changed_by, changed_at = excluded.changed_at
                where d.epoch = excluded.epoch - 1
            returning *
        ), history as (
            insert into deployment_history select * from changed
        )
        select previous as "previous!" from changed, lateral (select pg_notify($16, kind)) as notified
        "#,
        next.kind.as_str(),
        next.epoch,
        &next.champion.0[..],
        &next.previous.0[..],
        next.canary.as_ref().map(|canary| &canary.version.0[..]),
        next.canary.map(|canary| i16::from(canary.percent)),
        next.canary.map(|canary| i16::from(canary.max_flip_percent)),
        &shadows,
        next.has_fallback,
        next.minimum_release,
        medium_from,
        high_from,
        next.reason,
        next.changed_by,
        next.changed_at,
        CHANNEL,
    );
    let Some(previous) = previous.fetch_optional(&mut *transaction).await? else { return Ok(None) };
    for action in next.actions(before.as_ref()) {
        let change = Change::new(Subject::Deployment, next.name(), action, &next.changed_by);
        records::append(&mut transaction, key, change, next.changed_at).await?;
    }
    transaction.commit().await?;
    Ok(Some(Deployment { previous: digest_of(&previous)?, ..next.clone() }))
}

/// Listens for changes. The connection never returns to the pool.
pub async fn listen(pool: &PgPool) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Whether the current deployments are the last ones of the history, which records cover.
pub(super) async fn present_is_latest(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select not exists (
            select from deployment d full join (
                select distinct on (kind) * from deployment_history order by kind, epoch desc
            ) as h using (kind)
            where to_jsonb(d) is distinct from to_jsonb(h) - 'served_at'
        ) as "is_latest!"
        "#
    )
    .fetch_one(db)
    .await
}
