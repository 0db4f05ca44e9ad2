//! A router's response.

use std::fmt;
use std::panic::Location;

use axum::http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::harness::TestApp;

pub(crate) struct Answer {
    pub(crate) path: String,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

/// For failed assertions; leaves out the raw bytes.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?} {}", self.path, self.status, self.headers, self.text)
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn id(&self) -> String {
        self.json()["id"].as_str().unwrap_or_else(|| panic!("no id: {self:?}")).to_owned()
    }

    #[track_caller]
    pub(crate) fn assert_status(&self, status: u16) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Asserts a complete problem+json response; `errors` must contain `field`.
    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, code: &str, field: Option<&str>) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let body = self.json();
        assert_eq!(body["code"], code, "{self:?}");
        assert_eq!(body["status"], status, "{self:?}");
        assert_eq!(body["type"], format!("urn:caudal:problem:{code}"), "{self:?}");
        assert_eq!(body["instance"], self.path.split('?').next().unwrap(), "{self:?}");
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"), "{self:?}");
        for text in ["title", "detail"] {
            assert!(body[text].as_str().is_some_and(|text| !text.is_empty()), "{self:?}");
        }
        if let Some(field) = field {
            let errors = body["errors"].as_array().unwrap_or_else(|| panic!("no errors: {self:?}"));
            assert!(errors.iter().any(|error| error["field"] == field), "{field} is not named: {self:?}");
        }
        self
    }
}

/// Asserts that a request is refused and changes nothing.
#[track_caller]
#[expect(clippy::print_stdout, reason = "shown when the test fails")]
pub(crate) fn refused(
    app: &TestApp,
    answer: impl Future<Output = Answer>,
    status: u16,
    code: &str,
    field: Option<&str>,
) -> impl Future<Output = ()> {
    // A panic in a future does not show its caller; a failing test prints this line.
    let caller = Location::caller();
    async move {
        println!("expecting {status} {code} at {caller}");
        let before = app.rows().await;
        answer.await.assert_problem(status, code, field);
        assert_eq!(app.rows().await, before, "a refused request changed rows");
    }
}
