//! An operation of the API as data: parameters, body, responses and errors.

use crate::schema::{Declaration, Record};

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

/// One method of one path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// Name of the handler: unique in a document.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) auth: Auth,
    pub(crate) query: &'static [&'static Declaration],
    pub(crate) body: Body,
    pub(crate) answers: &'static [(u16, Content)],
    /// Codes besides those common to all such operations.
    pub(crate) errors: &'static [&'static str],
    pub(crate) request_headers: &'static [Header],
    pub(crate) answer_headers: &'static [Header],
}

impl Operation {
    const fn new(method: &'static str, path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            auth: Auth::Public,
            query: &[],
            body: Body::None,
            answers: &[],
            errors: &[],
            request_headers: &[],
            answer_headers: &[],
        }
    }

    pub(crate) const fn get(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("get", path, id, summary)
    }

    pub(crate) const fn post(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("post", path, id, summary)
    }

    pub(crate) const fn put(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("put", path, id, summary)
    }

    pub(crate) const fn patch(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("patch", path, id, summary)
    }

    pub(crate) const fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("delete", path, id, summary)
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

    pub(crate) const fn bytes(self, media_type: &'static str) -> Self {
        Self { body: Body::Bytes(media_type), ..self }
    }

    pub(crate) const fn answers(self, answers: &'static [(u16, Content)]) -> Self {
        Self { answers, ..self }
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

/// One record.
pub(crate) const fn one<T: Record>() -> Content {
    Content::One(const { &T::DECLARATION })
}

/// A list of records.
pub(crate) const fn list<T: Record>() -> Content {
    Content::List(const { &T::DECLARATION })
}
