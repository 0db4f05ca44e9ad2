//! `/api/analytics`: events and the consent they require.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use time::OffsetDateTime;

use crate::analytics::redact;
use crate::app::App;
use crate::auth::User;
use crate::db::consents::{self, Consent};
use crate::db::events::{self, Event};
use crate::domain::nudge::SCREEN_CHARS_MAX;
use crate::http::error::Error;
use crate::http::extract::LedgerBody;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::schema::{answer, request};

/// Longest details, in bytes: enough for an interaction's context, too little for a dossier.
const DETAILS_BYTES_MAX: usize = 1 << 10;

const NOTICE_CHARS_MAX: usize = 64;

request! {
    /// Something that happened on a screen.
    pub(crate) struct EventRequest as "AnalyticsEvent" in camelCase {
        screen: String { chars_max: SCREEN_CHARS_MAX, example: "\"transfer_form\"" },
        event_type: String { chars_max: SCREEN_CHARS_MAX, example: "\"validation_error\"" },
        /// At most 1,024 bytes. Numbers that could identify a person or an account are masked before it is stored.
        details: Option<String> { chars_max: DETAILS_BYTES_MAX, example: "\"amount\"" },
    }
}

/// Queues an event. The response does not reveal whether the user consented.
pub(crate) async fn create_event(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<StatusCode, Error> {
    let EventRequest { screen, event_type, details } = fields.read();
    if details.as_ref().is_some_and(|details| details.len() > DETAILS_BYTES_MAX) {
        fields.refuse("details", "too-long", format!("must have at most {DETAILS_BYTES_MAX} bytes"));
    }
    fields.finish()?;
    app.rates.count_event(&owner)?;

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

request! {
    /// An answer to the privacy notice.
    pub(crate) struct ConsentRequest in camelCase {
        granted: bool { example: "true" },
        /// Version of the privacy notice that was shown.
        notice_version: Option<String> { chars_max: NOTICE_CHARS_MAX, example: "\"2026-01\"" },
    }
}

answer! {
    /// Whether events may be stored.
    pub(crate) struct ConsentJson as "Consent" in camelCase {
        granted: bool { example: "true" },
        /// Null before the first answer.
        updated_at: Option<OffsetDateTime> { nullable: true, example: INSTANT_EXAMPLE },
        notice_version: Option<String> { nullable: true, example: "\"2026-01\"" },
    }
}

impl From<Option<Consent>> for ConsentJson {
    fn from(consent: Option<Consent>) -> Self {
        Self {
            granted: consent.as_ref().is_some_and(|consent| consent.granted),
            updated_at: consent.as_ref().map(|consent| consent.updated_at),
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
    let ConsentRequest { granted, notice_version } = fields.read();
    fields.finish()?;

    app.rates.count_consent(&owner)?;
    let consent = Consent { granted, notice_version, updated_at: app.clock.now() };
    let mut db = app.db.acquire().await?;
    let consent = consents::answer(&mut db, &owner, consent, app.clock.new_id()).await?;
    Ok(Json(Some(consent).into()))
}
