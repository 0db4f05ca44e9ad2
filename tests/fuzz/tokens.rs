//! Bearer tokens. An input is a token; or a header and claims in two lines, which are signed here, so that mutations
//! get beyond the signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use caudal::auth::claims::TokenConfig;
use caudal::auth::minter::Minter;
use caudal::auth::proof::Request;
use caudal::auth::token::Verifier;
use caudal::auth::{self, AuthError};
use futures_util::FutureExt as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use crate::{ACCEPTED, Outcome, Target, refused};

const SECRET: &[u8] = b"a secret of thirty-two bytes, ok";
const OTHER: &[u8] = b"another one of thirty-two bytes.";
const NOW: OffsetDateTime = datetime!(2026-11-21 18:00 UTC);
/// In seconds; as long as expired tokens count.
const LEEWAY: f64 = 60.0;

pub(crate) const TOKENS: Target = Target {
    name: "tokens",
    run: token,
    words: &[
        b"Bearer ",
        b".",
        b"\n",
        b"\"alg\":\"HS256\"",
        b"\"alg\":\"none\"",
        b"\"crit\":[\"exp\"]",
        b"\"exp\":",
        b"\"nbf\":",
        b"\"sub\":\"",
        b"\"scope\":\"",
        b"\"typ\":\"JWT\"",
        b"eyJhbGciOiJub25lIn0",
        b"1795284000",
        b"null",
        b"\\u0000",
    ],
    bytes_max: 9_000,
    seeds,
};

fn config() -> TokenConfig {
    TokenConfig { user_claim: "sub".to_owned(), ..TokenConfig::default() }
}

fn seeds() -> Vec<Vec<u8>> {
    let mint = |secret| Minter::new(secret, config()).mint("ana", Some("api:read"), NOW, Duration::HOUR).unwrap();
    vec![format!("Bearer {}", mint(SECRET)).into_bytes(), format!("Bearer {}", mint(OTHER)).into_bytes()]
}

fn signature(secret: &[u8], signed: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(signed.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn verify(authorization: &[u8]) -> Outcome {
    let verifier = Verifier::with_secret(SECRET, config());
    let request = Request { method: "GET", path: "/api/ledger/accounts", proof: None };
    let verified = auth::authenticate(&verifier, [authorization], request, NOW).now_or_never().unwrap();
    let claims = match verified {
        Ok(claims) => claims,
        Err(error) => {
            assert!(!matches!(error, AuthError::ScopeMissing(_) | AuthError::TooManyRequests(_)), "{error:?}");
            return refused(&error);
        }
    };
    // What was accepted is signed with the right key, now valid, and somebody's.
    let text = std::str::from_utf8(authorization).unwrap().trim();
    let (signed, signed_with) = text.split_once(' ').unwrap().1.trim().rsplit_once('.').unwrap();
    assert_eq!(BASE64.decode(signed_with).unwrap(), signature(SECRET, signed), "{text}");
    let (header, body) = signed.split_once('.').unwrap();
    let json = |part: &str| serde_json::from_slice::<Value>(&BASE64.decode(part).unwrap()).unwrap();
    let (header, body) = (json(header), json(body));
    assert!(header["alg"] == "HS256" && header.get("crit").is_none(), "{header}");
    assert!(body["exp"].as_f64().unwrap() + LEEWAY > NOW.unix_timestamp() as f64, "{body}");
    assert_eq!(body["sub"], claims.user);
    assert!(!claims.user.trim().is_empty() && claims.user.chars().count() <= 255 && !claims.user.contains('\0'));
    ACCEPTED
}

fn token(bytes: &[u8]) -> Outcome {
    let Some(split) = bytes.iter().position(|byte| *byte == b'\n') else { return verify(bytes) };
    let (header, claims) = (&bytes[..split], &bytes[split + 1..]);
    let signed = format!("{}.{}", BASE64.encode(header), BASE64.encode(claims));
    let with = |secret| format!("Bearer {signed}.{}", BASE64.encode(signature(secret, &signed)));
    assert_ne!(verify(with(OTHER).as_bytes()), ACCEPTED, "a token counts that another key signed");
    verify(with(SECRET).as_bytes())
}
