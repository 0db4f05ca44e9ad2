//! `/admin/models/{kind}/versions/{version}/card`: what its owner says of a version.

use axum::Json;
use axum::extract::{Path, State};

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::db::components;
use crate::domain::card::Card;
use crate::http::admin::names::unprocessable;
use crate::http::admin::versions::{ExaminedJson, examined, find, kind_of};
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::scoring::monitored;
use crate::wasm::digest_of;

/// Sets the card of a version, or replaces an earlier one. Repeating it changes nothing.
pub(crate) async fn put_card(
    State(app): State<App>,
    operator: Operator,
    Path((kind, version)): Path<(String, String)>,
    // Read once it is clear that the operator may change this kind.
    body: Result<AssistBody, Error>,
) -> Result<Json<ExaminedJson>, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let AssistBody(fields) = body?;
    let mut db = app.db.acquire().await?;
    let component = find(&mut db, kind, &version).await?;
    if component.is_embedded {
        return Err(unprocessable("version", "not-allowed", "is built in, with a card of its own"));
    }
    let card = Card::read(fields, &monitored(kind)).map_err(Error::Unprocessable)?;
    let by = &operator.person.name;
    components::set_card(&mut db, &app.key, component.digest, &card, by, app.clock.now()).await?;
    let text = serde_json::to_vec(&card).map_err(|error| Error::Internal(error.into()))?;
    audit::done(Event::CardSet, by, &format_args!("{version} {}", digest_of(&text)));
    Ok(Json(examined(&app, &mut db, &component).await?))
}
