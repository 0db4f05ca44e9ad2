//! The HTTP APIs: routes, extractors, one file per resource.
//!
//! Handlers read a request into domain types, call one inner layer and shape the response. Authentication is
//! an argument: a handler without [`User`](crate::auth::User) is visibly public. No SQL and no scoring here.

mod address;
pub(crate) mod admin;
mod answers;
mod assistance;
pub mod auth;
mod body;
mod confirm;
pub mod endpoint;
pub mod error;
pub mod extract;
mod finish;
pub mod health;
mod host;
pub mod ledger;
pub mod limits;
pub mod openapi;
pub(crate) mod pages;
pub mod problem;
pub mod server;
mod shedding;
mod stp;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, patch, post};

use crate::app::App;
use crate::domain::model::ModelKind;
use crate::scoring::{Kind, Visitor, with_kind};
use admin::{deployment, pushes, replay, rollout, start, versions};
use answers::Answers;
use assistance::scores::Scores;
use endpoint::{Callers, Endpoint};
use error::Error;
use ledger::{
    accounts, analytics, beneficiaries, bulk, entries, events, holds, payee_checks, profile, risk_context, schedules,
    transactions,
};
use openapi::Listener;
use pages::{bank, console, published, reference, sandbox, sign_in};

/// The ledger API: for the bank's app, with bearer tokens.
pub fn ledger_router(app: App) -> Endpoint {
    let routes = Router::new()
        .route("/api/ledger/accounts", get(accounts::list_accounts).post(accounts::create_account))
        .route("/api/ledger/accounts/{id}", get(accounts::get_account))
        .route("/api/ledger/accounts/{id}/entries", get(entries::list_entries))
        .route("/api/ledger/accounts/{id}/balance", get(entries::get_balance))
        .route(
            "/api/ledger/beneficiaries",
            get(beneficiaries::list_beneficiaries).post(beneficiaries::create_beneficiary),
        )
        .route(
            "/api/ledger/beneficiaries/{id}",
            patch(beneficiaries::edit_beneficiary).delete(beneficiaries::delete_beneficiary),
        )
        .route("/api/ledger/payee-checks", post(payee_checks::create_payee_check))
        .route("/api/ledger/transactions", get(transactions::list_transactions).post(transactions::create_transaction))
        .route("/api/ledger/transactions/{id}", get(transactions::get_transaction))
        .route("/api/ledger/transactions/bulk", post(bulk::create_transactions))
        .route("/api/ledger/holds", get(holds::list_holds).post(holds::create_hold))
        .route("/api/ledger/holds/{id}", get(holds::get_hold))
        .route("/api/ledger/holds/{id}/capture", post(holds::capture_hold))
        .route("/api/ledger/holds/{id}/void", post(holds::void_hold))
        .route("/api/ledger/schedules", get(schedules::list_schedules).post(schedules::create_schedule))
        .route("/api/ledger/schedules/{id}", get(schedules::get_schedule))
        .route("/api/ledger/schedules/{id}/cancel", post(schedules::cancel_schedule))
        .route("/api/ledger/schedules/{id}/confirm", post(schedules::confirm_occurrence))
        .route("/api/ledger/schedules/{id}/skip", post(schedules::skip_occurrence))
        .route("/api/ledger/events", get(events::stream_events))
        .route("/api/ledger/risk-context", get(risk_context::get_risk_context))
        .route("/api/analytics/events", post(analytics::create_event))
        .route("/api/analytics/consent", get(analytics::get_consent).put(analytics::put_consent))
        .route("/api/profile/accessibility", get(profile::get_profile).put(profile::put_profile))
        .route("/models/{kind}/active", get(published::active))
        .route("/models/core/{name}", get(published::core))
        .route("/models/glue/{name}", get(published::glue))
        .route("/", get(bank::page))
        .route("/assets/{file}", get(bank::asset))
        .route("/offline-worker.js", get(bank::offline_worker))
        .route("/bank/{file}", get(bank::file))
        .route("/shared/{file}", get(bank::shared))
        .route("/scorers/src/{file}", get(bank::module))
        .route("/scorers/dist/{*path}", get(bank::generated))
        .route("/reference", get(reference::sandbox_page))
        .route("/vendored/{file}", get(reference::sandbox_file))
        .route("/openapi.json", get(async || reference::document(Listener::Ledger)))
        .route("/sandbox", get(sandbox::is_sandbox))
        .route("/sandbox/token", post(sandbox::create_token))
        .route("/sign-in", get(sign_in::get_sign_in))
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .method_not_allowed_fallback(ledger_method_not_allowed)
        .fallback(ledger_not_found)
        .layer(from_fn_with_state(app.clone(), shedding::shed))
        .layer(from_fn_with_state(app.clone(), address::count_address))
        .layer(from_fn_with_state(app.clone(), confirm::confirm))
        .layer(from_fn_with_state(app.clone(), auth::tell_nonce));
    endpoint("ledger", Callers::Public, (routes, Scores::default()), app)
}

