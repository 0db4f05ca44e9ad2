//! What the requests for transfers, holds and captures share.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};

use crate::enforcement::acknowledgment::TOKEN_CHARS_MAX;
use crate::http::error::Error;
use crate::http::ledger::risk_context::TOKEN_EXAMPLE;
use crate::orders::Answer;
use crate::schema::request;

/// Marks a response that repeats the first one to its key.
const REPLAYED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"));

request! {
    /// That the sender knows the risk.
    pub(crate) struct AcknowledgmentRequest in camelCase {
        /// From the risk context, to record that the user saw the risk. Required if it is high and enforced. Good for
        /// one transfer or hold.
        pub(crate) acknowledgment_token: Option<String> { chars_max: TOKEN_CHARS_MAX, example: TOKEN_EXAMPLE },
    }
}

/// The id of the decisions that a response rests on.
pub(crate) const DECISION: HeaderName = HeaderName::from_static("decision-id");

pub(crate) fn respond<T>(answer: Answer<T>, success: impl FnOnce(T) -> Response) -> Response {
    let mut response = answer.result.map_or_else(|reason| Error::from(reason).into_response(), success);
    let id = answer.decision.and_then(|id| HeaderValue::try_from(id.to_string()).ok());
    response.headers_mut().extend(id.map(|id| (DECISION, id)));
    mark(response, answer.replayed)
}

pub(crate) fn mark(mut response: Response, is_replayed: bool) -> Response {
    response.headers_mut().extend(is_replayed.then_some(REPLAYED));
    response
}
