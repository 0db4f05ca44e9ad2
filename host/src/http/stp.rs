//! `/rails/stp/state` and `/rails/stp/order`: STP's webhooks for payment states and for orders to this bank. They take no
//! token, so they move no money: they make the courier ask STP.

use axum::Json;
use axum::extract::{Request, State};

use crate::app::App;
use crate::audit::NOTICE_REFUSED;
use crate::domain::transfer::RailName;
use crate::http::error::Error;
use crate::http::extract::{is_json, read_bytes};
use crate::http::limits::BODY_BYTES_MAX;
use crate::http::limits::stage::NOTICES;
use crate::rail::OrderNotice;
use crate::rail::courier::Courier;
use crate::rail::stp::{WebhookError, order_key_of, tracking_key_of};
use crate::schema::answer;

answer! {
    /// The response that STP expects.
    pub(crate) struct ReceiptJson as "StpReceipt" {
        mensaje: &'static str { one_of: &["recibido"], example: "\"recibido\"" },
    }
}

/// Acknowledges a notice once the inquiry that it causes is stored; STP resends others. JSON is required because a web
/// page of another origin cannot post it.
pub(crate) async fn take_state(State(app): State<App>, request: Request) -> Result<Json<ReceiptJson>, Error> {
    let courier = courier(&app)?;
    let key = read(&app, request, tracking_key_of).await?;
    // An inquiry that an earlier notice asked for may not be replicated yet.
    let view = app.barrier.begin();
    if !courier.notice(&key).await? {
        refused(&app, "unknown-payment");
    }
    app.barrier.pass(view).await?;
    Ok(Json(ReceiptJson { mensaje: "recibido" }))
}

answer! {
    /// The response that STP expects: the bank takes the order. It is sent back later if no account can be credited.
    pub(crate) struct ConfirmationJson as "StpConfirmation" {
        mensaje: &'static str { one_of: &["confirmar"], example: "\"confirmar\"" },
    }
}

/// Acknowledges a notice of an order once the inquiry that it causes is stored, without asking STP meanwhile.
pub(crate) async fn take_order(State(app): State<App>, request: Request) -> Result<Json<ConfirmationJson>, Error> {
    let courier = courier(&app)?;
    let key = read(&app, request, order_key_of).await?;
    // What an earlier notice led to may not be replicated yet.
    let view = app.barrier.begin();
    match courier.notice_incoming(&key).await? {
        OrderNotice::Kept => app.barrier.pass(view).await?,
        OrderNotice::Refused => {
            refused(&app, "out-of-date");
            return Err(Error::invalid_field("fechaOperacion", "out-of-range", "is too far from today"));
        }
        OrderNotice::Full => {
            refused(&app, "too-many");
            return Err(Error::Shed(NOTICES));
        }
    }
    Ok(Json(ConfirmationJson { mensaje: "confirmar" }))
}

fn courier(app: &App) -> Result<&Courier, Error> {
    app.courier.as_ref().filter(|courier| courier.name == RailName::Stp).ok_or(Error::NotFound)
}

fn refused(app: &App, reason: &'static str) {
    app.models.metrics().refusals.of([NOTICE_REFUSED, reason]).inc();
}

async fn read<T>(app: &App, request: Request, parse: fn(&[u8]) -> Result<T, WebhookError>) -> Result<T, Error> {
    if !is_json(request.headers()) {
        refused(app, "not-json");
        return Err(Error::NotJson);
    }
    let body = read_bytes(request, (is_json, Error::NotJson), BODY_BYTES_MAX).await?;
    parse(&body).map_err(|error| {
        refused(app, "malformed");
        Error::invalid_field("", "unknown-value", &error.to_string())
    })
}
