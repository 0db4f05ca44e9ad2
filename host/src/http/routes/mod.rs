//! What each listener serves: one table for its router and its OpenAPI document.

mod assist;
mod foreign;
mod ledger;

pub use assist::ASSIST;
pub use ledger::LEDGER;

use crate::http::operation::Content;
use crate::schema::typescript;

/// The answers of both listeners, as TypeScript for the pages.
pub fn types() -> String {
    let operations = [&LEDGER, &ASSIST].into_iter().flat_map(|api| (api.operations)());
    let answers = operations.flat_map(|it| it.answers).filter_map(|(_, content)| match content {
        Content::One(it) | Content::List(it) | Content::Events(it) => Some(*it),
        Content::Empty | Content::Bytes(_) => None,
    });
    format!("// Answers of the service; generated from the host's declarations.\n\n{}", typescript::answers(answers))
}
