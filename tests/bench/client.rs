//! A client that costs little: requests are ready-made bytes, and of an answer it reads status and length.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One kept connection.
pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, read: Vec::with_capacity(4096) }
    }

    /// Sends a request and gives status and body.
    pub(crate) async fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\
             \r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.read.clear();
        loop {
            assert!(self.stream.read_buf(&mut self.read).await.unwrap() > 0, "the connection was closed");
            let Some(head) = find(&self.read, b"\r\n\r\n") else { continue };
            let text = std::str::from_utf8(&self.read[..head]).unwrap();
            let status = text.split(' ').nth(1).unwrap().parse().unwrap();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let end = head + 4 + length.parse::<usize>().unwrap();
            if self.read.len() >= end {
                return (status, String::from_utf8(self.read[head + 4..end].to_vec()).unwrap());
            }
        }
    }
}

fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    text.windows(mark.len()).position(|it| it == mark)
}
