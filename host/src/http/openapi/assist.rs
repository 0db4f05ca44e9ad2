//! The operations of the assistance listener, in the order of its routes.

use super::foreign::{FindingsJson, NoticeJson};
use super::ledger::{ETAG, IF_NONE_MATCH};
use super::operation::{Content, Header, Operation, one};
use crate::domain::model::ModelKind;
use crate::http::admin::accounts::{FreezeRequest, FrozenJson, FundRequest, FundedJson};
use crate::http::admin::action::ApprovalJson;
use crate::http::admin::approvals::{ApprovalsJson, ApproveRequest};
use crate::http::admin::deployment::{DeploymentRequest, HistoryJson, PresentJson, ReportQuery, RollbackRequest};
use crate::http::admin::find::{FindQuery, FoundJson};
use crate::http::admin::payments::{DecidedPaymentJson, PaymentDecisionRequest, PendingPaymentsJson};
use crate::http::admin::pushes::{PushedJson, UnderWayJson};
use crate::http::admin::replay::ReplayRequest;
use crate::http::admin::reversals::{ReversalRequest, ReversedJson};
use crate::http::admin::rollout::{RolloutJson, RolloutOrderRequest, RolloutsJson};
use crate::http::admin::signatures;
use crate::http::admin::start::RolloutRequest;
use crate::http::admin::traffic::{TrafficJson, TrafficQuery};
use crate::http::admin::users::{HolderJson, HolderRequest, LimitsJson, LimitsRequest};
use crate::http::admin::versions::{ExaminedJson, ModelsJson};
use crate::http::health::{HealthJson, LivenessJson, ReadinessJson};
use crate::http::stp::ReceiptJson;
use crate::models::observing::report::Report;
use crate::schema::Record;
use crate::scoring::{Kind, Visitor, with_kind};

/// Scopes of operators. Changing `transfer-rules` requires `rules:admin`.
const OPERATOR: &[&str] = &["models:admin", "rules:admin"];

/// Scopes of operators who may decide on an action: the action's own is required.
const APPROVER: &[&str] = &["ledger:operate", "models:admin", "rules:admin"];

/// Of approving, and of the actions.
const APPROVE_ERRORS: &[&str] = &[
    "second-person-required",
    "approval-ended",
    "approval-under-way",
    "stale",
    "signature-required",
    "payment-under-way",
    "payment-ended",
    "account-frozen",
    "not-covered",
    "not-reversible",
    "model-unavailable",
    "outcome-unknown",
];

/// Scopes that allow reading about models: `rules:admin` about `transfer-rules`, `models:admin` about all other kinds.
const READER: &[&str] = &["models:admin", "rules:admin", "audit:read"];

/// Scopes that allow replaying decisions.
const REPLAYER: &[&str] = &["models:admin", "audit:read"];

const LEDGER_OPERATOR: &[&str] = &["ledger:operate"];

const LANGUAGE: Header = Header::new("Accept-Language", "Spanish or English, for the explanation.");
const IF_MATCH: Header = Header::new("If-Match", "ETag of what was last read.");
const SIGNATURE: Header =
    Header::new(signatures::SIGNATURE, "Signature of the body as `cosign sign-blob` makes it, in base64.");
const LOCATION: Header = Header::new("Location", "URL of the result.");
const UNAVAILABLE: &[&str] = &["model-unavailable", "decision-not-kept"];

/// Every operation: first the scores, one for each kind.
pub(super) fn operations() -> Vec<Operation> {
    let scores = ModelKind::SCORERS.iter().filter_map(|kind| with_kind(*kind, Score));
    scores.chain(OTHERS.iter().copied()).collect()
}

struct Score;

impl Visitor for Score {
    type Output = Operation;

