//! The receiving half of OTLP over HTTP, with the protocol's own messages.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use prost::Message as _;

/// The body of each request.
type Received = Mutex<Vec<Vec<u8>>>;

/// Keeps what it gets. Listens as long as the tests run.
pub(crate) struct Collector {
    pub(crate) url: String,
    received: Arc<Received>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received: Arc<Received> = Arc::default();
        let into = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let into = Arc::clone(&into);
                std::thread::spawn(move || receive(stream.unwrap(), &into));
            }
        });
        Self { url, received }
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let scopes = self.resources().into_iter().flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// The attributes of the process.
    pub(crate) fn process(&self) -> Vec<KeyValue> {
        self.resources().remove(0).resource.unwrap().attributes
    }

    fn resources(&self) -> Vec<ResourceSpans> {
        let received = self.received.lock().unwrap();
        let messages = received.iter().map(|body| ExportTraceServiceRequest::decode(&body[..]).unwrap());
        messages.flat_map(|message| message.resource_spans).collect()
    }

    /// All bodies, with what is no text replaced.
    pub(crate) fn text(&self) -> String {
        let received = self.received.lock().unwrap();
        received.iter().map(|body| String::from_utf8_lossy(body)).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn attribute(attributes: &[KeyValue], name: &str) -> Option<String> {
    let attribute = attributes.iter().find(|it| it.key == name)?;
    Some(match attribute.value.clone()?.value? {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        other => panic!("{name}: {other:?}"),
    })
}

fn receive(stream: TcpStream, into: &Received) {
    let mut answers = stream.try_clone().unwrap();
    let mut requests = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            match requests.read_line(&mut line) {
                Ok(1..) if line.trim().is_empty() => break,
                Ok(1..) => head.push(line.trim().to_lowercase()),
                _ => return,
            }
        }
        let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        requests.read_exact(&mut body).unwrap();
        assert!(head[0].starts_with("post /v1/traces "), "{head:?}");
        assert!(head.contains(&"content-type: application/x-protobuf".to_owned()), "{head:?}");
        into.lock().unwrap().push(body);
        answers.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    }
}
