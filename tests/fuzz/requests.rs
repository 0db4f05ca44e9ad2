//! Bodies of requests, and the cursors in them.

use caudal::domain::accessibility::Language;
use caudal::http::extract::{Cursor as _, Place};
use caudal::outbox::Cursor;
use caudal::schema::{Fields, Invalid};
use caudal::scoring::{Accessibility, Kind, Nudge, Risk};
use serde_json::Value;

use crate::{ACCEPTED, Outcome, Target, none, refused};

pub(crate) const CURSORS: Target = Target {
    name: "cursors",
    run: cursor,
    words: &[
        b"a",
        b"t",
        b"_",
        b"-",
        b".",
        b"5f3a9c01.0-0.15-1.7",
        b"9223372036854775806",
        b"01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b",
    ],
    bytes_max: 5_000,
    seeds: none,
};

pub(crate) const BODIES: Target = Target {
    name: "bodies",
    run: body,
    words: &[
        b"\"amount\":",
        b"\\u0000",
        b"\\ud800",
        b"null",
        b"{\"",
        b"\"}",
        b"[",
        b"]",
        b"1e",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\\u0061mount",
        b"\"user_id\":",
        b"\"age_range\":\"60_plus\"",
        b"true",
        b"3.0",
    ],
    bytes_max: 4_096,
    seeds: none,
};

/// What is read as a position is written so that it is read as the same one.
fn cursor(bytes: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return "not UTF-8".into() };
    if let Ok(cursor) = text.parse::<Cursor>() {
        let written = cursor.to_string();
        assert_eq!(written.parse(), Ok(cursor), "{text}");
        return ACCEPTED;
    }
    if let Some(place) = Place::<'t'>::parse(text) {
        let written = place.to_text();
        let again = Place::<'t'>::parse(&written).unwrap();
        assert_eq!((place.0, &written), (again.0, &again.to_text()), "{text}");
        assert!(Place::<'a'>::parse(text).is_none(), "{text} is a place in two lists");
        return "accepted as a place".into();
    }
    "refused".into()
}

/// Reads a request of a kind.
fn read<K: Kind>(bytes: &[u8]) -> Result<(), Invalid> {
    let mut fields = Fields::from_json(bytes, 422).unwrap();
    K::read(&mut fields, Language::Spanish);
    fields.finish()
}

fn outcome<K: Kind>(bytes: &[u8]) -> Option<Outcome> {
    match read::<K>(bytes) {
        Ok(()) => Some(format!("accepted for {}", K::KIND).into()),
        Err(Invalid { status, errors }) => {
            assert!(status == 422 && !errors.is_empty());
            assert!(errors.iter().all(|error| !error.code.is_empty() && !error.detail.contains(char::is_control)));
            None
        }
    }
}

/// The strict reader accepts an object exactly if it is JSON in UTF-8 that names each field once.
fn body(bytes: &[u8]) -> Outcome {
    let parsed = serde_json::from_slice::<Value>(bytes);
    if let Err(error) = Fields::from_json(bytes, 400) {
        if let Ok(Value::Object(members)) = &parsed {
            // A field appears twice; without that, it is accepted.
            let once = serde_json::to_vec(members).unwrap();
            assert!(Fields::from_json(once, 400).is_ok(), "{error}");
            return "a field twice".into();
        }
        return refused(&std::mem::discriminant(&error));
    }
    // Fields that nobody reads may be numbers beyond all range, or halves of characters.
    let Ok(parsed) = parsed else { return "accepted, with parts that are not read".into() };
    let Value::Object(members) = parsed else { panic!("no object was accepted as one") };
    let fields = Fields::from_json(bytes, 400).unwrap();
    // Null counts as absent.
    assert!(members.iter().all(|(name, value)| fields.has(name) != value.is_null()), "a field was lost");
    let kinds = [outcome::<Risk>(bytes), outcome::<Nudge>(bytes), outcome::<Accessibility>(bytes)];
    kinds.into_iter().flatten().next().unwrap_or(ACCEPTED)
}
