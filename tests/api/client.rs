//! A client of one listener.

use axum::body::Body;
use axum::http::{Request, header};
use axum::response::Response;
use caudal::http::endpoint::Endpoint;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::answer::Answer;
use crate::harness::{CLABE, PAYEE_CLABE};

/// Sends requests to one router.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) router: Endpoint,
    pub(crate) headers: Vec<(String, String)>,
}

impl Client {
    /// The same client with one more header.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None, Body::empty()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None, Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.post_text(path, &body.to_string()).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, Some("application/json"), body.to_owned().into()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, Some("application/json"), body.to_string().into()).await
    }

    /// A response whose body does not end.
    pub(crate) async fn stream(&self, path: &str) -> (u16, Body) {
        let response = self.open("GET", path, None, Body::empty()).await;
        (response.status().as_u16(), response.into_body())
    }

    pub(crate) async fn send(&self, method: &str, path: &str, content_type: Option<&str>, body: Body) -> Answer {
        let response = self.open(method, path, content_type, body).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answer { path: path.to_owned(), status: parts.status, headers: parts.headers, text, bytes }
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, Some("application/json"), Body::from(body.to_string())).await
    }

    /// A response whose body nobody has read.
    pub(crate) async fn open(&self, method: &str, path: &str, content_type: Option<&str>, body: Body) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(content_type) = content_type {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap()
    }

    /// Opens an account and returns its id.
    pub(crate) async fn open_account(&self, number: &str) -> String {
        let body = json!({"accountNumber": number, "accountType": "checking"});
        self.post("/api/ledger/accounts", body).await.id()
    }

    /// Opens an account under a number that the bank issues, and returns its id and number.
    pub(crate) async fn issued_account(&self) -> (String, String) {
        let account = self.post("/api/ledger/accounts", json!({"accountType": "checking"})).await;
        let account = account.assert_status(201).json();
        let text = |name: &str| account[name].as_str().unwrap().to_owned();
        (text("id"), text("accountNumber"))
    }

    /// Saves a payee and returns its id.
    pub(crate) async fn save_payee(&self, name: &str, number: &str) -> String {
        let body = json!({"name": name, "accountNumber": number, "bankName": "BBVA"});
        self.post("/api/ledger/beneficiaries", body).await.id()
    }

    /// Opens an account and saves a payee, and returns their ids.
    pub(crate) async fn account_and_payee(&self) -> (String, String) {
        (self.open_account(CLABE).await, self.save_payee("Luis", PAYEE_CLABE).await)
    }

    /// Sends a transfer; `amount` is JSON text.
    pub(crate) async fn transfer(&self, from: &str, to: &str, amount: &str) -> Answer {
        let body = format!(r#"{{"fromAccountId":"{from}","toBeneficiaryId":"{to}","amount":{amount}}}"#);
        self.post_text("/api/ledger/transactions", &body).await
    }

    /// The balance of the only account, as the text of the JSON number.
    pub(crate) async fn balance(&self) -> String {
        let answer = self.get("/api/ledger/accounts").await;
        let start = answer.text.find("\"balance\":").unwrap() + "\"balance\":".len();
        answer.text[start..].split(',').next().unwrap().to_owned()
    }
}
