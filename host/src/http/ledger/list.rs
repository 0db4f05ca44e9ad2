//! Lists: one page with a link to the next, or the whole array, streamed.

use std::future::Future;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;

use crate::http::error::Error;
use crate::http::extract::{Cursor, PAGE_LENGTH_MAX, Page};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Something that stands in a list.
pub(crate) trait Item: Serialize + Send + Sync + 'static {
    /// What names a place in the list.
    type Cursor: Cursor;

    /// Where it stands.
    fn cursor(&self) -> Self::Cursor;
}

/// Answers with what `fetch` gives: up to so many items after a place. `path` may have parameters of its own.
pub(crate) async fn answer<T, F, R>(path: &str, page: Page<T::Cursor>, fetch: F) -> Result<Response, Error>
where
    T: Item,
    F: Fn(Option<T::Cursor>, i64) -> R + Send + 'static,
    R: Future<Output = Result<Vec<T>, sqlx::Error>> + Send,
{
    match page.limit {
        Some(limit) => one_page(path, limit, page.after, fetch).await,
        None => whole(page.after, fetch).await,
    }
}

async fn one_page<T, F, R>(path: &str, limit: u32, after: Option<T::Cursor>, fetch: F) -> Result<Response, Error>
where
    T: Item,
    F: Fn(Option<T::Cursor>, i64) -> R,
    R: Future<Output = Result<Vec<T>, sqlx::Error>>,
{
    // One more than asked for tells whether there is a next page.
    let mut items = fetch(after, i64::from(limit) + 1).await?;
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let mut response = axum::Json(&items).into_response();
    if let Some(last) = items.last().filter(|_| more) {
        let joint = if path.contains('?') { '&' } else { '?' };
        let link = format!("<{path}{joint}limit={limit}&cursor={}>; rel=\"next\"", last.cursor().to_text());
        let link = HeaderValue::from_str(&link).map_err(|error| Error::Internal(error.into()))?;
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// How far a stream has come.
struct Progress<T> {
    items: Vec<T>,
    first: bool,
}

/// Pages of the database become chunks of one array. The first is fetched before the status is
/// sent; a failure after that breaks the connection off, so that no short list looks whole.
async fn whole<T, F, R>(after: Option<T::Cursor>, fetch: F) -> Result<Response, Error>
where
    T: Item,
    F: Fn(Option<T::Cursor>, i64) -> R + Send + 'static,
    R: Future<Output = Result<Vec<T>, sqlx::Error>> + Send,
{
    let length = i64::from(PAGE_LENGTH_MAX);
    let items = fetch(after, length).await?;
    let start = Some(Progress { items, first: true });
    let chunks = stream::try_unfold((start, fetch), move |(progress, fetch)| async move {
        let Some(Progress { items, first }) = progress else { return Ok(None) };
        let chunk = chunk(&items, first, (items.len() as i64) < length)?;
        let next = match items.last() {
            Some(last) if items.len() as i64 == length => {
                Some(Progress { items: fetch(Some(last.cursor()), length).await?, first: false })
            }
            _ => None,
        };
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Some((chunk, (next, fetch))))
    });
    Ok(([(header::CONTENT_TYPE, JSON)], Body::from_stream(chunks)).into_response())
}

/// A part of the array with its brackets and commas.
fn chunk<T: Serialize>(items: &[T], first: bool, last: bool) -> Result<Bytes, serde_json::Error> {
    let mut text = serde_json::to_vec(items)?;
    // `[a,b]` becomes `[a,b` at the start, `,c,d` in the middle, and gets its end back last.
    if !first {
        match items.is_empty() {
            true => text.remove(0),
            false => std::mem::replace(&mut text[0], b','),
        };
    }
    if !last {
        text.pop();
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::chunk;

    #[test]
    fn chunks_add_up_to_one_array() {
        let join = |parts: &[(&[u8], bool, bool)]| {
            let chunks = parts.iter().map(|(items, first, last)| chunk(items, *first, *last).unwrap());
            String::from_utf8(chunks.flat_map(|chunk| chunk.to_vec()).collect()).unwrap()
        };
        assert_eq!(join(&[(&[], true, true)]), "[]");
        assert_eq!(join(&[(&[1], true, true)]), "[1]");
        assert_eq!(join(&[(&[1, 2], true, false), (&[3, 4], false, false), (&[5], false, true)]), "[1,2,3,4,5]");
        assert_eq!(join(&[(&[1, 2], true, false), (&[], false, true)]), "[1,2]");
    }
}