/// The assistance API: internal, under configured host names only. Operators need a token.
pub fn assist_router(app: App) -> Endpoint {
    let app = app.with_connections(app.db.for_operators());
    let routes = Router::new()
        .route("/ai/health", get(health::health))
        .route("/admin/models", get(versions::list_models))
        .route("/admin/models/{kind}/versions", post(pushes::push_version))
        .route("/admin/models/{kind}/versions/{version}", get(versions::get_version))
        .route("/admin/models/{kind}/pushes/{sha256}", get(pushes::get_push))
        .route("/admin/models/{kind}/deployment", get(deployment::get_deployment).put(deployment::put_deployment))
        .route("/admin/models/{kind}/rollback", post(deployment::roll_back))
        .route("/admin/models/{kind}/history", get(deployment::get_history))
        .route("/admin/models/{kind}/report", get(deployment::get_report))
        .route("/admin/models/{kind}/traffic", get(admin::traffic::get_traffic))
        .route("/admin/models/{kind}/rollouts", get(rollout::list_rollouts).post(start::start_rollout))
        .route("/admin/models/{kind}/rollouts/pause", post(rollout::pause_rollout))
        .route("/admin/models/{kind}/rollouts/resume", post(rollout::resume_rollout))
        .route("/admin/models/{kind}/rollouts/abort", post(rollout::abort_rollout))
        .route("/admin/replay", post(replay::replay))
        .route("/admin/find", get(admin::find::find))
        .route("/admin/accounts/{id}/freeze", post(admin::accounts::freeze))
        .route("/admin/accounts/{id}/unfreeze", post(admin::accounts::unfreeze))
        .route("/admin/accounts/{id}/fund", post(admin::accounts::fund))
        .route("/admin/users/{user}/limits", get(admin::users::get_limits).put(admin::users::put_limits))
        .route("/admin/users/{user}/holder", get(admin::users::get_holder).put(admin::users::put_holder))
        .route("/admin/transactions/{id}/reverse", post(admin::reversals::reverse))
        .route("/admin/approvals", get(admin::approvals::list_approvals))
        .route("/admin/approvals/{id}", get(admin::approvals::get_approval))
        .route("/admin/approvals/{id}/approve", post(admin::approvals::approve))
        .route("/admin/approvals/{id}/withdraw", post(admin::approvals::withdraw))
        .route("/admin/payments", get(admin::payments::list_payments))
        .route("/admin/payments/{id}/settle", post(admin::payments::settle_payment))
        .route("/admin/payments/{id}/refuse", post(admin::payments::refuse_payment))
        .route("/rails/stp/state", post(stp::take_state).put(stp::take_state))
        .route("/console", get(console::page))
        .route("/console/{file}", get(console::file))
        .route("/shared/{file}", get(bank::shared))
        .route("/reference", get(reference::page))
        .route("/vendored/{file}", get(reference::file))
        .route("/openapi.json", get(async || reference::document(Listener::Assist)))
        .route("/metrics", get(health::metrics))
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .fallback(async || Error::NotFound)
        .layer(from_fn_with_state(app.clone(), confirm::confirm))
        .layer(from_fn_with_state(app.clone(), auth::tell_nonce))
        .merge(score_paths());
    let scores = Scores::of(&app);
    endpoint("assist", Callers::Internal, (routes, scores), app)
}

/// Answers 405 to any method but POST on the scorers' paths.
fn score_paths() -> Router<App> {
    struct Path;
    impl Visitor for Path {
        type Output = &'static str;

        fn visit<K: Kind>(self) -> &'static str {
            K::PATH
        }
    }
    let only_post = async || ([(header::ALLOW, "POST")], Error::MethodNotAllowed);
    let paths = ModelKind::SCORERS.iter().filter_map(|kind| with_kind(*kind, Path));
    paths.fold(Router::new(), |router, path| router.route(path, any(only_post)))
}

fn endpoint(listener: &'static str, callers: Callers, (routes, scores): (Router<App>, Scores), app: App) -> Endpoint {
    let (settings, answers) = (Arc::clone(&app.settings), Answers::new(listener, app.models.metrics().clone()));
    Endpoint::new((routes.with_state(app), scores), callers, settings, answers)
}

/// Without a token, existing and unknown paths of the API are indistinguishable.
async fn ledger_not_found(app: State<App>, request: Parts) -> Error {
    after_auth(app, request, Error::NotFound).await
}

async fn ledger_method_not_allowed(app: State<App>, request: Parts) -> Error {
    after_auth(app, request, Error::MethodNotAllowed).await
}

async fn after_auth(State(app): State<App>, request: Parts, error: Error) -> Error {
    let path = request.uri.path();
    if path != "/api" && !path.starts_with("/api/") {
        return error;
    }
    auth::authenticate(&request, &app).await.map_or_else(Error::from, |_| error)
}
