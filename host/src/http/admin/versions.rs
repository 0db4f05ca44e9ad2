//! `/admin/models`: the registry of components, what is deployed and what each host serves. For operators, on the
//! internal listener, with a bearer token of scope `models:admin` (`rules:admin` for transfer rules); `audit:read` is
//! enough to read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::reader::Reader;
use crate::db::components::{self, Component, name_of};
use crate::db::deployments::{self, Deployment};
use crate::db::hosts::{self, Host, HostStatus};
use crate::domain::card::Card;
use crate::domain::model::{Digest, ModelKind, PolicyClass};
use crate::http::admin::signatures::{self, SignatureJson};
use crate::http::error::Error;
use crate::http::extract::Unpaged;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::Embedded;
use crate::models::deploying::catalog::{present, present_of};
use crate::schema::{Flat, answer};
use crate::wasm::digest_of;

pub(crate) fn kind_of(text: &str) -> Result<ModelKind, Error> {
    ModelKind::parse(text).ok_or(Error::NotFound)
}

/// A `model_version` in examples.
pub(crate) const VERSION_EXAMPLE: &str = "\"risk-2.0.0+8efe6cf7\"";

answer! {
    /// A registered version.
    pub(crate) struct VersionJson as "Version" {
        model_version: String { example: VERSION_EXAMPLE },
        kind: ModelKind { example: "\"risk\"" },
        sha256: String { example: "\"8efe6cf7...\"" },
        class: PolicyClass { example: "\"pure\"" },
        bytes: i64 { example: "10240" },
        /// Whether it is part of the host.
        built_in: bool { example: "true" },
        registered_by: String { example: "\"ops\"" },
        registered_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        role: &'static str { one_of: &ROLES, example: "\"champion\"" },
    }
}

/// What a version can be in a deployment.
const ROLES: [&str; 5] = ["champion", "canary", "shadow", "previous", "registered"];

answer! {
    /// A version and the gate's report.
    pub(crate) struct ExaminedJson as "ExaminedVersion" {
        version: Flat<VersionJson>,
        /// The gate's report; null for a built-in version.
        report: Option<Value> { nullable: true },
        /// The model's card, as Markdown.
        card: Option<Cow<'static, str>> { nullable: true, example: "\"# risk-2\"" },
        /// The card as it was pushed; null for a built-in version.
        pushed_card: Option<Card> { nullable: true },
        signature: Option<SignatureJson> { nullable: true },
    }
}

answer! {
    /// A kind and its versions.
    pub(crate) struct KindJson as "ModelKind" {
        kind: &'static str { one_of: ModelKind::TEXTS, example: "\"risk\"" },
        epoch: i64 { example: "3" },
        versions: Vec<VersionJson>,
        hosts: Vec<HostJson>,
    }
}

answer! {
    /// All kinds and their versions.
    pub(crate) struct ModelsJson as "Models" {
        models: Vec<KindJson>,
    }
}

fn to_json(component: &Component, role: &'static str) -> VersionJson {
    VersionJson {
        model_version: component.model_version.clone(),
        kind: component.kind,
        sha256: component.digest.to_string(),
        class: component.class,
        bytes: component.size.into(),
        built_in: component.is_embedded,
        registered_by: component.registered_by.clone(),
        registered_at: component.registered_at,
        role,
    }
}

/// The role of a component in the deployment of its kind.
fn role_of(digest: Digest, deployed: &Deployment) -> &'static str {
    match deployed {
        it if it.champion == digest => "champion",
        it if it.canary.is_some_and(|it| it.version == digest) => "canary",
        it if it.shadows.contains(&digest) => "shadow",
        it if it.previous == digest => "previous",
        _ => "registered",
    }
}

/// Hex digits of a host's id shown to operators.
const HOST_ID_DIGITS: usize = 8;

/// A host as operators know it: machines may run several.
fn shown(Host { id, machine }: &Host) -> String {
    let digits = id.simple().to_string();
    let digits = &digits[..HOST_ID_DIGITS];
    if machine.is_empty() { digits.to_owned() } else { format!("{machine}/{digits}") }
}

answer! {
    /// What a running host serves for a kind.
    pub(crate) struct HostJson as "Host" {
        /// Its machine's name, and the start of its id.
        host: String { example: "\"bank-1/0198f1c2\"" },
        epoch: i64 { example: "3" },
        state: &'static str { example: "\"serving\"" },
        champion: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Why it does not serve the deployed version.
        detail: Option<String> { nullable: true },
        since: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

fn shown_host(host: &Host, status: &HostStatus, registered: &[Component]) -> HostJson {
    HostJson {
        host: shown(host),
        epoch: status.epoch,
        state: status.state.as_str(),
        champion: status.champion.and_then(|champion| name_of(champion, registered)),
        detail: status.state.detail().map(Into::into),
        since: status.since,
    }
}

/// Every kind that the token may read, with its versions, their roles and the hosts that serve them.
pub(crate) async fn list_models(State(app): State<App>, reader: Reader, _: Unpaged) -> Result<Json<ModelsJson>, Error> {
    let mut db = app.db.acquire().await?;
    let deployed = deployments::deployments(&mut db).await?;
    let registered = components::list(&mut db).await?;
    let live = hosts::live(&mut db).await?;
    // Sorted by name, an order that clients may rely on.
    let readable = ModelKind::ALL.iter().filter(|kind| reader.may_read(**kind).is_ok());
    let kinds: BTreeMap<&str, ModelKind> = readable.map(|kind| (kind.as_str(), *kind)).collect();
    let models = kinds.into_iter().map(|(name, kind)| {
        let deployment = present_of(kind, deployed.iter().cloned());
        let of_kind = registered.iter().filter(|it| it.kind == kind);
        let versions = of_kind.map(|it| to_json(it, role_of(it.digest, &deployment))).collect();
        let hosts = live.iter().filter(|(_, status)| status.kind == kind);
        let hosts = hosts.map(|(host, status)| shown_host(host, status, &registered)).collect();
        KindJson { kind: name, epoch: deployment.epoch, versions, hosts }
    });
    Ok(Json(ModelsJson { models: models.collect() }))
}

/// One version with the gate's report and, if it has one, the model's card.
pub(crate) async fn get_version(
    State(app): State<App>,
    reader: Reader,
    Path((kind, version)): Path<(String, String)>,
) -> Result<Json<ExaminedJson>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let mut db = app.db.acquire().await?;
    let component = find(&mut db, kind, &version).await?;
    examined(&app, &mut db, &component).await.map(Json)
}

pub(super) async fn examined(app: &App, db: &mut PgConnection, component: &Component) -> Result<ExaminedJson, Error> {
    let digest = component.digest;
    let version = to_json(component, role_of(digest, &present(&mut *db, &app.key, component.kind).await?));
    let report = components::report_of(&mut *db, digest).await?;
    let embedded = Embedded::ALL.into_iter().find(|it| digest_of(it.bytes) == digest);
    let built_in = embedded.and_then(|it| it.card).map(|card| Cow::Borrowed(card.markdown));
    let pushed_card = components::card_of(&mut *db, digest).await?;
    let card = built_in.or_else(|| pushed_card.as_ref().map(|card| card.markdown().into()));
    let signature = signatures::to_json(db, &app.settings.model_keys, digest).await?;
    Ok(ExaminedJson { version: Flat(version), report, card, pushed_card, signature })
}

pub(super) async fn find(db: &mut PgConnection, kind: ModelKind, version: &str) -> Result<Component, Error> {
    let all = components::list(db).await?;
    all.into_iter().find(|it| it.kind == kind && it.model_version == version).ok_or(Error::NotFound)
}
