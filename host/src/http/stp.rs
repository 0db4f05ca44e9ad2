//! `/rails/stp/state`: STP's webhook for payment states. Internal: the proxy in front of it authenticates STP.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;

use crate::app::App;
use crate::domain::transfer::RailName;
use crate::http::error::Error;
use crate::rail::stp::read_webhook;
use crate::schema::answer;

answer! {
    /// The response that STP expects.
    pub(crate) struct ReceiptJson as "StpReceipt" {
        mensaje: &'static str { one_of: &["recibido"], example: "\"recibido\"" },
    }
}

/// Acknowledges a notification only after the ledger has committed it; STP resends others.
pub(crate) async fn take_state(State(app): State<App>, body: Bytes) -> Result<Json<ReceiptJson>, Error> {
    let courier = app.courier.as_ref().filter(|courier| courier.name == RailName::Stp).ok_or(Error::NotFound)?;
    let notification =
        read_webhook(&body).map_err(|error| Error::invalid_field("", "unknown-value", &error.to_string()))?;
    if courier.accept(&notification).await {
        Ok(Json(ReceiptJson { mensaje: "recibido" }))
    } else {
        Err(Error::Overloaded)
    }
}
