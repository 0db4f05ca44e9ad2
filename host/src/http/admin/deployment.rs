//! `/admin/models/{kind}/deployment`, `rollback`, `history` and `report`: a kind's deployment, and how its
//! challengers compare.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::auth::reader::Reader;
use crate::db::approvals::{Action, OtherCutOffs, Versions};
use crate::db::components::{self, Component, name_of, named};
use crate::db::deployments::{self, Canary, Deployment};
use crate::domain::model::{Digest, ModelKind, is_semantic_version};
use crate::domain::risk::CutOffs;
use crate::http::admin::action::propose;
use crate::http::admin::confirmation::{self, SetbackJson};
use crate::http::admin::if_match::IfMatch;
use crate::http::admin::names::{VERSION_CHARS_MAX, check_release, find, unprocessable};
use crate::http::admin::signatures::require_signatures;
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, Parameters, Unpaged};
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::deploying::catalog::{
    self, CANARY_PERCENT_MAX, Catalog, MAX_FLIP_PERCENT, REASON_CHARS_MAX, SHADOWS_MAX, is_for_two, with_champion,
};
use crate::models::observing::report::Report;
use crate::schema::{Flat, Shape, record, request};

/// Most changes in a history.
const HISTORY_MAX: i64 = 100;

pub(super) const SHA256_BYTES: usize = 32;

/// The deployment of a kind; its `ETag` is the epoch.
pub(crate) async fn get_deployment(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    answer(&Catalog::read(&mut *app.db.acquire().await?, &app.key, kind).await?)
}

pub(super) fn answer(catalog: &Catalog) -> Result<Response, Error> {
    let Catalog { registered, deployed, .. } = catalog;
    let is_deployed = deployed.epoch > 0;
    let etag = HeaderValue::from_str(&etag(deployed.epoch)).map_err(|error| Error::Internal(error.into()))?;
    let present = PresentJson {
        now: Flat(to_json(deployed, registered)),
        rollback_to: is_deployed.then(|| name_of(catalog.rollback_target(), registered)).flatten(),
        setbacks: catalog.setbacks().into_iter().map(|it| confirmation::to_json(it, registered)).collect(),
    };
    Ok(([(header::ETAG, etag)], Json(present)).into_response())
}

pub(super) fn etag(epoch: i64) -> String {
    format!("\"{epoch}\"")
}

record! {
    /// A kind's present deployment, and where it can go from there.
    pub(crate) struct PresentJson as "PresentDeployment" {
        pub(crate) now: Flat<DeploymentJson>,
        /// The version that a rollback restores: the previous one, or the champion before it if that is on trial as a
        /// challenger. Without any it is the champion itself, and a rollback only ends the trial.
        pub(crate) rollback_to: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Versions that were withdrawn or rolled back and have not served well since, the latest first. Promoting one
        /// takes `despite_setback`.
        pub(crate) setbacks: Vec<SetbackJson>,
    }
}

record! {
    /// A kind's deployment.
    pub(crate) struct DeploymentJson as "Deployment" {
        pub(crate) kind: ModelKind { example: "\"risk\"" },
        /// Counts the kind's deployments; 0 before the first.
        pub(crate) epoch: i64 { example: "3" },
        /// Answers users outside the canary.
        pub(crate) champion: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// The champion before.
        pub(crate) previous: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Whether the previous version answers when the champion fails: not after a rollback.
        pub(crate) fallback: bool { example: "true" },
        pub(crate) canary: Option<CanaryJson> { nullable: true },
        /// Versions that are compared with the champion without answering requests.
        pub(crate) shadows: Vec<String> { example: "[]" },
        /// The oldest version that may be deployed.
        pub(crate) minimum_release: Option<String> { nullable: true, example: "\"2.0.0\"" },
        /// Where the levels of `risk` begin; left out for the other kinds.
        pub(crate) cut_offs: Option<CutOffs>,
        /// Why it was changed.
        pub(crate) reason: Option<String> { nullable: true, example: "\"better recall\"" },
        pub(crate) changed_by: Option<String> { nullable: true, example: "\"ops\"" },
        pub(crate) changed_at: Option<OffsetDateTime> { nullable: true, example: INSTANT_EXAMPLE },
    }
}

record! {
    /// A version that answers some users.
    pub(crate) struct CanaryJson as "Canary" {
        pub(crate) version: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Percentage of users; with 0 it is compared on all requests and answers nobody.
        pub(crate) percent: u8 { at_least: 0.0, at_most: CANARY_PERCENT_MAX as f64, example: "10" },
        /// Percentage of answers in another class than the champion's above which it is withdrawn.
        pub(crate) max_flip_percent: u8 { at_least: 1.0, at_most: 100.0, example: "10" },
    }
}

record! {
    /// A kind's deployments, newest first.
    pub(crate) struct HistoryJson as "History" {
        pub(crate) history: Vec<DeploymentJson>,
    }
}

