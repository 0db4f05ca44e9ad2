//! `/admin/rails/simulated/orders`: lets the simulated rail send an order to this bank. For operators, with a token of scope
//! `ledger:operate`.

use std::any::Any;

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::auth::LedgerOperator;
use crate::db::holders;
use crate::domain::clabe::Clabe;
use crate::domain::incoming::{IncomingOrder, NAME_CHARS_MAX, NUMBER_CHARS_MAX};
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::http::ledger::accounts::CURRENCY;
use crate::rail::operating_date;
use crate::rail::simulated::{INSTITUTION, Simulated};
use crate::schema::{Flat, answer, request};

request! {
    /// An order of another bank.
    pub(crate) struct IncomingOrderRequest in camelCase {
        /// The payee's. Anything may come in; what the bank did not issue is sent back.
        account_number: String { chars_max: NUMBER_CHARS_MAX, example: "\"999180000000000009\"" },
        amount: Money { positive: true, unit: CURRENCY, example: "1500.50" },
        payer_name: Option<String> { chars_max: NAME_CHARS_MAX, example: "\"Jorge Ruiz\"" },
        payer_account_number: Option<String> { chars_max: NUMBER_CHARS_MAX, example: "\"012180001234567897\"" },
        /// SPEI's code of the sending institution.
        payer_institution: Option<u32> { at_least: 1.0, at_most: 99_999.0, example: "40012" },
        remittance: Flat<Remittance>,
    }
}

answer! {
    /// An order that is on its way.
    pub(crate) struct IncomingOrderJson as "IncomingOrder" in camelCase {
        tracking_key: String { example: "\"SIM0198F1C25A2B7C3D8E4F5A6B7C\"" },
        /// Whether the bank issued the payee's number. Otherwise the order is sent back.
        is_issued: bool { example: "true" },
    }
}

/// It is handled like any other order: the rail notifies the host, which asks, credits the account or sends it back.
pub(crate) async fn receive(
    State(app): State<App>,
    _operator: LedgerOperator,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<IncomingOrderJson>, Error> {
    let rail = app.courier.as_ref().and_then(|courier| (&*courier.rail as &dyn Any).downcast_ref::<Simulated>());
    let rail = rail.ok_or(Error::NotFound)?;
    let request: IncomingOrderRequest = fields.read();
    fields.finish()?;
    let id = app.clock.new_id().simple().to_string().to_ascii_uppercase();
    let order = IncomingOrder {
        tracking_key: format!("SIM{}", &id[..27]),
        operating_date: operating_date(app.clock.now()),
        institution: request.payer_institution.unwrap_or(INSTITUTION),
        amount: request.amount,
        payer_name: request.payer_name,
        payer_number: request.payer_account_number,
        payee_name: None,
        payee_number: request.account_number,
        remittance: request.remittance.0.normalized(),
    };
    let malformed = || Error::invalid_field("accountNumber", "unknown-value", "must not be blank");
    let order = order.checked().ok_or_else(malformed)?;
    let tracking_key = order.tracking_key.clone();
    let issued = match Clabe::read(&order.payee_number) {
        Some(clabe) => holders::find_issued(&mut *app.db.acquire().await?, &app.key, clabe).await?.is_some(),
        None => false,
    };
    rail.receive(order).await;
    Ok(Json(IncomingOrderJson { tracking_key, is_issued: issued }))
}
