//! The body of a request that may be answered before it has arrived.
//!
//! A client may send the head first and the body later. If the connection were closed after an early answer, the
//! client's next request on it would break, so what is left of a small body is read, and a connection that cannot be
//! kept is announced as closed.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};

/// Most bytes read of a body that nobody needs: four times the limit of ordinary requests, so that a client which sends
/// a little too much keeps its connection.
const REST_BYTES_MAX: usize = 256 << 10;

/// Longest wait for them, which a slow sender adds to an early answer.
const REST_TIME_MAX: Duration = Duration::from_millis(500);

/// A request's body, which its handler reads through a [`View`].
#[derive(Clone)]
pub(crate) struct Arriving(Arc<Mutex<State>>);

struct State {
    body: Body,
    has_begun: bool,
    has_ended: bool,
}

/// Reads an [`Arriving`] body.
struct View(Arriving);

impl Arriving {
    pub(crate) fn new(body: Body) -> Self {
        let has_ended = body.is_end_stream();
        Self(Arc::new(Mutex::new(State { body, has_begun: false, has_ended })))
    }

    pub(crate) fn view(&self) -> Body {
        Body::new(View(self.clone()))
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.with(|state| state.has_ended)
    }

    fn with<T>(&self, run: impl FnOnce(&mut State) -> T) -> T {
        // A panic while a frame is polled leaves nothing half done.
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the connection usable after an answer, or announces that it is closed. A client that `expects` to be asked
    /// with `100 Continue` is not asked for a body that nobody needs.
    pub(crate) async fn settle(self, expects: bool, response: &mut Response) {
        let is_awaited = expects && self.with(|state| !state.has_begun);
        let is_small = self.with(|state| state.body.size_hint().lower() <= REST_BYTES_MAX as u64);
        let kept = self.has_ended() || (is_small && !is_awaited && self.read_rest().await);
        if !kept {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Whether the body ended within the limits.
    async fn read_rest(self) -> bool {
        let read = async {
            let (mut view, mut bytes) = (View(self), 0);
            while let Some(frame) = view.frame().await {
                bytes += frame.ok()?.data_ref().map_or(0, Bytes::len);
                if bytes > REST_BYTES_MAX {
                    return None;
                }
            }
            Some(())
        };
        tokio::time::timeout(REST_TIME_MAX, read).await.is_ok_and(|end| end.is_some())
    }
}

impl HttpBody for View {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.0.with(|state| {
            state.has_begun = true;
            let polled = Pin::new(&mut state.body).poll_frame(context);
            state.has_ended |= matches!(polled, Poll::Ready(None)) || state.body.is_end_stream();
            polled
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.has_ended()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.with(|state| state.body.size_hint())
    }
}
