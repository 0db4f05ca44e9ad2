//! Extractors: bodies, query parameters, pages and the idempotency key.

use std::ops::RangeInclusive;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};

use http_body_util::{BodyExt as _, Collected, LengthLimitError, Limited};
use serde_json::error::Category;
use uuid::Uuid;

use crate::clock::{at_millis, millis};
use crate::db::Position;
use crate::http::error::Error;
use crate::http::limits::BODY_BYTES_MAX;
use crate::schema::{Fields, ObjectError, parse_uuid, request};

/// Most items of one page.
pub const PAGE_LENGTH_MAX: u32 = 1_000;

/// Longest cursor, in characters: a letter, 19 digits, an underscore and a UUID are 57.
const CURSOR_LENGTH_MAX: usize = 64;

/// Instants a cursor may contain, in milliseconds: the years 1970 to 9999, which both Postgres and `time` can
/// represent.
const CURSOR_MILLIS: RangeInclusive<i64> = 0..=253_402_300_799_999;

/// Longest idempotency key, in characters.
pub(crate) const KEY_LENGTH_MAX: usize = 255;

/// The JSON object of a ledger request; faults get 400. A route with another limit than the usual one names it here
/// too.
pub struct LedgerBody<const BYTES_MAX: usize = BODY_BYTES_MAX>(pub Fields);

impl<const BYTES_MAX: usize, S: Send + Sync> FromRequest<S> for LedgerBody<BYTES_MAX> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        read_object(request, StatusCode::BAD_REQUEST, BYTES_MAX).await.map(Self)
    }
}

/// The JSON object of an assistance request; faults of its fields get 422.
pub struct AssistBody<const BYTES_MAX: usize = BODY_BYTES_MAX>(pub Fields);

impl<const BYTES_MAX: usize, S: Send + Sync> FromRequest<S> for AssistBody<BYTES_MAX> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        read_object(request, StatusCode::UNPROCESSABLE_ENTITY, BYTES_MAX).await.map(Self)
    }
}

async fn read_object(request: Request, status: StatusCode, bytes_max: usize) -> Result<Fields, Error> {
    let bytes = read_bytes(request, (is_json, Error::NotJson), bytes_max).await?;
    Fields::from_json(bytes, status.as_u16()).map_err(|error| match error {
        ObjectError::NotAnObject(_) => Error::invalid(status, "", "wrong-type", "The body must be a JSON object"),
        ObjectError::Malformed(error) => Error::MalformedJson(malformed(&error)),
    })
}

/// The body, which its route limits to this many bytes.
pub(crate) async fn read_bytes(
    request: Request,
    (is_type, wrong_type): (fn(&HeaderMap) -> bool, Error),
    bytes_max: usize,
) -> Result<Bytes, Error> {
    check_head(request.headers(), is_type, wrong_type, bytes_max)?;
    let body = Limited::new(request.into_body(), bytes_max).collect().await;
    body.map(Collected::to_bytes).map_err(|error| match error.is::<LengthLimitError>() {
        true => Error::PayloadTooLarge(bytes_max),
        false => Error::invalid(StatusCode::BAD_REQUEST, "", "broken-off", "The body ended early"),
    })
}

/// Refuses a body by what the head says about it, before a client that waits for `100 Continue` sends it.
fn check_head(
    headers: &HeaderMap,
    is_type: fn(&HeaderMap) -> bool,
    wrong_type: Error,
    bytes_max: usize,
) -> Result<(), Error> {
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    if !encodings.all(|it| it.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity")) {
        return Err(Error::BodyEncoded);
    }
    if !is_type(headers) {
        return Err(wrong_type);
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > bytes_max as u64) {
        return Err(Error::PayloadTooLarge(bytes_max));
    }
    Ok(())
}

/// Where the JSON is wrong, in words that do not depend on the parser.
fn malformed(error: &serde_json::Error) -> String {
    let at = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        // Found after parsing, so it has no place.
        Category::Data if error.line() == 0 => "The JSON is not in UTF-8.".to_owned(),
        Category::Data => format!("The JSON is ambiguous at {at}: a field appears twice."),
        Category::Eof => "The JSON breaks off.".to_owned(),
        Category::Syntax | Category::Io => format!("The JSON is not valid at {at}."),
    }
}

/// `application/json` or any type with the suffix `+json`; parameters are ignored.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_suffixed = |kind: &str| kind.starts_with("application/") && kind.ends_with("+json");
    kind.eq_ignore_ascii_case("application/json") || is_suffixed(&kind.to_ascii_lowercase())
}

/// Most parameters of a query string: several times what any route takes. Reading them takes quadratic time.
const PARAMETERS_MAX: usize = 64;

pub struct Parameters(pub Fields);

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let query = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let Query(query) =
            query.map_err(|_| Error::invalid_field("", "malformed-query", "The query string cannot be parsed"))?;
        if query.len() > PARAMETERS_MAX {
            let detail = format!("The query string has more than {PARAMETERS_MAX} parameters");
            return Err(Error::invalid_field("", "too-many", &detail));
        }
        Ok(Self(Fields::from_query(query)))
    }
}