fn to_json(deployment: &Deployment, registered: &[Component]) -> DeploymentJson {
    let is_deployed = deployment.epoch > 0;
    let name = |digest: Digest| name_of(digest, registered);
    DeploymentJson {
        kind: deployment.kind,
        epoch: deployment.epoch,
        champion: name(deployment.champion),
        previous: name(deployment.previous).filter(|_| is_deployed),
        fallback: deployment.fallback().is_some(),
        canary: deployment.canary.map(|Canary { version, percent, max_flip_percent }| CanaryJson {
            version: name(version),
            percent,
            max_flip_percent,
        }),
        shadows: deployment.shadows.iter().map(|digest| named(*digest, registered)).collect(),
        minimum_release: deployment.minimum_release.clone(),
        cut_offs: (deployment.kind == ModelKind::Risk).then_some(deployment.cut_offs),
        reason: is_deployed.then(|| deployment.reason.clone()),
        changed_by: is_deployed.then(|| deployment.changed_by.clone()),
        changed_at: is_deployed.then_some(deployment.changed_at),
    }
}

/// A kind's deployments, newest first.
pub(crate) async fn get_history(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
    _: Unpaged,
) -> Result<Json<HistoryJson>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let mut db = app.db.acquire().await?;
    let registered = components::list(&mut db).await?;
    let history = deployments::history_of(&mut db, kind, HISTORY_MAX).await?;
    Ok(Json(HistoryJson { history: history.iter().map(|it| to_json(it, &registered)).collect() }))
}

/// Compares the challengers of deployment `epoch`, by default the latest one with challengers.
pub(crate) async fn get_report(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
    Parameters(mut fields): Parameters,
) -> Result<Json<Report>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let ReportQuery { epoch } = fields.read();
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let report = Report::read(&mut db, kind, epoch.map(i64::from)).await?;
    report.map(Json).ok_or(Error::NotFound)
}

/// Replaces the deployment if its epoch still matches `If-Match`. Omitted roles are cleared.
pub(crate) async fn put_deployment(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    // Read once it is clear that the operator may change this kind.
    body: Result<AssistBody, Error>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let if_match = IfMatch::read(&headers)?;
    let AssistBody(mut fields) = body?;
    let asked: DeploymentRequest = fields.read();
    fields.finish()?;

    let mut db = app.db.acquire().await?;
    let catalog = Catalog::read(&mut db, &app.key, kind).await?;
    let epoch = catalog.deployed.epoch;
    if !if_match.matches(&etag(epoch)) {
        return Err(Error::Stale);
    }
    let canary = asked.canary.map(|it| Canary {
        version: it.version,
        // Without a percentage it is rejected below.
        percent: it.percent.unwrap_or(u8::MAX),
        max_flip_percent: it.max_flip_percent.unwrap_or(MAX_FLIP_PERCENT),
    });
    let versions = Versions {
        epoch,
        champion: asked.champion,
        canary,
        shadows: asked.shadows.unwrap_or_default(),
        minimum_release: asked.minimum_release,
        cut_offs: asked.cut_offs.map(|after| OtherCutOffs { before: catalog.deployed.cut_offs, after }),
        despite_setback: asked.despite_setback,
        ends_canary: asked.ends_canary,
        fork_report: asked.fork_report,
    };
    let next = plan(&versions, &app, &mut db, &catalog, (&asked.reason, &operator.person.name)).await?;
    let promoted = Some(next.champion).filter(|it| *it != catalog.deployed.champion);
    let named = (versions.ends_canary.as_deref(), versions.despite_setback.as_deref());
    confirmation::check(&catalog, &next, promoted, named)?;
    drop(db);
    let is_for_two = is_for_two(&catalog.deployed, &next);
    check_fork_report(&app, versions.fork_report.as_deref(), is_for_two)?;
    if is_for_two {
        let action = Action::Deploy { kind: kind.to_string(), versions: versions.clone() };
        if let Some(waiting) = propose(&app, &operator.person, &action, &asked.reason).await? {
            return Ok(waiting);
        }
    }
    deploy(&app, catalog, next).await
}

pub(super) fn check_fork_report(app: &App, digest: Option<&str>, is_for_two: bool) -> Result<(), Error> {
    let Some(digest) = digest else { return Ok(()) };
    let is_digit = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    let (code, detail) = if digest.len() != 2 * SHA256_BYTES || !digest.bytes().all(is_digit) {
        ("wrong-format", "must be a SHA-256 in lower-case hexadecimal, as `caudal fork` prints it")
    } else if !is_for_two {
        ("not-allowed", "must be left out: nobody has to approve this")
    } else if app.settings.approvals.is_none() {
        (
            "not-allowed",
            "is for the person who approves, and nobody has to: start the host with --approvals, or leave it out",
        )
    } else {
        return Ok(());
    };
    Err(unprocessable("fork_report", code, detail))
}

