//! `/api/analytics`: events and the consent they require.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use crate::analytics::redact;
use crate::app::App;
use crate::auth::User;
use crate::clock::timestamp;
use crate::db::consents::{self, Consent};
use crate::db::events::{self, Event};
use crate::http::error::Error;
use crate::http::extract::LedgerBody;

/// Longest screen name or event type.
pub(crate) const LABEL_CHARS_MAX: usize = 64;

/// Longest details, in bytes: enough for an interaction's context, too little for a dossier.
const DETAILS_BYTES_MAX: usize = 1 << 10;

const NOTICE_CHARS_MAX: usize = 64;

/// Accepts an event. The response does not reveal whether the user consented.
pub(crate) async fn create_event(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<StatusCode, Error> {
    let screen = fields.text("screen", LABEL_CHARS_MAX);
    let event_type = fields.text("eventType", LABEL_CHARS_MAX);
    let details = fields.optional_text("details", DETAILS_BYTES_MAX);
    if details.as_ref().is_some_and(|details| details.len() > DETAILS_BYTES_MAX) {
        fields.refuse("details", "too-long", format!("must have at most {DETAILS_BYTES_MAX} bytes"));
    }
    fields.finish()?;

    let event = Event {
        event_id: app.clock.new_id(),
        screen: redact(&screen),
        event_type: redact(&event_type),
        details: details.as_deref().map(redact),
        received_at: app.clock.now(),
    };
    let mut db = app.db.acquire().await?;
    events::enqueue_event(&mut db, &owner, &event).await?;
    drop(db);
    app.events.wake();
    Ok(StatusCode::ACCEPTED)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConsentJson {
    granted: bool,
    updated_at: Option<String>,
    notice_version: Option<String>,
}

impl From<Option<Consent>> for ConsentJson {
    fn from(consent: Option<Consent>) -> Self {
        Self {
            granted: consent.as_ref().is_some_and(|consent| consent.granted),
            updated_at: consent.as_ref().map(|consent| timestamp(consent.updated_at)),
            notice_version: consent.and_then(|consent| consent.notice_version),
        }
    }
}

/// The user's consent; not granted until the user decides.
pub(crate) async fn get_consent(State(app): State<App>, User(owner): User) -> Result<Json<ConsentJson>, Error> {
    let mut db = app.db.acquire().await?;
    Ok(Json(consents::find_consent(&mut db, &owner).await?.into()))
}

/// Records a decision. Revocation also discards the user's queued events.
pub(crate) async fn put_consent(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Json<ConsentJson>, Error> {
    let granted = fields.boolean("granted");
    let notice_version = fields.optional_text("noticeVersion", NOTICE_CHARS_MAX);
    fields.finish()?;

    let consent = Consent { granted, notice_version, updated_at: app.clock.now() };
    let mut transaction = app.db.begin().await?;
    // The queue before the consent, the order in which the worker locks them; the reverse could deadlock.
    // The worker drops an event that is queued in between.
    if !granted {
        events::purge_queue(&mut transaction, &owner).await?;
    }
    consents::record_consent(&mut transaction, &owner, &consent, app.clock.new_id()).await?;
    transaction.commit().await?;
    Ok(Json(Some(consent).into()))
}
