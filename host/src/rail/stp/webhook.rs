//! STP's notice of a change of state (`cambioEstado`), which it puts to a URL of the bank. Only read here:
//! the bank's edge takes it, knows who may send it, and answers.

use serde::Deserialize;
use serde_json::Value;

use super::super::News;
use super::{order, state};

/// Largest notice that is read: they have a few hundred bytes.
pub const WEBHOOK_BYTES_MAX: usize = 16 * 1_024;

/// Why the body of a notice is not one.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// More than [`WEBHOOK_BYTES_MAX`].
    #[error("the notice is too long")]
    TooLong,
    /// Not JSON, or not of the right shape.
    #[error("the notice is not understood")]
    Malformed(#[source] serde_json::Error),
    /// It does not name an order by a tracking key.
    #[error("the notice has no tracking key")]
    NoTrackingKey,
    /// A state without a meaning here.
    #[error("the notice has an unknown state")]
    UnknownState,
}

#[derive(Deserialize)]
struct Notice {
    #[serde(rename = "claveRastreo", default)]
    tracking_key: Option<String>,
    /// The tracking key again, as orders carry it here too.
    #[serde(rename = "folioOrigen", default)]
    folio: Option<String>,
    #[serde(rename = "estado")]
    state: String,
    #[serde(rename = "causaDevolucion", default)]
    cause: Value,
}

/// Reads STP's notice of a change of state (`cambioEstado`): the order's tracking key and its news.
///
/// Who sent the notice is not checked here, as nothing in it proves that. Notices come late, twice and out
/// of order.
///
/// # Errors
/// See [`WebhookError`].
pub fn read_webhook(body: &[u8]) -> Result<(String, News), WebhookError> {
    if body.len() > WEBHOOK_BYTES_MAX {
        return Err(WebhookError::TooLong);
    }
    let notice: Notice = serde_json::from_slice(body).map_err(WebhookError::Malformed)?;
    let key = [notice.tracking_key, notice.folio].into_iter().flatten().find(|key| !key.trim().is_empty());
    let key = key.ok_or(WebhookError::NoTrackingKey)?.trim().to_owned();
    if !order::is_tracking_key(&key) {
        return Err(WebhookError::NoTrackingKey);
    }
    let news = state::news(notice.state.trim(), &notice.cause).ok_or(WebhookError::UnknownState)?;
    Ok((key, news))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(body: &str, key: &str, news: News) {
        assert_eq!(read_webhook(body.as_bytes()).unwrap(), (key.to_owned(), news), "{body}");
    }

    #[test]
    fn a_notice_tells_an_order_and_its_news() {
        check(
            r#"{"id":5623859,"empresa":"CAUDAL","claveRastreo":"CAUD1","folioOrigen":"CAUD2","estado":"LIQUIDACION",
            "causaDevolucion":"","tsLiquidacion":"1634919027297"}"#,
            "CAUD1",
            News::Settled,
        );
        let returned =
            r#"{"id":"7","empresa":"CAUDAL","claveRastreo":"CAUD1","estado":"DEVOLUCION","causaDevolucion":16}"#;
        check(returned, "CAUD1", News::Returned(Some("16".into())));
        // Without the tracking key, which is the folio too.
        check(r#"{"folioOrigen":" CAUD2 ","estado":"CANCELACION"}"#, "CAUD2", News::Rejected(None));
        check(
            r#"{"claveRastreo":null,"folioOrigen":"CAUD2","estado":"D","causaDevolucion":1}"#,
            "CAUD2",
            News::Returned(Some("01".into())),
        );
        check(r#"{"claveRastreo":"","folioOrigen":"CAUD2","estado":"E"}"#, "CAUD2", News::Taken);
    }

    #[test]
    fn what_is_no_notice_has_a_reason() {
        let long = " ".repeat(WEBHOOK_BYTES_MAX + 1);
        let long_key = format!(r#"{{"claveRastreo":"{}","estado":"LQ"}}"#, "A".repeat(31));
        for (body, want) in [
            (long.as_str(), "the notice is too long"),
            ("", "the notice is not understood"),
            ("[]", "the notice is not understood"),
            (r#"{"claveRastreo":1,"estado":"LQ"}"#, "the notice is not understood"),
            (r#"{"claveRastreo":"A"}"#, "the notice is not understood"),
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
        fn any_bytes_are_read_or_refused(body in any::<Vec<u8>>()) {
            prop_assert!(read_webhook(&body).is_err());
        }
    }
}
