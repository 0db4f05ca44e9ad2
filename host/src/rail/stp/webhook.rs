//! STP's notice of a change of state (`cambioEstado`), which it sends to a URL of the bank. Parsing only:
//! nothing in a notice authenticates its sender, so the reverse proxy must authenticate STP.

use serde::Deserialize;
use serde_json::Value;

use super::{order, state};
use crate::rail::Notification;

/// Notices are a few hundred bytes.
const WEBHOOK_BYTES_MAX: usize = 16 * 1_024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhookError {
    #[error("the notice is too long")]
    TooLong,
    #[error("the notice is malformed")]
    Malformed(#[source] serde_json::Error),
    #[error("the notice has no tracking key")]
    NoTrackingKey,
    #[error("the notice has an unknown state")]
    UnknownState,
}

#[derive(Deserialize)]
struct Notice {
    #[serde(rename = "claveRastreo", default)]
    tracking_key: Option<String>,
    /// Orders repeat the tracking key here.
    #[serde(rename = "folioOrigen", default)]
    folio: Option<String>,
    #[serde(rename = "estado")]
    state: String,
    #[serde(rename = "causaDevolucion", default)]
    cause: Value,
}

pub(crate) fn read_webhook(body: &[u8]) -> Result<Notification, WebhookError> {
    if body.len() > WEBHOOK_BYTES_MAX {
        return Err(WebhookError::TooLong);
    }
    let notice: Notice = serde_json::from_slice(body).map_err(WebhookError::Malformed)?;
    let mut keys = [notice.tracking_key, notice.folio].into_iter().flatten().map(|key| key.trim().to_owned());
    let key = keys.find(|key| !key.is_empty()).filter(|key| order::is_tracking_key(key));
    let tracking_key = key.ok_or(WebhookError::NoTrackingKey)?;
    let status = state::status(notice.state.trim(), &notice.cause).ok_or(WebhookError::UnknownState)?;
    Ok(Notification { tracking_key, status })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rail::PaymentStatus;
    use proptest::prelude::*;

    #[track_caller]
    fn check(body: &str, key: &str, status: PaymentStatus) {
        let want = Notification { tracking_key: key.to_owned(), status };
        assert_eq!(read_webhook(body.as_bytes()).unwrap(), want, "{body}");
    }

    #[test]
    fn a_notice_names_an_order_and_its_status() {
        check(
            r#"{"id":5623859,"empresa":"CAUDAL","claveRastreo":"CAUD1","folioOrigen":"CAUD2","estado":"LIQUIDACION",
            "causaDevolucion":"","tsLiquidacion":"1634919027297"}"#,
            "CAUD1",
            PaymentStatus::Settled,
        );
        let returned =
            r#"{"id":"7","empresa":"CAUDAL","claveRastreo":"CAUD1","estado":"DEVOLUCION","causaDevolucion":16}"#;
        check(returned, "CAUD1", PaymentStatus::Returned(Some("16".into())));
        // Without a tracking key, which the folio repeats.
        check(r#"{"folioOrigen":" CAUD2 ","estado":"CANCELACION"}"#, "CAUD2", PaymentStatus::Rejected(None));
        check(
            r#"{"claveRastreo":null,"folioOrigen":"CAUD2","estado":"D","causaDevolucion":1}"#,
            "CAUD2",
            PaymentStatus::Returned(Some("01".into())),
        );
        check(r#"{"claveRastreo":"","folioOrigen":"CAUD2","estado":"E"}"#, "CAUD2", PaymentStatus::Accepted);
    }

    #[test]
    fn invalid_notices_are_refused_with_a_reason() {
        let long = " ".repeat(WEBHOOK_BYTES_MAX + 1);
        let long_key = format!(r#"{{"claveRastreo":"{}","estado":"LQ"}}"#, "A".repeat(31));
        for (body, want) in [
            (long.as_str(), "the notice is too long"),
            ("", "the notice is malformed"),
            ("[]", "the notice is malformed"),
            (r#"{"claveRastreo":1,"estado":"LQ"}"#, "the notice is malformed"),
            (r#"{"claveRastreo":"A"}"#, "the notice is malformed"),
            (r#"{"estado":"LQ"}"#, "the notice has no tracking key"),
            (r#"{"claveRastreo":"A|B","estado":"LQ"}"#, "the notice has no tracking key"),
            (&long_key, "the notice has no tracking key"),
            (r#"{"claveRastreo":"A","estado":"LIQUIDADA"}"#, "the notice has an unknown state"),
        ] {
            assert_eq!(read_webhook(body.as_bytes()).unwrap_err().to_string(), want, "{body}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_refused(body in any::<Vec<u8>>()) {
            prop_assert!(read_webhook(&body).is_err());
        }
    }
}
