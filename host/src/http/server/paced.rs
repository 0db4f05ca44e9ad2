//! A connection whose peer has to take what it is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connections::Slot;

/// How long writes to a peer may stall in total; bytes that it takes earn time back. Linux reports room only once a
/// third of [`super::SEND_BUFFER_BYTES`] was taken, so a peer has to read three kilobytes a second, less than any
/// mobile connection carries. Meanwhile such connections can be given up for others.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that earn back one second; a slow mobile connection takes several times as many a second.
const BYTES_PER_SECOND_MIN: u32 = 1_024;

/// Fails writes to a peer that reads too slowly.
pub(super) struct Paced<S> {
    stream: S,
    slot: Arc<Slot>,
    patience: Duration,
    waiting: Option<Waiting>,
}

struct Waiting {
    since: Instant,
    end: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    pub(super) fn new(stream: S, slot: Arc<Slot>) -> Self {
        Self { stream, slot, patience: PATIENCE, waiting: None }
    }

    /// Notes whether the peer took bytes; an error if it kept this side waiting for too long.
    fn pace(&mut self, context: &mut Context<'_>, write: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let Poll::Ready(written) = write else {
            let patience = self.patience;
            let waiting = self.waiting.get_or_insert_with(|| {
                self.slot.sending();
                let since = Instant::now();
                Waiting { since, end: Box::pin(sleep_until(since + patience)) }
            });
            ready!(waiting.end.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        };
        if let Some(Waiting { since, .. }) = self.waiting.take() {
            let taken = u32::try_from(*written.as_ref().unwrap_or(&0)).unwrap_or(u32::MAX);
            let made_up = Duration::from_secs(1) * taken / BYTES_PER_SECOND_MIN;
            self.patience = (self.patience.saturating_sub(since.elapsed()) + made_up).min(PATIENCE);
        }
        Poll::Ready(written)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.pace(context, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.pace(context, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Called once everything is written.
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(context));
        self.slot.sent();
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::super::SEND_BUFFER_BYTES;
    use super::super::connections::Connections;
    use crate::metrics::Metrics;
    use futures_util::FutureExt as _;

    fn slot() -> Arc<Slot> {
        Arc::new(Connections::new(1, 1, Metrics::default()).admit([192, 0, 2, 1].into()).unwrap())
    }

    /// How many of these bytes are sent to a peer that takes `taken` bytes every so often.
    async fn sent(bytes: usize, taken: usize, every: Duration) -> Result<(), io::ErrorKind> {
        let (ours, mut theirs) = duplex(1_024);
        let mut ours = Paced::new(ours, slot());
        let reader = tokio::spawn(async move {
            let mut buffer = vec![0; taken];
            loop {
                tokio::time::sleep(every).await;
                if theirs.read(&mut buffer).await.unwrap_or(0) == 0 {
                    return;
                }
            }
        });
        let result = ours.write_all(&vec![0; bytes]).await.map_err(|error| error.kind());
        reader.abort();
        result
    }

    #[tokio::test(start_paused = true)]
    async fn slow_readers_are_given_up() {
        assert_eq!(sent(100_000, 1_024, Duration::from_millis(900)).await, Ok(()));
        assert_eq!(sent(100_000, 1, Duration::from_secs(1)).await, Err(io::ErrorKind::TimedOut));
        assert_eq!(sent(100_000, 512, Duration::from_secs(1)).await, Err(io::ErrorKind::TimedOut));
        assert_eq!(sent(100_000, 1_024, Duration::from_secs(60)).await, Err(io::ErrorKind::TimedOut));
        assert_eq!(sent(100_000, 64, Duration::from_millis(1)).await, Ok(()));
    }

    #[test]
    fn a_peer_that_reads_is_noticed_in_time() {
        assert!(u64::from(SEND_BUFFER_BYTES / 3) < PATIENCE.as_secs() * (3 << 10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_may_be_idle_between_two_responses() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = Paced::new(ours, slot());
        let reader = tokio::spawn(async move {
            let mut read = vec![0; 200];
            theirs.read_exact(&mut read).await.unwrap();
        });
        ours.write_all(&[0; 100]).await.unwrap();
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        ours.write_all(&[0; 100]).await.unwrap();
        reader.await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_whose_peer_has_bytes_to_take_is_not_idle() {
        let connections = Connections::new(1, 1, Metrics::default());
        let slot = Arc::new(connections.admit([192, 0, 2, 1].into()).unwrap());
        let (ours, mut theirs) = duplex(64);
        let mut ours = Paced::new(ours, Arc::clone(&slot));
        let write = async {
            ours.write_all(&[0; 100]).await?;
            ours.flush().await
        };
        let mut write = Box::pin(write);
        assert!(write.as_mut().now_or_never().is_none());
        connections.close_idle();
        theirs.read_exact(&mut [0; 64]).await.unwrap();
        assert!(write.as_mut().now_or_never().is_some());
        assert!(slot.closed().now_or_never().is_none(), "it was not closed");
        connections.close_idle();
        assert!(slot.closed().now_or_never().is_some());
    }
}
