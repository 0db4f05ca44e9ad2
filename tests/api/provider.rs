//! An OpenID provider on a loopback port, as far as a service sees it: its configuration and its keys. What it
//! publishes can be replaced.

use std::sync::{Arc, Mutex, OnceLock};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use caudal::auth::claims::TokenConfig;
use caudal::auth::provider::{Provider, Source};
use caudal::auth::token::Verifier;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rsa::pkcs1::EncodeRsaPrivateKey as _;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub(crate) const AUDIENCE: &str = "https://bank.example";

/// The harness's time, 2026-11-21T18:00:00Z, in seconds.
pub(crate) const NOW: i64 = 1_795_284_000;

/// A key pair of the provider.
pub(crate) struct Pair {
    pub(crate) id: &'static str,
    pub(crate) algorithm: Algorithm,
    pub(crate) private: EncodingKey,
}

/// Private keys for tests only: two of P-256, two of Ed25519, in PKCS #8.
const EC: [&str; 2] = [
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXSWSrkjsTobBI+/PMAXYmr33iTk69oc0nIk8ytfXxrWhRANCAARevmBatHMnWzStpmNr\
     ZIkM4q+TuKMyoHQBoOlyOOYIw0baJvphaNMS2UxbUDaQTl691bJE5OsjdTW1u+by8WQX",
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRgltK4l3AqSxSZ6k97TLCmNEhquAi4e+xTOeaowyBNihRANCAATDxF8FQkUKQzlBFTSi\
     cJGctR4yFkwYOr6MwXt+TfeOQ0bbAnqp9I8yqBxziWMh/EIoYUBm4l5A++O0pF/Jynij",
];
const ED: [&str; 2] = [
    "MC4CAQAwBQYDK2VwBCIEIOPnJBwTXiZg8VJoXt52KwFCQPe67sVei8TJpJ0mUDOk",
    "MC4CAQAwBQYDK2VwBCIEINx6NQUwQcx3X4SkRyJp1gS/25zspcnSVK2PmjCNQK2u",
];

impl Pair {
    pub(crate) fn ec(id: &'static str, index: usize) -> Self {
        Self { id, algorithm: Algorithm::ES256, private: EncodingKey::from_ec_der(&decode(EC[index])) }
    }

    pub(crate) fn ed(id: &'static str, index: usize) -> Self {
        Self { id, algorithm: Algorithm::EdDSA, private: EncodingKey::from_ed_der(&decode(ED[index])) }
    }

    pub(crate) fn rsa(id: &'static str, algorithm: Algorithm, bits: usize) -> Self {
        static KEY: OnceLock<Vec<u8>> = OnceLock::new();
        let generate = |bits| {
            let key = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, bits).unwrap();
            key.to_pkcs1_der().unwrap().as_bytes().to_vec()
        };
        let der = if bits == 2_048 { KEY.get_or_init(|| generate(bits)).clone() } else { generate(bits) };
        Self { id, algorithm, private: EncodingKey::from_rsa_der(&der) }
    }

    /// What the provider publishes of it.
    pub(crate) fn public(&self) -> Value {
        let mut jwk = json!(Jwk::from_encoding_key(&self.private, self.algorithm).unwrap());
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub(crate) fn header(&self) -> Header {
        let mut header = Header::new(self.algorithm);
        (header.typ, header.kid) = (Some("at+jwt".to_owned()), Some(self.id.to_owned()));
        header
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        encode(&self.header(), claims, &self.private).unwrap()
    }
}

fn decode(base64: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(base64).unwrap()
}

/// What the provider answers for its keys.
#[derive(Clone)]
struct Published(Arc<Mutex<(StatusCode, String)>>);

pub(crate) struct TestProvider {
    pub(crate) issuer: String,
    published: Published,
    tasks: [JoinHandle<()>; 2],
    provider: Arc<Provider>,
}

impl Drop for TestProvider {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl TestProvider {
    pub(crate) async fn start(keys: &[&Pair]) -> Self {
        Self::start_with(set(keys)).await
    }

    pub(crate) async fn start_with(keys: Value) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let configuration = json!({
            "issuer": issuer, "jwks_uri": format!("{issuer}/keys"),
            "authorization_endpoint": format!("{issuer}/auth"), "token_endpoint": format!("{issuer}/token"),
        });
        let published = Published(Arc::new(Mutex::new((StatusCode::OK, keys.to_string()))));
        let keys = async |State(published): State<Published>| published.0.lock().unwrap().clone();
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(async move || configuration.to_string()))
            .route("/keys", get(keys))
            .with_state(published.clone());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let provider = Arc::new(Provider::new(Source::Discovery { issuer: issuer.clone() }).unwrap());
        let reader = tokio::spawn(Arc::clone(&provider).run());
        Self { issuer, published, tasks: [server, reader], provider }
    }

    pub(crate) fn publish(&self, keys: &[&Pair]) {
        self.answer(StatusCode::OK, set(keys).to_string());
    }

    pub(crate) fn answer(&self, status: StatusCode, body: String) {
        *self.published.0.lock().unwrap() = (status, body);
    }

    pub(crate) fn verifier(&self) -> Verifier {
        let config = TokenConfig {
            user_claim: "sub".to_owned(),
            audience: Some(AUDIENCE.to_owned()),
            issuer: Some(self.issuer.clone()),
        };
        Verifier::with_provider(Arc::clone(&self.provider), config, "at+jwt".to_owned(), time::Duration::HOUR)
    }

    pub(crate) fn claims(&self) -> Value {
        json!({"iss": self.issuer, "aud": AUDIENCE, "sub": "ana", "iat": NOW, "exp": NOW + 600, "scope": "api:read api:write"})
    }
}

pub(crate) fn set(keys: &[&Pair]) -> Value {
    json!({"keys": keys.iter().map(|pair| pair.public()).collect::<Vec<_>>()})
}
