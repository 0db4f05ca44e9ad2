//! `POST /admin/models/{kind}/rollback`.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::db::components::named;
use crate::http::admin::confirmation::{DESPITE_SETBACK, unconfirmed};
use crate::http::admin::deployment::{answer, etag};
use crate::http::admin::if_match::IfMatch;
use crate::http::admin::names::{VERSION_CHARS_MAX, check_release, find, unprocessable};
use crate::http::admin::signatures::require_signatures;
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::models::deploying::catalog::{Catalog, REASON_CHARS_MAX};
use crate::models::deploying::rollback::{Rollback, RolledBack};
use crate::schema::request;

request! {
    /// A rollback. It names both versions, so that a repeated one cannot undo the first.
    pub(crate) struct RollbackRequest {
        /// The version to return to again, if it was withdrawn or itself rolled back: see the deployment's `setbacks`.
        despite_setback: Option<String> { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The `model_version` to leave: the champion.
        from: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"too many false alarms\"" },
        /// The `model_version` to return to: the deployment's `rollback_to`.
        to: String { chars_max: VERSION_CHARS_MAX, example: "\"risk-1.0.0+5c11e2d0\"" },
    }
}

/// Deploys the champion before, without challengers. Repeating it changes nothing, whatever `If-Match` says.
pub(crate) async fn roll_back(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    body: Result<AssistBody, Error>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let if_match = IfMatch::read(&headers)?;
    let AssistBody(mut fields) = body?;
    let RollbackRequest { despite_setback, from, reason, to } = fields.read();
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let catalog = Catalog::read(&mut db, &app.key, kind).await?;
    check_release("to", &to, catalog.deployed.minimum_release.as_deref())?;
    let (from, to) = (find(&catalog, "from", &from)?, find(&catalog, "to", &to)?);
    let despite_setback = despite_setback.map(|it| find(&catalog, DESPITE_SETBACK, &it)).transpose()?;
    require_signatures(&mut db, &app.settings.model_keys, [to]).await?;
    let is_current = |epoch| if_match.matches(&etag(epoch));
    let why = (&*reason, &*operator.person.name);
    let rollback = Rollback { from, to, despite_setback };
    let target = named(catalog.rollback_target(), &catalog.registered);
    match rollback.run((&mut db, &app.key), &catalog, is_current, why, app.clock.now()).await? {
        RolledBack::Now(done) => {
            audit::done(Event::Rollback, &operator.person.name, &format_args!("{kind} {}", done.epoch));
            answer(&catalog.with(done))
        }
        RolledBack::Before => answer(&Catalog::read(&mut db, &app.key, kind).await?),
        RolledBack::NothingDeployed => Err(Error::NothingDeployed),
        RolledBack::Stale => Err(Error::Stale),
        RolledBack::NotChampion => Err(unprocessable("from", "not-allowed", "is not the champion")),
        RolledBack::NotTarget => {
            let detail = format!("is not {target}, to which a rollback returns: deploy it instead");
            Err(unprocessable("to", "not-allowed", &detail))
        }
        RolledBack::Challenger => {
            let detail =
                format!("is a challenger: deploy it to promote it. A rollback ends it and returns to {target}");
            Err(unprocessable("to", "not-allowed", &detail))
        }
        RolledBack::Setback(setback) => Err(unconfirmed(&setback, &catalog.registered)),
    }
}
