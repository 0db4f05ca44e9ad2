//! A minimal HTTP client, so that the load takes little processor time from the service.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One persistent connection.
pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(4096) })
    }

    /// Sends a request and returns status and body.
    pub(crate) async fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Result<(u16, String)> {
        self.write(method, path, headers, body).await?;
        self.read().await
    }

    /// The first half of [`send`](Self::send).
    pub(crate) async fn write(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Result<()> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\
             \r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await
    }

    /// The second half of [`send`](Self::send). After an error the connection is unusable.
    pub(crate) async fn read(&mut self) -> Result<(u16, String)> {
        self.read.clear();
        loop {
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(Error::new(ErrorKind::UnexpectedEof, "the connection was closed"));
            }
            let Some(head) = find(&self.read, b"\r\n\r\n") else { continue };
            let text = std::str::from_utf8(&self.read[..head]).unwrap();
            let status = text.split(' ').nth(1).unwrap().parse().unwrap();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let end = head + 4 + length.parse::<usize>().unwrap();
            if self.read.len() >= end {
                return Ok((status, String::from_utf8(self.read[head + 4..end].to_vec()).unwrap()));
            }
        }
    }
}

fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    text.windows(mark.len()).position(|it| it == mark)
}
