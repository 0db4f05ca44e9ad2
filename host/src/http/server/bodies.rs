//! Bodies as a connection receives and sends them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};

use super::connections::{Busy, Slot};

/// Largest part of a response that is written at once. Most responses have a hundredth of it.
const PART_BYTES: usize = 16 << 10;

/// A request's body. While somebody waits for it, its connection can be spared.
pub(super) struct Receiving {
    body: Incoming,
    slot: Arc<Slot>,
}

impl Receiving {
    pub(super) fn new(body: Incoming, slot: Arc<Slot>) -> Self {
        Self { body, slot }
    }
}

impl HttpBody for Receiving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if !self.slot.receive(polled.is_pending()) {
            return Poll::Ready(Some(Err(axum::Error::new(io::Error::from(io::ErrorKind::ConnectionAborted)))));
        }
        polled.map(|frame| frame.map(|frame| frame.map_err(axum::Error::new)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response's body, split into small parts: a connection's buffer grows to fit the largest, and stays that large.
pub(super) struct Serving {
    body: Body,
    rest: Bytes,
    _busy: Busy,
}

impl Serving {
    pub(super) fn new(body: Body, busy: Busy) -> Self {
        busy.answer();
        Self { body, rest: Bytes::new(), _busy: busy }
    }
}

impl HttpBody for Serving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let part = self.rest.len().min(PART_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, mut hint) = (self.rest.len() as u64, self.body.size_hint());
        // In this order: an upper bound must not be below the lower one.
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    use super::super::connections::Connections;
    use crate::metrics::Metrics;

    #[tokio::test]
    async fn a_large_response_is_sent_in_small_parts() {
        let text = Bytes::from("x".repeat(3 * PART_BYTES + 1));
        let connections = Connections::new(1, 1, Metrics::default());
        let slot = Arc::new(connections.admit([192, 0, 2, 1].into()).unwrap());
        let busy = Slot::begin(&slot).unwrap();
        let mut body = Serving::new(Body::from(text.clone()), busy);
        let mut sent = Vec::new();
        while let Some(part) = {
            assert_eq!(body.size_hint().exact(), Some((text.len() - sent.len()) as u64));
            body.frame().await
        } {
            let part = part.unwrap().into_data().unwrap();
            assert!((1..=PART_BYTES).contains(&part.len()));
            sent.extend_from_slice(&part);
        }
        assert!(sent == text && body.is_end_stream());
    }
}