/// Repeating it changes nothing.
async fn deploy(app: &App, catalog: Catalog, next: Deployment) -> Result<Response, Error> {
    let mut db = app.db.acquire().await?;
    if let Some(done) = deployments::deploy(&mut db, &app.key, &next).await? {
        let Deployment { kind, epoch, ref changed_by, .. } = done;
        audit::done(Event::Deployment, changed_by, &format_args!("{kind} {epoch}"));
        return answer(&catalog.with(done));
    }
    let catalog = Catalog::read(&mut db, &app.key, next.kind).await?;
    let present = &catalog.deployed;
    // Where it came from follows from the rest.
    let (previous, served_at) = (present.previous, present.served_at);
    let is_done = *present == Deployment { previous, served_at, changed_at: present.changed_at, ..next };
    if is_done { answer(&catalog) } else { Err(Error::Stale) }
}

/// The deployment that they name, for a reason and by an operator.
async fn plan(
    versions: &Versions,
    app: &App,
    db: &mut PgConnection,
    catalog: &Catalog,
    (reason, by): (&str, &str),
) -> Result<Deployment, Error> {
    let find = |field: &'static str, version: &String| find(catalog, field, version);
    let champion = find("champion", &versions.champion)?;
    let canary = versions.canary.as_ref().map(|Canary { version, percent, max_flip_percent }| {
        let (version, percent, max_flip_percent) = (find("canary.version", version)?, *percent, *max_flip_percent);
        Ok::<_, Error>(Canary { version, percent, max_flip_percent })
    });
    let next = Deployment {
        epoch: versions.epoch + 1,
        canary: canary.transpose()?,
        shadows: versions.shadows.iter().map(|version| find("shadows", version)).collect::<Result<_, _>>()?,
        minimum_release: versions.minimum_release.clone().or_else(|| catalog.deployed.minimum_release.clone()),
        cut_offs: versions.cut_offs.map_or(catalog.deployed.cut_offs, |it| it.after),
        ..with_champion(catalog.deployed.next(reason, by, app.clock.now()), champion, true)
    };
    if !versions.minimum_release.as_deref().is_none_or(is_semantic_version) {
        return Err(unprocessable("minimum_release", "wrong-format", "must have the form 1.2.3"));
    }
    let fields = [("champion", &versions.champion)].into_iter();
    let fields = fields.chain(versions.canary.iter().map(|it| ("canary.version", &it.version)));
    for (field, version) in fields.chain(versions.shadows.iter().map(|it| ("shadows", it))) {
        check_release(field, version, next.minimum_release.as_deref())?;
    }
    catalog::check(&next).map_err(|(field, detail)| unprocessable(field, "not-allowed", detail))?;
    let answering = [next.champion].into_iter().chain(next.canary.map(|it| it.version));
    // The champion may become a shadow as it is: it answers nobody.
    let shadows = next.shadows.iter().copied().filter(|it| *it != catalog.deployed.champion);
    require_signatures(db, &app.settings.model_keys, answering.chain(shadows)).await?;
    Ok(next)
}

/// Deploys them once they are approved. Repeating it changes nothing.
pub(super) async fn deploy_approved(
    versions: &Versions,
    app: &App,
    kind: ModelKind,
    why: (&str, &str),
) -> Result<Response, Error> {
    let mut db = app.db.acquire().await?;
    let catalog = Catalog::read(&mut db, &app.key, kind).await?;
    let next = plan(versions, app, &mut db, &catalog, why).await?;
    drop(db);
    deploy(app, catalog, next).await
}

request! {
    /// A version that answers some users.
    pub(crate) struct CanaryRequest {
        /// Percentage of answers in another class than the champion's above which the canary is withdrawn;
        /// 10 by default.
        max_flip_percent: Option<u8> { at_least: 1.0, at_most: 100.0, example: "10" },
        /// Percentage of users; with 0 it is compared on all requests and answers nobody.
        percent: Option<u8> { at_least: 0.0, at_most: CANARY_PERCENT_MAX as f64, example: "10" },
        /// Its `model_version`.
        version: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
    }
}

request! {
    /// The versions to deploy.
    pub(crate) struct DeploymentRequest {
        /// Its `model_version`.
        champion: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        canary: Option<CanaryRequest>,
        /// Where the levels of `risk` begin from now on, whichever version answers; they stay as they are if left out, and in
        /// a rollback.
        cut_offs: Option<CutOffs>,
        /// The new champion again, if it was withdrawn or rolled back: see the deployment's `setbacks`.
        despite_setback: Option<String> { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The running canary, if this ends it: it neither stays nor becomes the champion.
        ends_canary: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"risk-1.0.0+5c11e2d0\"" },
        /// SHA-256 of the report of a fork with these versions, for the second operator to compare.
        fork_report: Option<String> { chars_max: 2 * SHA256_BYTES, example: "\"9f86d081884c7d65...\"" },
        /// The oldest version that may be deployed from now on, by its own number; it stays as it is if left out.
        minimum_release: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"2.0.0\"" },
        /// Versions to compare with the champion.
        shadows: Option<Vec<String>> {
            length_max: SHADOWS_MAX, items: &Shape::text(VERSION_CHARS_MAX), example: "[]"
        },
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"better recall\"" },
    }
}

request! {
    /// The deployment to report on.
    pub(crate) struct ReportQuery {
        /// The latest with challengers by default.
        epoch: Option<u32> { at_least: 1.0, at_most: u32::MAX as f64, example: "3" },
    }
}
