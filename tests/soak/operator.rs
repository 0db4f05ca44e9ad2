//! An operator, who pushes new components and swaps champions.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{DataDir, Service, text};

/// A client of `/admin/models`.
pub(crate) struct Operator {
    agent: ureq::Agent,
    base: String,
    token: String,
}

impl Operator {
    pub(crate) fn new(data: &DataDir, service: &Service) -> Self {
        let output = data.run(&["token", "--user", "ops", "--scope", "models:admin"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let patience = Some(Duration::from_secs(60));
        let config = ureq::config::Config::builder().http_status_as_error(false).timeout_global(patience).build();
        let base = format!("{}/admin/models", service.assist);
        Self { agent: ureq::Agent::new_with_config(config), base, token: text(&output.stdout) }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> (u16, Value) {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        request = request.header("authorization", format!("Bearer {}", self.token));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.agent.run(request.body(body).unwrap()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Pushes a component through the gate and returns its `model_version`.
    pub(crate) fn push(&self, kind: &str, bytes: Vec<u8>) -> String {
        let media = [("content-type", "application/wasm")];
        let (status, answer) = self.send("POST", &format!("/{kind}/versions"), &media, bytes);
        assert_eq!(status, 201, "{answer}");
        answer["model_version"].as_str().unwrap().to_owned()
    }

    /// Makes a version the champion and returns the new epoch.
    pub(crate) fn deploy(&self, kind: &str, version: &str, epoch: i64) -> i64 {
        let etag = format!("\"{epoch}\"");
        let headers = [("content-type", "application/json"), ("if-match", etag.as_str())];
        let body = json!({"champion": version, "reason": "soak"}).to_string().into_bytes();
        let (status, answer) = self.send("PUT", &format!("/{kind}/deployment"), &headers, body);
        assert_eq!(status, 200, "{answer}");
        answer["epoch"].as_i64().unwrap()
    }

    /// The registered version with this prefix.
    pub(crate) fn version(&self, start: &str) -> String {
        let (_, models) = self.send("GET", "", &[], Vec::new());
        let all = models["models"].as_array().unwrap().iter().flat_map(|it| it["versions"].as_array().unwrap());
        let mut names = all.map(|it| it["model_version"].as_str().unwrap().to_owned());
        names.find(|name| name.starts_with(start)).unwrap_or_else(|| panic!("no {start}"))
    }

    /// A value of `/metrics`, 0 if missing.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let mut response = self.agent.get(self.base.replace("/admin/models", "/metrics")).call().unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_default()
    }
}

/// A built component.
pub(crate) fn component(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/components");
    std::fs::read(folder.join(name).with_extension("wasm")).unwrap()
}

/// A component of ours patched to a new version. Odd major versions have the weights of `risk-1`, even ones those of
/// `risk-2`.
pub(crate) fn patched(number: usize) -> (String, Vec<u8>) {
    // Major versions 3 to 9, which we do not use.
    let digits = [3 + number % 7, number / 7 % 10, number / 70 % 10];
    let version = digits.map(|digit| digit.to_string()).join(".");
    let (name, real) = if digits[0] % 2 == 1 { ("risk-1", "1.0.0") } else { ("risk", "2.0.0") };
    let mut bytes = component(name);
    // The magic bytes of the weights file; its version follows a header of 18 bytes.
    let weights = b"CDLMODEL";
    let at = bytes.windows(weights.len()).position(|it| it == weights).unwrap() + 18;
    assert_eq!(&bytes[at..at + real.len()], real.as_bytes());
    bytes[at..at + real.len()].copy_from_slice(version.as_bytes());
    (version, bytes)
}
