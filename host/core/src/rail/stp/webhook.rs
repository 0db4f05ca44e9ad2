//! STP's notices of a change of state (`cambioEstado`) and of an order to this bank (`sendAbono`), which it sends to URLs of
//! the bank.
//!
//! Nothing in a notice authenticates its sender, so all that is read is which order STP should be asked about.

use serde::Deserialize;
use serde_json::Value;

use super::json::object;
use super::{order, text};
use crate::rail::OrderKey;

/// Notices are a few hundred bytes.
const WEBHOOK_BYTES_MAX: usize = 16 * 1_024;

#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    #[error("the notice is too long")]
    TooLong,
    #[error("the notice is malformed")]
    Malformed(#[source] serde_json::Error),
    #[error("the notice has no tracking key")]
    NoTrackingKey,
    #[error("the notice has no operating date")]
    NoDate,
    #[error("the notice has no sending institution")]
    NoInstitution,
}

#[derive(Deserialize)]
struct Notice {
    #[serde(rename = "claveRastreo", default)]
    tracking_key: Option<String>,
    /// Orders repeat the tracking key here.
    #[serde(rename = "folioOrigen", default)]
    folio: Option<String>,
}

/// Nothing of the rest is read: neither the amount nor the account.
#[derive(Deserialize)]
struct OrderNotice {
    #[serde(rename = "claveRastreo", default)]
    tracking_key: Value,
    #[serde(rename = "fechaOperacion", default)]
    date: Value,
    #[serde(rename = "institucionOrdenante", default)]
    institution: Value,
}

/// What identifies the order to this bank that a notice is about.
///
/// # Errors
/// When it identifies none.
pub fn order_key_of(notice: &[u8]) -> Result<OrderKey, WebhookError> {
    if notice.len() > WEBHOOK_BYTES_MAX {
        return Err(WebhookError::TooLong);
    }
    let notice: OrderNotice = object(notice).map_err(WebhookError::Malformed)?;
    let tracking_key = text::scalar(&notice.tracking_key).filter(|key| order::is_tracking_key(key));
    Ok(OrderKey {
        tracking_key: tracking_key.ok_or(WebhookError::NoTrackingKey)?,
        operating_date: text::read_date(&notice.date).ok_or(WebhookError::NoDate)?,
        institution: text::read_institution(&notice.institution).ok_or(WebhookError::NoInstitution)?,
    })
}

/// The tracking key of the order that a notice is about.
///
/// # Errors
/// When it names none.
pub fn tracking_key_of(notice: &[u8]) -> Result<String, WebhookError> {
    if notice.len() > WEBHOOK_BYTES_MAX {
        return Err(WebhookError::TooLong);
    }
    let notice: Notice = object(notice).map_err(WebhookError::Malformed)?;
    let mut keys = [notice.tracking_key, notice.folio].into_iter().flatten().map(|key| key.trim().to_owned());
    let key = keys.find(|key| !key.is_empty()).filter(|key| order::is_tracking_key(key));
    key.ok_or(WebhookError::NoTrackingKey)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_notice_names_an_order() {
        for (body, key) in [
            (
                r#"{"id":5623859,"empresa":"CAUDAL","claveRastreo":"CAUD1","folioOrigen":"CAUD2","estado":"LIQUIDACION",
                "causaDevolucion":"","tsLiquidacion":"1634919027297"}"#,
                "CAUD1",
            ),
            // Without a tracking key, which the folio repeats.
            (r#"{"folioOrigen":" CAUD2 ","estado":"CANCELACION"}"#, "CAUD2"),
            (r#"{"claveRastreo":null,"folioOrigen":"CAUD2"}"#, "CAUD2"),
            (r#"{"claveRastreo":"","folioOrigen":"CAUD2","estado":7}"#, "CAUD2"),
        ] {
            assert_eq!(tracking_key_of(body.as_bytes()).unwrap(), key, "{body}");
        }
    }

    #[test]
    fn invalid_notices_are_refused_with_a_reason() {
        let long = " ".repeat(WEBHOOK_BYTES_MAX + 1);
        let long_key = format!(r#"{{"claveRastreo":"{}","estado":"LQ"}}"#, "A".repeat(31));
        for (body, want) in [
            (long.as_str(), "the notice is too long"),
            ("", "the notice is malformed"),
            ("7", "the notice is malformed"),
            (r#"["A1"]"#, "the notice is malformed"),
            (r#"{"claveRastreo":1,"estado":"LQ"}"#, "the notice is malformed"),
            (r#"{"estado":"LQ"}"#, "the notice has no tracking key"),
            (r#"{"claveRastreo":"A|B","estado":"LQ"}"#, "the notice has no tracking key"),
            (&long_key, "the notice has no tracking key"),
        ] {
            assert_eq!(tracking_key_of(body.as_bytes()).unwrap_err().to_string(), want, "{body}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_refused(body in any::<Vec<u8>>()) {
            prop_assert!(tracking_key_of(&body).is_err());
        }
    }
}
