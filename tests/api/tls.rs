//! TLS on a listener, with real clients over real connections.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::{get, post};
use caudal::http::server::tls::{Files, HANDSHAKE_TIME_MAX, Tls};
use caudal::http::server::{CONNECTIONS_MAX, Listener, Threads, serve};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Longest wait for anything; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often the tests' listeners look at their files.
const RELOAD_EVERY: Duration = Duration::from_millis(20);

const LIVEZ: &[u8] = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";

fn pem(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/api/tls").join(name)
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(pem(name)).unwrap()
}

/// A listener whose files can be replaced.
struct Server {
    address: SocketAddr,
    files: Files,
    folder: PathBuf,
    _stop: watch::Sender<bool>,
}

impl Server {
    async fn start(name: &str, clients: Option<&str>) -> Self {
        let folder = std::env::temp_dir().join(format!("caudal-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let files = Files {
            certificate: folder.join("certificate.pem"),
            key: folder.join("key.pem"),
            clients: clients.map(pem),
        };
        fs::copy(pem("server.pem"), &files.certificate).unwrap();
        fs::copy(pem("server-key.pem"), &files.key).unwrap();
        let tls = Tls::open(files.clone()).unwrap();
        tokio::spawn(tls.clone().follow(RELOAD_EVERY));
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let router =
            Router::new().route("/livez", get(async || "alive")).route("/rails/stp/state", post(async || "heard"));
        tokio::spawn(serve(
            Listener { tcp, tls: Some(tls), strict_transport: true },
            router,
            Threads::Shared,
            Default::default(),
            stopped,
        ));
        Self { address, files, folder, _stop: stop }
    }

    async fn connect_plainly(&self, from: Ipv4Addr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    async fn connect(&self, client: &Client) -> io::Result<TlsStream<TcpStream>> {
        let tcp = self.connect_plainly(Ipv4Addr::new(127, 9, 9, 9)).await;
        let name = ServerName::try_from(client.name).unwrap();
        timeout(PATIENCE, TlsConnector::from(client.config()).connect(name, tcp)).await.expect("a handshake in time")
    }

    /// The head of an answer on a connection of its own.
    async fn ask(&self, client: &Client, request: &[u8]) -> io::Result<String> {
        ask(&mut self.connect(client).await?, request).await
    }

    /// Waits until new connections are shown this certificate.
    async fn presents(&self, name: &str) {
        let (begun, expected) = (Instant::now(), certificate(name));
        loop {
            let stream = self.connect(&Client::default()).await.unwrap();
            if stream.get_ref().1.peer_certificates().unwrap()[0] == expected {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{name} is not in use");
            sleep(RELOAD_EVERY).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

async fn ask(stream: &mut TlsStream<TcpStream>, request: &[u8]) -> io::Result<String> {
    let answer = async {
        stream.write_all(request).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"alive") && !head.ends_with(b"heard") {
            head.push(stream.read_u8().await?);
        }
        Ok(String::from_utf8(head).unwrap().to_lowercase())
    };
    timeout(PATIENCE, answer).await.expect("an answer in time")
}

/// What a client trusts and shows.
struct Client {
    authority: &'static str,
    /// Under which it asks for the server.
    name: &'static str,
    certificate: Option<&'static str>,
    version: &'static SupportedProtocolVersion,
}

impl Default for Client {
    fn default() -> Self {
        Self { authority: "authority.pem", name: "localhost", certificate: None, version: &TLS13 }
    }
}

impl Client {
    fn config(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(self.authority)).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[self.version]).unwrap();
        let builder = builder.with_root_certificates(roots);
        let mut config = match self.certificate {
            None => builder.with_no_client_auth(),
            Some(name) => {
                let key = PrivateKeyDer::from_pem_file(pem(&format!("{name}-key.pem"))).unwrap();
                builder.with_client_auth_cert(vec![certificate(&format!("{name}.pem"))], key).unwrap()
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

#[tokio::test]
async fn a_client_reaches_the_server_it_means_and_no_other() {
    let server = Server::start("names", None).await;
    for version in [&TLS12, &TLS13] {
        let mut stream = server.connect(&Client { version, ..Client::default() }).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let answer = ask(&mut stream, LIVEZ).await.unwrap();
        assert!(answer.starts_with("http/1.1 200"), "{answer}");
        assert!(answer.contains("\r\nstrict-transport-security: max-age="), "{answer}");
    }
    assert!(server.ask(&Client { authority: "stranger.pem", ..Client::default() }, LIVEZ).await.is_err());
    assert!(server.ask(&Client { name: "other.example", ..Client::default() }, LIVEZ).await.is_err());
}

#[tokio::test]
async fn plain_http_on_a_tls_port_is_not_answered() {
    let server = Server::start("plain", None).await;
    let mut plain = server.connect_plainly(Ipv4Addr::LOCALHOST).await;
    plain.write_all(LIVEZ).await.unwrap();
    let mut answer = Vec::new();
    let _ = timeout(PATIENCE, plain.read_to_end(&mut answer)).await.expect("closed");
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/"), "{answer:?}");
    server.ask(&Client::default(), LIVEZ).await.unwrap();
}

#[tokio::test]
async fn silent_handshakes_do_not_keep_others_out() {
    let server = Server::start("silent", None).await;
    let mut silent = Vec::new();
    let first = server.connect_plainly(Ipv4Addr::new(127, 2, 0, 1)).await;
    for client in 0..CONNECTIONS_MAX + 200 {
        let [.., low] = (client as u32).to_be_bytes();
        let mut stream = server.connect_plainly(Ipv4Addr::new(127, 1, 0, low)).await;
        if client % 2 == 0 {
            // The beginning of a handshake.
            stream.write_all(&[0x16, 3, 1, 2, 0, 1]).await.unwrap();
        }
        silent.push(stream);
    }
    server.ask(&Client::default(), LIVEZ).await.unwrap();
    // The one that waits longest, and was not closed to make room, is given up.
    let mut last = silent.pop().unwrap();
    let closed = timeout(HANDSHAKE_TIME_MAX + PATIENCE, last.read(&mut [0])).await.expect("given up");
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    drop((first, silent));
}

#[tokio::test]
async fn certificates_change_without_a_failed_request() {
    let server = Arc::new(Server::start("renewal", None).await);
    let (stop, stopped) = watch::channel(false);
    let clients = (0..4).map(|number| {
        let (server, stopped) = (Arc::clone(&server), stopped.clone());
        tokio::spawn(async move {
            let mut kept = server.connect(&Client::default()).await.unwrap();
            let mut asked = 0;
            while !*stopped.borrow() {
                if number % 2 == 0 {
                    ask(&mut kept, LIVEZ).await.unwrap();
                } else {
                    server.ask(&Client::default(), LIVEZ).await.unwrap();
                }
                asked += 1;
            }
            asked
        })
    });
    let clients: Vec<_> = clients.collect();
    server.presents("server.pem").await;
    let replace = |certificate: &str, key: &str| {
        fs::copy(pem(certificate), &server.files.certificate).unwrap();
        fs::copy(pem(key), &server.files.key).unwrap();
    };
    // For a while the certificate and the key do not belong together.
    fs::copy(pem("renewed.pem"), &server.files.certificate).unwrap();
    sleep(RELOAD_EVERY * 10).await;
    server.presents("server.pem").await;
    replace("renewed.pem", "renewed-key.pem");
    server.presents("renewed.pem").await;
    for broken in [&b"no certificate"[..], b""] {
        fs::write(&server.files.certificate, broken).unwrap();
        sleep(RELOAD_EVERY * 10).await;
        server.presents("renewed.pem").await;
    }
    fs::remove_file(&server.files.key).unwrap();
    sleep(RELOAD_EVERY * 10).await;
    server.presents("renewed.pem").await;
    replace("server.pem", "server-key.pem");
    server.presents("server.pem").await;
    stop.send_replace(true);
    for client in clients {
        assert!(client.await.unwrap() > 0, "each client was answered all the time");
    }
}

#[tokio::test]
async fn clients_need_a_certificate_of_the_authority() {
    let server = Server::start("clients", Some("authority.pem")).await;
    let notice = b"POST /rails/stp/state HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
    for version in [&TLS12, &TLS13] {
        for request in [LIVEZ, notice] {
            let client = |certificate| Client { certificate, version, ..Client::default() };
            let answer = server.ask(&client(Some("client")), request).await.unwrap();
            assert!(answer.starts_with("http/1.1 200"), "{answer}");
            assert!(server.ask(&client(None), request).await.is_err(), "without a certificate");
            assert!(server.ask(&client(Some("foreign")), request).await.is_err(), "another authority's");
        }
    }
}
