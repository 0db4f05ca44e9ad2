//! Every operation of both documents with every scope: what a token allows is what the document says.

use axum::body::Body;
use caudal::auth::scope::{
    API_READ, API_WRITE, AUDIT_READ, EVENTS_ADMIN, EVENTS_READ, LEDGER_OPERATE, LEDGER_READ, MODELS_ADMIN,
    OUTCOMES_WRITE, RULES_ADMIN,
};
use caudal::http::operation::Api;
use caudal::http::{ASSIST, LEDGER, openapi};
use sqlx::PgPool;

use crate::harness::{Client, Options, TestApp};

/// Every scope alone, none, and one that means nothing here.
const SCOPES: [Option<&str>; 12] = [
    None,
    Some("other"),
    Some(API_READ),
    Some(API_WRITE),
    Some(MODELS_ADMIN),
    Some(RULES_ADMIN),
    Some(LEDGER_OPERATE),
    Some(LEDGER_READ),
    Some(AUDIT_READ),
    Some(EVENTS_READ),
    Some(EVENTS_ADMIN),
    Some(OUTCOMES_WRITE),
];

/// An id that is nobody's.
const NOBODY: &str = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";

/// One method of one path.
pub(crate) struct Operation {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The scopes of which one is needed; `None` if no token is.
    pub(crate) scopes: Option<Vec<String>>,
    /// Media type and example of its body.
    body: Option<(String, String)>,
}

pub(crate) fn operations(api: &Api) -> Vec<Operation> {
    let document = openapi::document(api);
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let ways = described["security"].as_array().unwrap();
            let scopes = ways.iter().flat_map(|way| way["bearer"].as_array().unwrap());
            let scopes = scopes.map(|scope| scope.as_str().unwrap().to_owned()).collect();
            let body = described["requestBody"]["content"].as_object().and_then(|content| content.iter().next());
            operations.push(Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                scopes: (!ways.is_empty()).then_some(scopes),
                body: body.map(|(media_type, it)| (media_type.clone(), it["example"].to_string())),
            });
        }
    }
    assert!(operations.len() > 20);
    operations
}

impl Operation {
    /// Its paths with everything filled in, each with the kind of model in it.
    fn paths(&self) -> Vec<(String, &'static str)> {
        let path = self.path.replace("{id}", NOBODY).replace("{user}", "ana").replace("{sha256}", &"0".repeat(64));
        let path = path.replace("{version}", "risk-1.0.0%2B00000000");
        let kinds: &[_] = if path.contains("{kind}") { &["risk", "transfer-rules"] } else { &[""] };
        kinds.iter().map(|kind| (path.replace("{kind}", kind), *kind)).collect()
    }

    /// A valid request and several broken ones: a caller without the scope must get the same answer to all.
    async fn answers(&self, client: &Client, path: &str) -> Vec<u16> {
        let client = client.with("if-match", "*");
        let mut bodies = vec![(None, String::new()), (Some("application/json"), "nonsense".to_owned())];
        bodies.extend(self.body.as_ref().map(|(media_type, example)| (Some(media_type.as_str()), example.clone())));
        let mut answers = Vec::new();
        for (media_type, body) in bodies {
            answers.push(client.open(&self.method, path, media_type, Body::from(body)).await.status().as_u16());
        }
        if path.contains(NOBODY) {
            let path = path.replace(NOBODY, "nonsense");
            answers.push(client.open(&self.method, &path, None, Body::empty()).await.status().as_u16());
        }
        answers
    }
}

/// Scopes of one kind of model give nothing about the other, which a document cannot say.
fn is_of_other_kind(scope: &str, kind: &str) -> bool {
    (kind == "risk" && scope == RULES_ADMIN) || (kind == "transfer-rules" && scope == MODELS_ADMIN)
}

/// Asks for everything: first what is to be refused, which changes no row, then the rest.
async fn assert_allowed(
    app: &TestApp,
    client: &Client,
    api: &Api,
    refusal: u16,
    allows: impl Fn(&Operation, &str) -> bool,
) {
    let operations = operations(api);
    let requests = operations.iter().flat_map(|it| it.paths().into_iter().map(move |(path, kind)| (it, path, kind)));
    let (allowed, refused): (Vec<_>, Vec<_>) = requests.partition(|(operation, _, kind)| allows(operation, kind));
    let before = app.rows().await;
    for (operation, path, _) in &refused {
        for status in operation.answers(client, path).await {
            assert_eq!(status, refusal, "{} {path}", operation.method);
        }
    }
    assert_eq!(app.rows().await, before, "a refused request changed rows");
    for (operation, path, _) in &allowed {
        for status in operation.answers(client, path).await {
            assert!(status != 401 && status != 403, "{status}: {} {path}", operation.method);
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn operators_may_do_what_the_document_says_for_their_scope(db: PgPool) {
    let app = TestApp::new(db).await;
    let is_public = |operation: &Operation, _: &str| operation.scopes.is_none();
    assert_allowed(&app, &app.ai(), &ASSIST, 401, is_public).await;
    for scope in SCOPES {
        let allows = |operation: &Operation, kind: &str| match (&operation.scopes, scope) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(listed), Some(scope)) => listed.iter().any(|it| it == scope) && !is_of_other_kind(scope, kind),
        };
        assert_allowed(&app, &app.operator(scope), &ASSIST, 403, allows).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn customers_may_do_what_the_document_says(db: PgPool) {
    let app = TestApp::new(db).await;
    let is_public = |operation: &Operation, _: &str| operation.scopes.is_none();
    assert_allowed(&app, &app.anon(), &LEDGER, 401, is_public).await;
    for scope in SCOPES {
        // Operators are users like any other here.
        assert_allowed(&app, &app.user_with("ana", scope), &LEDGER, 403, |_, _| true).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn where_scopes_are_required_each_allows_reading_or_writing_only(db: PgPool) {
    let app = TestApp::with(db, Options { api_scopes: true, ..Options::default() }).await;
    for scope in SCOPES {
        let allows = |operation: &Operation, _: &str| {
            let needed = if operation.method == "GET" { API_READ } else { API_WRITE };
            operation.scopes.is_none() || scope == Some(needed)
        };
        assert_allowed(&app, &app.user_with("ana", scope), &LEDGER, 403, allows).await;
    }
}