request! {
    /// A part of a list.
    pub(crate) struct PageQuery {
        /// Most items of one page; unlimited if omitted.
        limit: Option<u32> { at_least: 1.0, at_most: PAGE_LENGTH_MAX as f64, example: "50" },
        /// From the `Link` header of the previous page.
        cursor: Option<String> { chars_max: CURSOR_LENGTH_MAX },
    }
}

/// The requested part of a list: all of it, unless `limit` is set.
#[derive(Debug, Clone, Copy)]
pub struct Page<C> {
    pub limit: Option<u32>,
    /// The last item of the previous page.
    pub after: Option<C>,
}

impl<C: Cursor> Page<C> {
    /// Reads `limit` and `cursor`.
    pub fn read(fields: &mut Fields) -> Self {
        let PageQuery { limit, cursor } = fields.read();
        let after = cursor.as_deref().and_then(C::parse);
        if cursor.is_some() && after.is_none() {
            fields.refuse("cursor", "unknown-value", "must come from a Link header of this list");
        }
        Self { limit, after }
    }
}

impl<C: Cursor, S: Send + Sync> FromRequestParts<S> for Page<C> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Parameters(mut fields) = Parameters::from_request_parts(parts, state).await?;
        let page = Self::read(&mut fields);
        fields.finish()?;
        Ok(page)
    }
}

/// A list without pages. A cursor is refused: following it would start over for ever.
pub struct Unpaged;

impl<S: Send + Sync> FromRequestParts<S> for Unpaged {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Parameters(mut fields) = Parameters::from_request_parts(parts, state).await?;
        if fields.has("cursor") {
            fields.refuse("cursor", "unknown-value", "is not accepted: this list has no pages");
        }
        fields.finish()?;
        Ok(Self)
    }
}

/// A position in the list of that letter, so that a cursor of one list is refused by another.
#[derive(Debug, Clone, Copy)]
pub struct Place<const LIST: char>(pub Position);

/// A position in a list, opaque to clients.
pub trait Cursor: Copy + Send + Sync + 'static {
    fn to_text(self) -> String;

    fn parse(text: &str) -> Option<Self>;
}

/// The list's letter, milliseconds since 1970 and the id.
impl<const LIST: char> Cursor for Place<LIST> {
    fn to_text(self) -> String {
        let Self(Position { created_at, id }) = self;
        format!("{LIST}{}_{id}", millis(created_at))
    }

    fn parse(text: &str) -> Option<Self> {
        let (created_at, id) = text.strip_prefix(LIST)?.split_once('_')?;
        let created_at = created_at.parse().ok().filter(|millis| CURSOR_MILLIS.contains(millis))?;
        Some(Self(Position { created_at: at_millis(created_at), id: parse_uuid(id)? }))
    }
}

/// The `{id}` of the path. Text that is not a UUID gets 404, like any unknown id.
pub struct PathId(pub Uuid);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.ok().and_then(|Path(id)| parse_uuid(&id)).map(Self).ok_or(Error::NotFound)
    }
}

/// The `Idempotency-Key` header: 1 to 255 visible ASCII characters, raw or as a quoted string.
pub struct IdempotencyKey(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        let key = value.to_str().ok().and_then(parse_key).filter(|_| values.next().is_none());
        let detail = format!("must be one value of 1 to {KEY_LENGTH_MAX} visible ASCII characters");
        key.map(|key| Self(Some(key))).ok_or_else(|| Error::invalid_field("Idempotency-Key", "wrong-type", &detail))
    }
}

fn parse_key(value: &str) -> Option<String> {
    let value = value.trim();
    let key = match value.strip_prefix('"') {
        Some(rest) => unquote(rest.strip_suffix('"')?)?,
        None => value.to_owned(),
    };
    let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
    (visible && (1..=KEY_LENGTH_MAX).contains(&key.len())).then_some(key)
}

/// A quoted string's content: `\"` and `\\` are its only escapes.
fn unquote(quoted: &str) -> Option<String> {
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return None,
            '\\' => text.push(characters.next().filter(|escaped| ['"', '\\'].contains(escaped))?),
            character => text.push(character),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_raw_or_quoted() {
        for (header, key) in [
            ("abc", Some("abc")),
            ("\"abc\"", Some("abc")),
            (r#""a\"b\\c""#, Some(r#"a"b\c"#)),
            ("\"\"", None),
            ("", None),
            ("a b", None),
            ("\"abc", None),
            (r#""a"b""#, None),
            (r#""a\n""#, None),
            ("ñ", None),
        ] {
            assert_eq!(parse_key(header).as_deref(), key, "{header}");
        }
        assert!(parse_key(&"k".repeat(255)).is_some());
        assert!(parse_key(&"k".repeat(256)).is_none());
    }
}
