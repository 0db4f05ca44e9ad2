//! Nothing that a host prints, logs or measures contains a secret, or what a customer wrote.

use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use rsa::pkcs8::{EncodePrivateKey as _, LineEnding};
use serde_json::json;

use crate::collector::Collector;
use crate::process::{DataDir, PATIENCE, Service, eventually, text};

const LEDGER_KEY: &str = "planted-ledger-key-5d0c2f6b8e914a37";
const PASSWORD: &str = "planted-database-password";
const ACCOUNT: &str = "646180110400000735";
const PAYEE_ACCOUNT: &str = "012180004643059953";
const PAYEE: &str = "Zacarias Plantado";
const NOTICE: &str = "PLANTEDNOTICE0001";
const WORDS: &str = "planted words of a customer";
const CONCEPT: &str = "planted concept of a transfer";
/// Unlike any other number that is printed.
const REFERENCE: u32 = 7_294_631;
const ALIAS: &str = "planted alias of a payee";
const REASON: &str = "planted reason of an operator";

/// A private Postgres that lives as long as this.
struct Database(Child);

impl Database {
    /// And its URL, with a password that it does not ask for.
    fn start(data: &DataDir) -> (Self, String) {
        let mut command = data.command(&["postgres", "--", "sh", "-c", "echo \"$DATABASE_URL\"; read -r _ || true"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let url = BufReader::new(process.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        (Self(process), format!("{url}&password={PASSWORD}"))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Answers everything like an STP whose error message repeats the order.
fn talkative_stp() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.set_read_timeout(Some(Duration::from_millis(300)));
            let mut request = [0; 8192];
            let _ = stream.read(&mut request);
            let error = format!("{PAYEE} {PAYEE_ACCOUNT} {ACCOUNT} {CONCEPT} {REFERENCE}");
            let body = json!({"resultado": {"id": 0, "descripcionError": error}, "mensaje": error}).to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
            let _ = write!(stream, "{head}\r\nconnection: close\r\n\r\n{body}");
        }
    });
    url
}

fn get(url: &str) -> String {
    ureq::get(url).config().timeout_global(Some(PATIENCE)).build().call().unwrap().body_mut().read_to_string().unwrap()
}

/// Sends what clients send, right and wrong, and returns the answers to what failed.
fn use_it(service: &Service, token: &str) -> String {
    let mut failures = String::new();
    let mut fails = |method: &str, path: &str, body: &str, token: &str| {
        let (status, answer) = service.send(method, path, body, token);
        assert!((400..600).contains(&status), "{method} {path} {body}: {status} {answer}");
        // The path is the client's own, and no other part of the answer may repeat it.
        let answer = answer.replace(&format!("\"instance\":\"{path}\""), "");
        writeln!(failures, "{status} {answer}").unwrap();
    };
    let accounts = "/api/ledger/accounts";
    let payees = "/api/ledger/beneficiaries";
    let account = json!({"accountNumber": ACCOUNT, "accountType": "checking"});
    let payee = json!({"name": PAYEE, "accountNumber": PAYEE_ACCOUNT, "bankName": "BBVA"});
    let id = |value: serde_json::Value| value["id"].as_str().unwrap().to_owned();
    let from = id(service.must("POST", accounts, Some(account.clone())));
    let to = id(service.must("POST", payees, Some(payee)));
    let order = json!({
        "fromAccountId": from, "toBeneficiaryId": to, "amount": 12.5, "concept": CONCEPT, "numericReference": REFERENCE,
    });
    service.must("POST", "/api/ledger/transactions", Some(order));
    service.must("PATCH", &format!("{payees}/{to}"), Some(json!({"alias": ALIAS, "isFavorite": true})));
    service.must("PUT", "/api/analytics/consent", Some(json!({"granted": true})));
    let event = json!({"screen": WORDS, "eventType": "typed", "details": format!("{WORDS} {ACCOUNT}")});
    service.must("POST", "/api/analytics/events", Some(event));

    fails("POST", accounts, &account.to_string(), token);
    for body in [
        format!("{{\"name\": \"{PAYEE}\", \"accountNumber\": \"{PAYEE_ACCOUNT}\", {WORDS}"),
        format!("{{\"name\": [\"{PAYEE}\"], \"accountNumber\": {PAYEE_ACCOUNT}, \"bankName\": {{\"{WORDS}\": 1}}}}"),
        format!("{{\"name\": \"{PAYEE}\u{202e}\", \"accountNumber\": \"{PAYEE_ACCOUNT}\u{0}\"}}"),
        format!("{{\"name\": \"{PAYEE}\", \"name\": \"{WORDS}\"}}"),
    ] {
        fails("POST", payees, &body, token);
    }
    let too_much = format!("{{\"fromAccountId\": \"{from}\", \"toBeneficiaryId\": \"{to}\", \"amount\": 99999999}}");
    fails("POST", "/api/ledger/transactions", &too_much, token);
    let overlong = json!({
        "fromAccountId": from, "toBeneficiaryId": to, "amount": 1, "concept": CONCEPT.repeat(2),
        "numericReference": u64::from(REFERENCE) * 10,
    });
    fails("POST", "/api/ledger/transactions", &overlong.to_string(), token);
    fails("POST", "/api/ledger/transactions", &overlong.to_string().replace(CONCEPT, "\u{202e}"), token);
    let edit = json!({"name": [ALIAS], "alias": format!("{ALIAS}\u{0}"), "accountNumber": PAYEE_ACCOUNT}).to_string();
    fails("PATCH", &format!("{payees}/{to}"), &edit, token);
    let nobody =
        format!("{{\"fromAccountId\": \"{ACCOUNT}\", \"toBeneficiaryId\": \"{WORDS}\", \"amount\": \"{ACCOUNT}\"}}");
    fails("POST", "/api/ledger/transactions", &nobody, token);
    fails(
        "PUT",
        "/api/profile/accessibility",
        &format!("{{\"theme\": \"{WORDS}\", \"fontScale\": \"{WORDS}\"}}"),
        token,
    );
    fails("POST", "/ai/risk", &format!("{{\"user_id\": \"{WORDS}\", \"amount\": \"{ACCOUNT}\"}}"), token);
    fails("GET", &format!("{accounts}/{ACCOUNT}"), "", token);
    fails("GET", &format!("/{}/{token}", WORDS.replace(' ', "-")), "", token);
    fails("GET", accounts, "", &format!("{token}x"));
    fails("GET", accounts, "", LEDGER_KEY);
    fails("POST", "/admin/payments/x/settle", &json!({"reason": REASON}).to_string(), token);
    fails("POST", "/rails/stp/state", &format!("{{\"claveRastreo\": [\"{NOTICE}\"], \"estado\": \"{WORDS}\"}}"), token);
    let notice = json!({"claveRastreo": NOTICE, "estado": "LQ", "nombreBeneficiario": PAYEE}).to_string();
    assert_eq!(service.send("POST", "/rails/stp/state", &notice, token).0, 200);
    failures
}

#[test]
fn nothing_that_a_host_tells_contains_a_secret_or_what_a_customer_wrote() {
    let data = DataDir::new();
    let (database, url) = Database::start(&data);
    let file = |name: &str, content: &str| {
        let path = data.0.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path
    };
    let key = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
    let key = key.to_pkcs8_pem(LineEnding::LF).unwrap();
    let log = data.0.join("log");
    let mut command = data.command(&[
        "serve",
        "--sandbox",
        "--rail",
        "stp",
        "--ledger-addr",
        "127.0.0.1:0",
        "--assist-addr",
        "127.0.0.1:0",
    ]);
    command.env("DATABASE_URL", &url).env("CAUDAL_LEDGER_KEY", LEDGER_KEY).env("CAUDAL_LOG", "trace");
    command.env("CAUDAL_STP_KEY_FILE", file("stp", &key)).env("CAUDAL_STP_COMPANY", "BANCO");
    command.env("CAUDAL_STP_URL", talkative_stp()).env("CAUDAL_STP_ACCOUNT", "646180110400000007");
    let collector = Collector::start();
    command.env("CAUDAL_OTLP_URL", &collector.url).stderr(File::create(&log).unwrap());
    let mint = |user: &str, scope: &str| {
        let mut command = data.command(&["token", "--user", user, "--scope", scope]);
        let output = command.env("CAUDAL_LEDGER_KEY", LEDGER_KEY).env("DATABASE_URL", &url).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let (token, operator) = (mint("ana", "api:read"), mint("rosa", "ledger:operate"));
    let service = Service::start_command(command);

    // Of what is printed, the sandbox's own token is on purpose.
    let mut told: String = service.printed.iter().filter(|line| !line.starts_with("export TOKEN=")).cloned().collect();
    told += &use_it(&service, &token);
    let payments = || service.send("GET", "/admin/payments", "", &operator).1;
    eventually("the rail has answered", || payments().contains("lastError"));
    let account = service.must("GET", "/api/ledger/accounts", None)[0]["id"].as_str().unwrap().to_owned();
    let freeze = format!("/admin/accounts/{account}/freeze");
    assert_eq!(service.send("POST", &freeze, &json!({"reason": REASON}).to_string(), &operator).0, 200);
    told += &get(&format!("{}/metrics", service.assist));
    service.stop();
    drop(database);
    let logged = fs::read_to_string(&log).unwrap();
    told += &logged;
    let traced = collector.text();
    assert!(traced.contains("POST /api/ledger/transactions"));
    told += &traced;

    for line in ["event=\"account_frozen\" by=\"rosa\"", "event=\"token_refused\" reason=\"signature\" count=1"] {
        assert!(logged.contains(line), "{line} is not in the log");
    }
    assert!(logged.contains(" TRACE ") && logged.contains("reason=\"unknown-payment\""));
    let stp_key = key.lines().nth(5).unwrap();
    let signatures = [&token, &operator].map(|token| token.rsplit('.').next().unwrap());
    let of_customers = [ACCOUNT, PAYEE_ACCOUNT, PAYEE, WORDS, CONCEPT, ALIAS];
    let planted = [LEDGER_KEY, PASSWORD, NOTICE, REASON, stp_key];
    for secret in planted.into_iter().chain(of_customers).chain(signatures) {
        let lines: Vec<_> = told.lines().filter(|line| line.contains(secret)).take(5).collect();
        assert!(lines.is_empty(), "{secret} appears:\n{}", lines.join("\n"));
    }
    // As a number of its own: a longer one may have the same digits.
    let numbers = told.split(|character: char| !character.is_ascii_alphanumeric());
    assert_eq!(numbers.filter(|number| number.parse() == Ok(REFERENCE)).count(), 0, "{REFERENCE} appears");
}
