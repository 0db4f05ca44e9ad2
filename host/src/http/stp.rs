//! `/rails/stp/state`: STP's webhook for payment states. It takes no token, so it moves no money: it makes the courier
//! ask STP.

use axum::Json;
use axum::extract::{Request, State};

use crate::app::App;
use crate::audit::NOTICE_REFUSED;
use crate::domain::transfer::RailName;
use crate::http::error::Error;
use crate::http::extract::{is_json, read_bytes};
use crate::http::limits::BODY_BYTES_MAX;
use crate::rail::stp::tracking_key_of;
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
    let courier = app.courier.as_ref().filter(|courier| courier.name == RailName::Stp).ok_or(Error::NotFound)?;
    let refused = |reason| app.models.metrics().refusals.of([NOTICE_REFUSED, reason]).inc();
    if !is_json(request.headers()) {
        refused("not-json");
        return Err(Error::NotJson);
    }
    let body = read_bytes(request, (is_json, Error::NotJson), BODY_BYTES_MAX).await?;
    let key = tracking_key_of(&body).map_err(|error| {
        refused("malformed");
        Error::invalid_field("", "unknown-value", &error.to_string())
    })?;
    // An inquiry that an earlier notice asked for may not be replicated yet.
    let view = app.barrier.begin();
    if !courier.notice(&key).await? {
        refused("unknown-payment");
    }
    app.barrier.pass(view).await?;
    Ok(Json(ReceiptJson { mensaje: "recibido" }))
}