    fn visit<K: Kind>(self) -> Operation {
        let (id, summary) = K::OPERATION;
        let answers = const { &[(200, one::<K::Response>())] };
        let operation = Operation::post(K::PATH, id, summary).body::<K::Body>().answers(answers).errors(UNAVAILABLE);
        if K::IS_IN_WORDS { operation.takes(&[LANGUAGE]) } else { operation }
    }
}

// A row for each operation.
#[rustfmt::skip]
const OTHERS: &[Operation] = &[
    Operation::get("/ai/health", "health", "Which models are loaded")
        .answers(&[(200, one::<HealthJson>()), (503, one::<HealthJson>())]),
    Operation::get("/admin/models", "list_models", "Every kind with its versions")
        .operator(READER).answers(&[(200, one::<ModelsJson>())]),
    Operation::post("/admin/models/{kind}/versions", "push_version", "Examine and register a component")
        .operator(OPERATOR).bytes("application/wasm").takes(&[SIGNATURE]).gives(&[LOCATION])
        .answers(&[(200, one::<PushedJson>()), (201, one::<PushedJson>()), (202, one::<UnderWayJson>())])
        .errors(&["component-refused", "version-taken", "signature-required", "signature-invalid"]),
    Operation::get("/admin/models/{kind}/versions/{version}", "get_version", "A version and the gate's report")
        .operator(READER).answers(&[(200, one::<ExaminedJson>())]),
    Operation::get("/admin/models/{kind}/pushes/{sha256}", "get_push", "Progress or result of an examination")
        .operator(READER).gives(&[LOCATION])
        .answers(&[(200, one::<PushedJson>()), (201, one::<PushedJson>()), (202, one::<UnderWayJson>())])
        .errors(&["component-refused", "version-taken"]),
    Operation::get("/admin/models/{kind}/deployment", "get_deployment", "A kind's deployment")
        .operator(READER).gives(&[ETAG]).answers(&[(200, one::<PresentJson>())]),
    Operation::put("/admin/models/{kind}/deployment", "put_deployment", "Deploy registered versions")
        .operator(OPERATOR).takes(&[IF_MATCH.required()]).body::<DeploymentRequest>().gives(&[ETAG, LOCATION])
        .answers(&[(200, one::<PresentJson>()), (202, one::<ApprovalJson>())]).errors(&["if-match-required", "stale", "signature-required"]),
    Operation::post("/admin/models/{kind}/rollback", "roll_back", "Return to the previous version, without challengers")
        .operator(OPERATOR).takes(&[IF_MATCH.required()]).body::<RollbackRequest>().gives(&[ETAG])
        .answers(&[(200, one::<PresentJson>())]).errors(&["if-match-required", "nothing-deployed", "stale", "signature-required"]),
    Operation::get("/admin/models/{kind}/history", "get_history", "A kind's deployments, newest first")
        .operator(READER).answers(&[(200, one::<HistoryJson>())]),
    Operation::get("/admin/models/{kind}/report", "get_report", "How the challengers of a deployment compare")
        .operator(READER).query(&[&ReportQuery::DECLARATION]).answers(&[(200, one::<Report>())]),
    Operation::get("/admin/models/{kind}/traffic", "get_traffic", "What the versions of a kind did over time")
        .operator(READER).query(&[&TrafficQuery::DECLARATION]).answers(&[(200, one::<TrafficJson>())]),
    Operation::get("/admin/models/{kind}/rollouts", "list_rollouts", "A kind's rollouts, newest first")
        .operator(READER).answers(&[(200, one::<RolloutsJson>())]),
    Operation::post("/admin/models/{kind}/rollouts", "start_rollout", "Let a canary's share grow as long as its evidence allows it")
        .operator(OPERATOR).takes(&[IF_MATCH.required()]).body::<RolloutRequest>().answers(&[(201, one::<RolloutJson>()), (202, one::<ApprovalJson>())])
        .errors(&["if-match-required", "stale", "rollout-open", "signature-required"]),
    Operation::post("/admin/models/{kind}/rollouts/pause", "pause_rollout", "Hold a rollout at its step")
        .operator(OPERATOR).body::<RolloutOrderRequest>().answers(&[(200, one::<RolloutJson>())])
        .errors(&["rollout-state", "stale"]),
    Operation::post("/admin/models/{kind}/rollouts/resume", "resume_rollout", "Let a paused rollout go on")
        .operator(OPERATOR).body::<RolloutOrderRequest>().answers(&[(200, one::<RolloutJson>())])
        .errors(&["rollout-state", "stale"]),
    Operation::post("/admin/models/{kind}/rollouts/abort", "abort_rollout", "End a rollout: its canary answers nobody")
        .operator(OPERATOR).body::<RolloutOrderRequest>().answers(&[(200, one::<RolloutJson>())])
        .errors(&["rollout-state", "stale"]),
    Operation::post("/admin/replay", "replay", "Replay decisions and compare the answers bit for bit")
        .operator(REPLAYER).body::<ReplayRequest>().answers(&[(200, one::<FindingsJson>())]),
    Operation::get("/admin/find", "find", "Accounts of a user or with a CLABE, and a transaction by its tracking key")
        .operator(LEDGER_OPERATOR).query(&[&FindQuery::DECLARATION]).answers(&[(200, one::<FoundJson>())]).errors(&["not-found"]),
    Operation::post("/admin/accounts/{id}/freeze", "freeze", "Let no money leave an account")
        .operator(LEDGER_OPERATOR).body::<FreezeRequest>().answers(&[(200, one::<FrozenJson>())])
        .errors(&["outcome-unknown"]),
    Operation::post("/admin/accounts/{id}/unfreeze", "unfreeze", "Let money leave an account again")
        .operator(LEDGER_OPERATOR).body::<FreezeRequest>().answers(&[(200, one::<FrozenJson>())])
        .errors(&["outcome-unknown"]),
    Operation::post("/admin/accounts/{id}/fund", "fund", "Credit an account from the bank's own funds")
        .operator(LEDGER_OPERATOR).body::<FundRequest>().gives(&[LOCATION])
        .answers(&[(200, one::<FundedJson>()), (202, one::<ApprovalJson>())]).errors(&["outcome-unknown"]),
    Operation::get("/admin/users/{user}/limits", "get_limits", "A user's own limits")
        .operator(LEDGER_OPERATOR).answers(&[(200, one::<LimitsJson>())]),
    Operation::put("/admin/users/{user}/limits", "put_limits", "Set a user's own limits")
        .operator(LEDGER_OPERATOR).body::<LimitsRequest>().gives(&[LOCATION])
        .answers(&[(200, one::<LimitsJson>()), (202, one::<ApprovalJson>())]),
    Operation::get("/admin/users/{user}/holder", "get_holder", "The verified name of a user")
        .operator(LEDGER_OPERATOR).answers(&[(200, one::<HolderJson>())]),
    Operation::put("/admin/users/{user}/holder", "put_holder", "Set the verified name of a user")
        .operator(LEDGER_OPERATOR).body::<HolderRequest>().answers(&[(200, one::<HolderJson>())]),
    Operation::post("/admin/transactions/{id}/reverse", "reverse", "Give the money of a completed transaction back")
        .operator(LEDGER_OPERATOR).body::<ReversalRequest>().gives(&[LOCATION])
        .answers(&[(200, one::<ReversedJson>()), (202, one::<ApprovalJson>())])
        .errors(&["account-frozen", "not-covered", "not-reversible", "outcome-unknown"]),
    Operation::get("/admin/approvals", "list_approvals", "Actions that take two operators, newest first")
        .operator(APPROVER).answers(&[(200, one::<ApprovalsJson>())]),
    Operation::get("/admin/approvals/{id}", "get_approval", "One action that takes two operators")
        .operator(APPROVER).answers(&[(200, one::<ApprovalJson>())]),
    Operation::post("/admin/approvals/{id}/approve", "approve", "Approve an action and carry it out")
        .operator(APPROVER).body::<ApproveRequest>()
        .answers(&[(200, Content::Bytes("application/json")), (201, one::<RolloutJson>())])
        .errors(APPROVE_ERRORS),
    Operation::post("/admin/approvals/{id}/withdraw", "withdraw", "Withdraw an action that was not carried out")
        .operator(APPROVER).answers(&[(200, one::<ApprovalJson>())])
        .errors(&["approval-ended", "approval-under-way"]),
    Operation::get("/admin/payments", "list_payments", "Payments that their rail has not decided")
        .operator(LEDGER_OPERATOR).answers(&[(200, one::<PendingPaymentsJson>())]),
    Operation::post("/admin/payments/{id}/settle", "settle_payment", "Settle a pending payment by hand")
        .operator(LEDGER_OPERATOR).body::<PaymentDecisionRequest>().gives(&[LOCATION])
        .answers(&[(200, one::<DecidedPaymentJson>()), (202, one::<ApprovalJson>())])
        .errors(&["payment-under-way", "payment-ended", "model-unavailable", "outcome-unknown"]),
    Operation::post("/admin/payments/{id}/refuse", "refuse_payment", "Refund a pending payment by hand")
        .operator(LEDGER_OPERATOR).body::<PaymentDecisionRequest>().gives(&[LOCATION])
        .answers(&[(200, one::<DecidedPaymentJson>()), (202, one::<ApprovalJson>())])
        .errors(&["payment-under-way", "payment-ended", "model-unavailable", "outcome-unknown"]),
    Operation::post("/rails/stp/state", "push_state", "STP's notice about a payment")
        .body::<NoticeJson>().answers(&[(200, one::<ReceiptJson>())]).errors(&["not-found"]),
    Operation::put("/rails/stp/state", "put_state", "STP's notice about a payment")
        .body::<NoticeJson>().answers(&[(200, one::<ReceiptJson>())]).errors(&["not-found"]),
    Operation::get("/console", "page", "The operators' page")
        .takes(&[IF_NONE_MATCH]).gives(&[ETAG]).answers(&[(200, Content::Bytes("text/html")), (304, Content::Empty)]),
    Operation::get("/console/{file}", "file", "A file of the operators' page")
        .takes(&[IF_NONE_MATCH]).gives(&[ETAG]).answers(&[(200, Content::Bytes("*/*")), (304, Content::Empty)]),
    Operation::get("/shared/{file}", "shared", "A file shared by both pages")
        .takes(&[IF_NONE_MATCH]).gives(&[ETAG]).answers(&[(200, Content::Bytes("*/*")), (304, Content::Empty)]),
    Operation::get("/reference", "reference", "Documentation of this API")
        .takes(&[IF_NONE_MATCH]).gives(&[ETAG]).answers(&[(200, Content::Bytes("text/html")), (304, Content::Empty)]),
    Operation::get("/vendored/{file}", "vendored", "A library of the reference page or the operators' page")
        .takes(&[IF_NONE_MATCH]).gives(&[ETAG]).answers(&[(200, Content::Bytes("*/*")), (304, Content::Empty)]),
    Operation::get("/openapi.json", "openapi", "This API as an OpenAPI document")
        .answers(&[(200, Content::Bytes("application/json"))]),
    Operation::get("/metrics", "metrics", "Metrics in OpenMetrics format")
        .answers(&[(200, Content::Bytes("application/openmetrics-text"))]),
    Operation::get("/livez", "livez", "Whether the process is alive").answers(&[(200, one::<LivenessJson>())]),
    Operation::get("/readyz", "readyz", "Whether the host can serve")
        .answers(&[(200, one::<ReadinessJson>()), (503, one::<ReadinessJson>())])
        .errors(&["method-not-allowed", "not-found"]),
];
