//! What each listener serves: one table for its router and its OpenAPI document.

mod assist;
mod foreign;
mod ledger;

pub use assist::ASSIST;
pub use ledger::LEDGER;

use crate::http::operation::{Body, Content};
use crate::schema::typescript;

/// The requests and answers of both listeners, as TypeScript for the pages.
pub fn types() -> String {
    let operations: Vec<_> = [&LEDGER, &ASSIST].into_iter().flat_map(|api| (api.operations)()).collect();
    let requests = operations.iter().filter_map(|it| if let Body::Json(it) = it.body { Some(it) } else { None });
    let answers = operations.iter().flat_map(|it| it.answers).filter_map(|(_, content)| match content {
        Content::One(it) | Content::List(it) | Content::Events(it) | Content::OneOrEvents(it, _) => Some(*it),
        Content::Empty | Content::Bytes(_) => None,
    });
    let interfaces = typescript::interfaces(requests, answers);
    format!("// Requests and answers of the service; generated from the host's declarations.\n\n{interfaces}")
}
