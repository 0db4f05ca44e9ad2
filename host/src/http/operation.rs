//! An endpoint as one row: method, path, handler and scopes, and for OpenAPI its parameters, body, responses and errors.

use axum::routing::MethodRouter;

use crate::app::App;
use crate::http::admin::action::ApprovalJson;
use crate::http::extract::PageQuery;
use crate::schema::{Declaration, Record};

/// Media type of JSON on lines.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// What a listener serves.
pub struct Api {
    pub name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) callers: Callers,
    pub(crate) operations: fn() -> Vec<Operation>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callers {
    /// Anybody, perhaps through a proxy.
    Public,
    /// The bank's own services and operators, under the configured host names.
    Internal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    Public,
    /// A bearer token.
    User,
    /// A bearer token with one of these scopes.
    Operator(&'static [&'static str]),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Body {
    None,
    Json(&'static Declaration),
    /// JSON, one on each line.
    Ndjson(&'static Declaration),
    /// Bytes of a media type.
    Bytes(&'static str),
}

/// Content of a successful response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    Empty,
    One(&'static Declaration),
    List(&'static Declaration),
    /// Server-sent events, each with a list.
    Events(&'static Declaration),
    /// One record, or server-sent events, each with a list.
    OneOrEvents(&'static Declaration, &'static Declaration),
    /// Bytes of a media type.
    Bytes(&'static str),
}

/// A header that is not on every request or response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) required: bool,
}

impl Header {
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, required: false }
    }

    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

pub(crate) const ETAG: Header = Header::new("ETag", "Identifies this version of the response.");
pub(crate) const IF_NONE_MATCH: Header = Header::new("If-None-Match", "An ETag; 304 if it still matches.");
pub(crate) const LOCATION: Header = Header::new("Location", "URL of the result.");
const LINK: Header = Header::new("Link", "The next page, `rel=\"next\"`, if there is one.");

/// One method of one path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// Name of the handler: unique in a document.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) handler: fn() -> MethodRouter<App>,
    pub(crate) auth: Auth,
    pub(crate) query: &'static [&'static Declaration],
    pub(crate) body: Body,
    pub(crate) answers: &'static [(u16, Content)],
    /// Whether it makes a transfer, and fails as one.
    pub(crate) is_transfer: bool,
    /// Whether its success follows a commit that the ledger has confirmed. A bulk's also reports refusals, so it is
    /// confirmed like a read.
    pub(crate) is_command: bool,
    /// Codes besides those common to all such operations.
    pub(crate) errors: &'static [&'static str],
    pub(crate) request_headers: &'static [Header],
    pub(crate) answer_headers: &'static [Header],
}

impl Operation {
    pub(crate) const fn new(
        method: &'static str,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: fn() -> MethodRouter<App>,
    ) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            handler,
            auth: Auth::Public,
            query: &[],
            body: Body::None,
            answers: &[],
            is_transfer: false,
            is_command: false,
            errors: &[],
            request_headers: &[],
            answer_headers: &[],
        }
    }

    pub(crate) const fn user(self) -> Self {
        Self { auth: Auth::User, ..self }
    }

    pub(crate) const fn operator(self, scopes: &'static [&'static str]) -> Self {
        Self { auth: Auth::Operator(scopes), ..self }
    }

    pub(crate) const fn query(self, query: &'static [&'static Declaration]) -> Self {
        Self { query, ..self }
    }

    pub(crate) const fn body<T: Record>(self) -> Self {
        Self { body: Body::Json(const { &T::DECLARATION }), ..self }
    }

    pub(crate) const fn lines<T: Record>(self) -> Self {
        Self { body: Body::Ndjson(const { &T::DECLARATION }), ..self }
    }

    pub(crate) const fn bytes(self, media_type: &'static str) -> Self {
        Self { body: Body::Bytes(media_type), ..self }
    }

    pub(crate) const fn answers(self, answers: &'static [(u16, Content)]) -> Self {
        Self { answers, ..self }
    }

    pub(crate) const fn ok<T: Record>(self) -> Self {
        self.answers(const { &[(200, one::<T>())] })
    }

    pub(crate) const fn created<T: Record>(self) -> Self {
        self.answers(const { &[(201, one::<T>())] })
    }

    /// Done, or waiting for a second operator.
    pub(crate) const fn ok_or_approval<T: Record>(self) -> Self {
        self.answers(const { &[(200, one::<T>()), (202, one::<ApprovalJson>())] }).gives(const { &[LOCATION] })
    }

    /// A list in pages.
    pub(crate) const fn pages_of<T: Record>(self) -> Self {
        let pages = self.query(const { &[&PageQuery::DECLARATION] });
        pages.answers(const { &[(200, Content::List(&T::DECLARATION))] }).gives(const { &[LINK] })
    }

    /// A file that a browser may keep.
    pub(crate) const fn file(self, answers: &'static [(u16, Content)]) -> Self {
        self.takes(const { &[IF_NONE_MATCH] }).gives(const { &[ETAG] }).answers(answers)
    }

    pub(crate) const fn transfer(self) -> Self {
        Self { is_transfer: true, ..self }
    }

    pub(crate) const fn command(self) -> Self {
        Self { is_command: true, ..self }
    }

    pub(crate) const fn errors(self, errors: &'static [&'static str]) -> Self {
        Self { errors, ..self }
    }

    pub(crate) const fn takes(self, request_headers: &'static [Header]) -> Self {
        Self { request_headers, ..self }
    }

    pub(crate) const fn gives(self, answer_headers: &'static [Header]) -> Self {
        Self { answer_headers, ..self }
    }
}

pub(crate) const PAGE: &[(u16, Content)] = &[(200, Content::Bytes("text/html")), (304, Content::Empty)];
pub(crate) const ANY_FILE: &[(u16, Content)] = &[(200, Content::Bytes("*/*")), (304, Content::Empty)];

/// One record.
pub(crate) const fn one<T: Record>() -> Content {
    Content::One(const { &T::DECLARATION })
}

/// `METHOD PATH, handler, summary`: the beginning of a row. Its id is the handler's name, unless another one is given.
macro_rules! route {
    ($method:ident $path:literal, $id:literal: $handler:expr, $summary:literal) => {
        $crate::http::operation::Operation::new(stringify!($method), $path, $id, $summary, || {
            axum::routing::$method($handler)
        })
    };
    ($method:ident $path:literal, $module:ident::$name:ident, $summary:literal) => {
        $crate::http::operation::Operation::new(stringify!($method), $path, stringify!($name), $summary, || {
            axum::routing::$method($module::$name)
        })
    };
}

pub(crate) use route;
