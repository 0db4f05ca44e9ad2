//! Access tokens of an OpenID provider.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Options, TestApp, refused};
use crate::provider::{AUDIENCE, NOW, Pair, TestProvider, set};

async fn start(db: PgPool, provider: &TestProvider) -> TestApp {
    TestApp::with(db, Options { tokens: Some(provider.verifier()), ..Options::default() }).await
}

async fn get(app: &TestApp, token: &str) -> Answer {
    app.anon().with("authorization", &format!("Bearer {token}")).get("/api/ledger/accounts").await
}

pub(crate) fn with(claims: &Value, extra: Value) -> Value {
    let mut claims = claims.clone();
    for (name, value) in extra.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(name),
            value => claims.as_object_mut().unwrap().insert(name.clone(), value.clone()),
        };
    }
    claims
}

/// Sets header fields that the library would not, which breaks the signature's fit unless `sign` is given.
pub(crate) fn with_header(pair: &Pair, claims: &Value, header: &Value) -> String {
    use base64::Engine as _;
    let encode = |value: &Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", encode(header), encode(claims));
    let signature = jsonwebtoken::crypto::sign(signed.as_bytes(), &pair.private, pair.algorithm).unwrap();
    format!("{signed}.{signature}")
}

fn pairs() -> [Pair; 4] {
    [
        Pair::rsa("r", Algorithm::RS256, 2_048),
        Pair::rsa("p", Algorithm::PS256, 2_048),
        Pair::ec("e", 0),
        Pair::ed("d", 0),
    ]
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn tokens_of_every_algorithm_count(db: PgPool) {
    let pairs = pairs();
    let provider = TestProvider::start(&pairs.each_ref()).await;
    let app = start(db, &provider).await;
    for pair in &pairs {
        for (name, extra) in [
            ("plain", json!({})),
            ("one audience of several", json!({"aud": ["other", AUDIENCE]})),
            ("expired a moment ago", json!({"exp": NOW - 4})),
            ("issued in a moment", json!({"iat": NOW + 4, "nbf": NOW + 5})),
        ] {
            let token = pair.sign(&with(&provider.claims(), extra));
            assert_eq!(get(&app, &token).await.status, 200, "{:?} {name}", pair.algorithm);
            // Remembered.
            assert_eq!(get(&app, &token).await.status, 200, "{:?} {name}", pair.algorithm);
        }
        let media_type = json!({"alg": pair.algorithm, "typ": "application/AT+JWT", "kid": pair.id});
        assert_eq!(get(&app, &with_header(pair, &provider.claims(), &media_type)).await.status, 200);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hostile_access_tokens_are_refused(db: PgPool) {
    let pairs = pairs();
    let provider = TestProvider::start(&pairs.each_ref()).await;
    let app = start(db, &provider).await;
    let claims = provider.claims();
    let strangers = [
        Pair::rsa("r", Algorithm::RS256, 2_049),
        Pair::rsa("p", Algorithm::PS256, 2_050),
        Pair::ec("e", 1),
        Pair::ed("d", 1),
    ];
    for (pair, stranger) in pairs.iter().zip(&strangers) {
        let public = pair.public();
        let header = json!({"alg": pair.algorithm, "typ": "at+jwt", "kid": pair.id});
        let confused = |secret: &[u8]| {
            encode(&Header { alg: Algorithm::HS256, ..pair.header() }, &claims, &EncodingKey::from_secret(secret))
                .unwrap()
        };
        let good = pair.sign(&claims);
        let (signed, signature) = good.rsplit_once('.').unwrap();
        let other_claims = |extra: Value| pair.sign(&with(&claims, extra));
        let other_header = |extra: Value| with_header(pair, &claims, &with(&header, extra));
        let hostile = [
            ("no signature", format!("{signed}.")),
            ("signature of zeros", format!("{signed}.{}", "A".repeat(86))),
            ("signature of ones", format!("{signed}.{}Q", "_".repeat(85))),
            ("cut signature", good[..good.len() - 2].to_owned()),
            ("padded signature", format!("{good}==")),
            ("doubled signature", format!("{good}.{signature}")),
            ("another key", encode(&pair.header(), &claims, &stranger.private).unwrap()),
            ("alg none", with_header(pair, &claims, &with(&header, json!({"alg": "none"})))),
            (
                "alg none without signature",
                format!("{}.", other_header(json!({"alg": "none"})).rsplit_once('.').unwrap().0),
            ),
            ("lower case alg", other_header(json!({"alg": json!(pair.algorithm).as_str().unwrap().to_lowercase()}))),
            ("alg that is a list", other_header(json!({"alg": [pair.algorithm]}))),
            ("HS256 by the public key", confused(public["x"].as_str().or(public["n"].as_str()).unwrap().as_bytes())),
            ("HS256 by the public JSON", confused(public.to_string().as_bytes())),
            ("HS256 by nothing", confused(b"")),
            ("algorithm of another key", other_header(json!({"alg": if pair.id == "e" { "EdDSA" } else { "ES256" }}))),
            (
                "algorithm for another use of the key",
                other_header(json!({"alg": if pair.id == "r" { "PS256" } else { "RS256" }})),
            ),
            ("RS512", other_header(json!({"alg": "RS512"}))),
            ("own key", with_header(stranger, &claims, &with(&header, json!({"kid": null, "jwk": stranger.public()})))),
            ("critical extension", other_header(json!({"crit": ["exp"]}))),
            ("unknown critical extension", other_header(json!({"crit": ["b64"], "b64": false}))),
            ("empty critical list", other_header(json!({"crit": []}))),
            ("type of an ID token", other_header(json!({"typ": "JWT"}))),
            ("type of a proof", other_header(json!({"typ": "dpop+jwt"}))),
            ("no type", other_header(json!({"typ": null}))),
            ("type that is a number", other_header(json!({"typ": 1}))),
            ("another issuer", other_claims(json!({"iss": format!("{}/", provider.issuer)}))),
            ("no issuer", other_claims(json!({"iss": null}))),
            ("issuer in a list", other_claims(json!({"iss": [provider.issuer]}))),
            ("another audience", other_claims(json!({"aud": "https://other.example"}))),
            ("no audience", other_claims(json!({"aud": null}))),
            ("audience with a suffix", other_claims(json!({"aud": format!("{AUDIENCE}.evil.example")}))),
            ("expired", other_claims(json!({"exp": NOW - 5}))),
            ("no expiry", other_claims(json!({"exp": null}))),
            ("expiry in a text", other_claims(json!({"exp": (NOW + 60).to_string()}))),
            ("valid for too long", other_claims(json!({"exp": NOW + 3_601}))),
            ("no issue", other_claims(json!({"iat": null}))),
            ("issued later", other_claims(json!({"iat": NOW + 6}))),
            ("not yet valid", other_claims(json!({"nbf": NOW + 6}))),
            ("no user", other_claims(json!({"sub": null}))),
            ("blank user", other_claims(json!({"sub": "\t"}))),
            ("too long", other_claims(json!({"filler": "x".repeat(8 << 10)}))),
        ];
        for (name, token) in &hostile {
            // RSA keys of one pair serve both of its algorithms only if the set does not say otherwise.
            let answer = get(&app, token).await;
            assert_eq!(answer.status, 401, "{:?} {name}: {answer:?}", pair.algorithm);
            assert_eq!(answer.header("www-authenticate"), Some(r#"Bearer error="invalid_token""#), "{name}");
        }
        let client = app.anon().with("authorization", &format!("Bearer {}", hostile[6].1));
        let body = json!({"accountNumber": "1", "accountType": "x"});
        refused(&app, client.post("/api/ledger/accounts", body), 401, "unauthorized", None).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn key_ids_choose_among_published_keys_only(db: PgPool) {
    let (pair, stranger) = (Pair::ec("e", 0), Pair::ec("e", 1));
    let provider = TestProvider::start(&[&pair]).await;
    let app = start(db, &provider).await;
    let claims = provider.claims();
    assert_eq!(get(&app, &pair.sign(&claims)).await.status, 200);
    // Each of these has the host look for new keys, once a second at most.
    for (name, header) in [
        ("path", json!({"kid": "../../../../dev/null"})),
        ("query", json!({"kid": "e' or '1'='1"})),
        ("empty", json!({"kid": ""})),
        ("own key", json!({"kid": "x", "jwk": stranger.public()})),
        ("own set", json!({"kid": "x", "jku": "http://127.0.0.1:1/keys", "x5u": "http://127.0.0.1:1/chain"})),
    ] {
        let header = with(&json!({"alg": "ES256", "typ": "at+jwt"}), header);
        assert_eq!(get(&app, &with_header(&stranger, &claims, &header)).await.status, 401, "{name}");
    }
    let number = json!({"alg": "ES256", "typ": "at+jwt", "kid": 0});
    assert_eq!(get(&app, &with_header(&pair, &claims, &number)).await.status, 401);
    // The only key needs no id.
    let none = json!({"alg": "ES256", "typ": "at+jwt"});
    assert_eq!(get(&app, &with_header(&pair, &claims, &none)).await.status, 200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn keys_change_without_a_failed_request(db: PgPool) {
    let (old, new) = (Pair::ec("old", 0), Pair::ed("new", 0));
    let provider = TestProvider::start(&[&old]).await;
    let app = start(db, &provider).await;
    let (by_old, by_new) = (old.sign(&provider.claims()), new.sign(&provider.claims()));
    assert_eq!(get(&app, &by_old).await.status, 200);
    provider.publish(&[&old, &new]);
    let answers = futures_util::future::join_all((0..20).map(|_| get(&app, &by_new))).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    assert_eq!(get(&app, &by_old).await.status, 200);
    // Withdrawn: what was verified with it no longer counts either.
    provider.publish(&[&new]);
    let unknown = Pair::ec("another", 1).sign(&provider.claims());
    assert_eq!(get(&app, &unknown).await.status, 401);
    assert_eq!(get(&app, &by_old).await.status, 401);
    assert_eq!(get(&app, &by_new).await.status, 200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_outage_of_the_provider_stops_new_keys_only(db: PgPool) {
    let (known, new) = (Pair::ec("known", 0), Pair::ed("new", 0));
    let provider = TestProvider::start(&[&known]).await;
    let app = start(db, &provider).await;
    let token = known.sign(&provider.claims());
    assert_eq!(get(&app, &token).await.status, 200);
    provider.answer(StatusCode::BAD_GATEWAY, String::new());
    let answer = get(&app, &new.sign(&provider.claims())).await;
    answer.assert_problem(503, "keys-unknown", None);
    assert!(answer.header("retry-after").is_some());
    assert_eq!(get(&app, &token).await.status, 200);
    // Nobody waits while the provider is known to fail.
    let begun = Instant::now();
    assert_eq!(get(&app, &new.sign(&provider.claims())).await.status, 503);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    provider.publish(&[&known, &new]);
    let mut status = 503;
    while status == 503 && begun.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        status = get(&app, &new.sign(&provider.claims())).await.status.as_u16();
    }
    assert_eq!(status, 200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hostile_key_sets_are_refused(db: PgPool) {
    let (good, other) = (Pair::ec("e", 0), Pair::ec("e", 1));
    let short = Pair::rsa("short", Algorithm::RS256, 1_024);
    let secret = json!({"kty": "oct", "kid": "e", "alg": "HS256", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"});
    let private = with(&other.public(), json!({"d": "AAAA"}));
    let encrypting = with(&other.public(), json!({"use": "enc"}));
    let wrapping = with(&other.public(), json!({"key_ops": ["wrapKey"]}));
    let mismatched = with(&other.public(), json!({"alg": "RS256"}));
    let many: Vec<Value> = (0..33).map(|id| with(&other.public(), json!({"kid": id.to_string()}))).collect();
    let hostile = [
        ("text", "keys".to_owned()),
        ("list", "[]".to_owned()),
        ("nothing", json!({"keys": []}).to_string()),
        ("object of keys", json!({"keys": {}}).to_string()),
        ("long", format!("{}{}", " ".repeat(70_000), set(&[&other]))),
        ("many", json!({"keys": many}).to_string()),
        ("twins", set(&[&good, &other]).to_string()),
        ("symmetric", json!({"keys": [secret]}).to_string()),
        ("short", json!({"keys": [short.public()]}).to_string()),
        ("private", json!({"keys": [private]}).to_string()),
        ("encryption", json!({"keys": [encrypting, wrapping, mismatched]}).to_string()),
        (
            "unusual exponent",
            json!({"keys": [with(&Pair::rsa("r", Algorithm::RS256, 2_048).public(), json!({"e": "AQ"}))]}).to_string(),
        ),
        ("nested", format!("{}{}", "[".repeat(20_000), "]".repeat(20_000))),
    ];
    for (name, keys) in &hostile {
        let provider = TestProvider::start(&[]).await;
        provider.answer(StatusCode::OK, keys.clone());
        let verifier = provider.verifier();
        let now = time::OffsetDateTime::from_unix_timestamp(NOW).unwrap();
        let verified = verifier.verify(&other.sign(&provider.claims()), now).await;
        assert!(verified.is_err() && !verifier.is_ready(), "{name}: {verified:?}");
    }
    // The last good set goes on counting.
    let provider = TestProvider::start(&[&good]).await;
    let app = start(db, &provider).await;
    assert_eq!(get(&app, &good.sign(&provider.claims())).await.status, 200);
    provider.answer(StatusCode::OK, hostile[6].1.clone());
    assert_eq!(get(&app, &Pair::ed("d", 0).sign(&provider.claims())).await.status, 503);
    assert_eq!(get(&app, &good.sign(&provider.claims())).await.status, 200);
    assert_eq!(get(&app, &other.sign(&provider.claims())).await.status, 401);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_api_requires_scopes_of_a_provider(db: PgPool) {
    let pair = Pair::ec("e", 0);
    let provider = TestProvider::start(&[&pair]).await;
    let options = Options { tokens: Some(provider.verifier()), api_scopes: true, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let user = |scope: &str| {
        let token = pair.sign(&with(&provider.claims(), json!({"scope": scope})));
        app.anon().with("authorization", &format!("Bearer {token}"))
    };
    let account = json!({"accountType": "checking"});
    for scope in ["", "openid", "models:admin rules:admin ledger:operate", "api:reader", "API:READ"] {
        user(scope).get("/api/ledger/accounts").await.assert_problem(403, "insufficient-scope", None);
    }
    let (reader, writer) = (user("api:read"), user("api:write"));
    assert_eq!(reader.get("/api/ledger/accounts").await.status, 200);
    refused(&app, reader.post("/api/ledger/accounts", account.clone()), 403, "insufficient-scope", None).await;
    writer.get("/api/ledger/accounts").await.assert_problem(403, "insufficient-scope", None);
    assert_eq!(writer.post("/api/ledger/accounts", account).await.status, 201);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn unknown_keys_crowd_out_no_new_one(db: PgPool) {
    let (old, new) = (Pair::ec("old", 0), Pair::ed("new", 0));
    let provider = TestProvider::start(&[&old]).await;
    let app = start(db, &provider).await;
    assert_eq!(get(&app, &old.sign(&provider.claims())).await.status, 200);
    let invented = |number: u32| {
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": format!("nobody-{number}")});
        with_header(&old, &provider.claims(), &header)
    };
    let mut flood = tokio::task::JoinSet::new();
    for task in 0..80 {
        let (client, rounds) = (app.anon(), [0, 1, 2, 3, 4]);
        let tokens = rounds.map(|round| format!("Bearer {}", invented(task * 5 + round)));
        flood.spawn(async move {
            for token in tokens.iter().cycle() {
                client.with("authorization", token).get("/api/ledger/accounts").await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    provider.publish(&[&old, &new]);
    let token = new.sign(&provider.claims());
    for _ in 0..7 {
        let answers = futures_util::future::join_all((0..13).map(|_| get(&app, &token))).await;
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    }
    flood.shutdown().await;
    // What the provider did not know a moment ago is refused without waiting for it, a second each time.
    let (token, begun) = (invented(400), Instant::now());
    for _ in 0..10 {
        assert_eq!(get(&app, &token).await.status, 401);
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
