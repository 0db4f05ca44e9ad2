//! Lists: one page with a link to the next, or the whole list as a streamed array.

use std::future::Future;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;

use crate::db::connections::AcquireError;
use crate::http::error::Error;
use crate::http::extract::{Cursor, PAGE_LENGTH_MAX, Page};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Pause before the rest of a list asks for a connection again.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) trait Item: Serialize + Send + Sync + 'static {
    type Cursor: Cursor;

    /// The item's own position.
    fn cursor(&self) -> Self::Cursor;
}

/// `fetch` returns up to `limit` items after a position. `path`, for the link, may have a query string.
pub(crate) async fn answer<T, F, R>(path: &str, page: Page<T::Cursor>, fetch: F) -> Result<Response, Error>
where
    T: Item,
    F: Fn(Option<T::Cursor>, i64) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<T>, AcquireError>> + Send,
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
    R: Future<Output = Result<Vec<T>, AcquireError>>,
{
    // One item more than the limit shows whether there is a next page.
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

/// Items to send next.
struct Batch<T> {
    items: Vec<T>,
    first: bool,
}

/// Each page of the database becomes a chunk of one array, unless there is only one. The first is fetched before the status
/// is sent; a later failure aborts the connection, so that no truncated list looks complete.
async fn whole<T, F, R>(after: Option<T::Cursor>, fetch: F) -> Result<Response, Error>
where
    T: Item,
    F: Fn(Option<T::Cursor>, i64) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<T>, AcquireError>> + Send,
{
    let length = i64::from(PAGE_LENGTH_MAX);
    let items = fetch(after, length).await?;
    if (items.len() as i64) < length {
        return Ok(axum::Json(items).into_response());
    }
    let start = Some(Batch { items, first: true });
    let chunks = stream::try_unfold((start, fetch), move |(batch, fetch)| async move {
        let Some(Batch { items, first }) = batch else { return Ok(None) };
        let chunk = chunk(&items, first, (items.len() as i64) < length)?;
        let after = items.last().filter(|_| items.len() as i64 == length).map(Item::cursor);
        let next = match after {
            Some(_) => Some(Batch { items: patiently(|| fetch(after, length)).await?, first: false }),
            None => None,
        };
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Some((chunk, (next, fetch))))
    });
    Ok(([(header::CONTENT_TYPE, JSON)], Body::from_stream(chunks)).into_response())
}

/// Fetches the next part. What has begun is not refused: it waits as long as its client does.
pub(crate) async fn patiently<T, R>(fetch: impl Fn() -> R) -> Result<T, AcquireError>
where
    R: Future<Output = Result<T, AcquireError>>,
{
    loop {
        match fetch().await {
            Err(AcquireError::Busy) => tokio::time::sleep(PAUSE).await,
            fetched => return fetched,
        }
    }
}

/// A part of the array, with the array's brackets and commas.
fn chunk<T: Serialize>(items: &[T], first: bool, last: bool) -> Result<Bytes, serde_json::Error> {
    let mut text = serde_json::to_vec(items)?;
    // `[a,b` comes first, `,c,d` in the middle, `,e]` last.
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
