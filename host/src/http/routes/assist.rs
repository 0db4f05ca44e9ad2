//! The assistance listener: internal, under configured host names only. Operators need a token.

use axum::extract::{Request, State};

use super::foreign::{FindingsJson, NoticeJson, OrderNoticeJson, WhatIfJson};
use super::ledger::STATEMENT;
use crate::app::App;
use crate::auth::scope::{EVENTS_ADMIN, EVENTS_READ, OUTCOMES_WRITE};
use crate::domain::card::Card;
use crate::domain::model::ModelKind;
use crate::http::admin::accounts::{self, FreezeRequest, FrozenJson, FundRequest, FundedJson};
use crate::http::admin::action::ApprovalJson;
use crate::http::admin::approvals::{self, ApprovalsJson, ApproveRequest};
use crate::http::admin::cards;
use crate::http::admin::customers::{self, CustomerJson, CustomerQuery};
use crate::http::admin::deployment::{self, DeploymentRequest, HistoryJson, PresentJson, ReportQuery};
use crate::http::admin::feed::{self, FeedPageJson, FeedQuery};
use crate::http::admin::outcomes::{self, OutcomeReportQuery, OutcomeRequest, RecordedOutcomesJson};
use crate::http::admin::payments::{self, DecidedPaymentJson, PaymentDecisionRequest, PendingPaymentsJson};
use crate::http::admin::pushes::{self, PushedJson, UnderWayJson};
use crate::http::admin::rails::{self, IncomingOrderJson, IncomingOrderRequest};
use crate::http::admin::reconciliations::{
    self, BookingRequest, CasesJson, ClosedCaseJson, ReconciliationJson, ReconciliationRequest,
};
use crate::http::admin::replay::{self, ReplayRequest, WhatIfRequest};
use crate::http::admin::reversals::{self, ReversalRequest, ReversedJson};
use crate::http::admin::reviews::{self, DecidedReviewJson, ReviewDecisionRequest, ReviewJson, ReviewsJson};
use crate::http::admin::rollback::{self, RollbackRequest};
use crate::http::admin::rollout::{self, RolloutJson, RolloutOrderRequest, RolloutsJson};
use crate::http::admin::signatures;
use crate::http::admin::sinks::{self, AddedSinkJson, SinkOrderRequest, SinkRequest, SinksJson, UndeliveredEventsJson};
use crate::http::admin::start::{self, RolloutRequest};
use crate::http::admin::traffic::{self, TrafficJson, TrafficQuery};
use crate::http::admin::users::{self, HolderJson, HolderRequest, LimitsJson, LimitsRequest};
use crate::http::admin::versions::{self, ExaminedJson, ModelsJson};
use crate::http::assistance::explanations::{self, RiskExplanation};
use crate::http::assistance::scores;
use crate::http::health::{self, HealthJson, LivenessJson, ReadinessJson};
use crate::http::ledger::beneficiaries::BeneficiaryJson;
use crate::http::ledger::holds::HoldJson;
use crate::http::ledger::statement::StatementQuery;
use crate::http::ledger::transactions::TransactionJson;
use crate::http::operation::{ANY_FILE, Api, Callers, Content, ETAG, Header, LOCATION, Operation, PAGE, one, route};
use crate::http::pages::sign_in::{self, SignInJson};
use crate::http::pages::{bank, console, reference};
use crate::http::stp::{self, ConfirmationJson, ReceiptJson};
use crate::models::observing::report::Report;
use crate::models::outcomes::report::OutcomeReport;
use crate::outbox::Envelope;
use crate::schema::Record;
use crate::scoring::{Kind, RiskRequest, Visitor, with_kind};

/// The assistance API. Its scores come first, one for each kind.
pub static ASSIST: Api = Api {
    name: "assist",
    title: "Caudal assistance API",
    about: "Scores, and administration of models and accounts. Internal.",
    callers: Callers::Internal,
    operations: || {
        let scores = ModelKind::SCORERS.iter().filter_map(|kind| with_kind(*kind, Score));
        scores.chain(OPERATIONS.iter().copied()).collect()
    },
};

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
    "not-bookable",
    "account-frozen",
    "not-covered",
    "not-reversible",
    "model-unavailable",
    "outcome-unknown",
];

/// Scopes that allow reading about models: `rules:admin` about `transfer-rules`, `models:admin` about all other kinds.
const READER: &[&str] = &["models:admin", "rules:admin", "audit:read"];

/// Scopes that allow replaying decisions, and comparing them with what became of their orders.
const REPLAYER: &[&str] = &["models:admin", "audit:read"];

const LEDGER_OPERATOR: &[&str] = &["ledger:operate"];

/// Scopes of operators who may look up customers.
const LEDGER_READER: &[&str] = &["ledger:operate", "ledger:read"];

const LANGUAGE: Header = Header::new("Accept-Language", "Spanish or English, for texts.");
const IF_MATCH: Header = Header::new("If-Match", "ETag of what was last read.");
const SIGNATURE: Header =
    Header::new(signatures::SIGNATURE, "Signature of the body as `cosign sign-blob` makes it, in base64.");

const PUSHED: &[(u16, Content)] =
    &[(200, one::<PushedJson>()), (201, one::<PushedJson>()), (202, one::<UnderWayJson>())];

const FEED: &[(u16, Content)] = &[(200, Content::OneOrEvents(&FeedPageJson::DECLARATION, &Envelope::DECLARATION))];

struct Score;

impl Visitor for Score {
    type Output = Operation;

    fn visit<K: Kind>(self) -> Operation {
        let (id, summary) = K::OPERATION;
        let handler =
            || axum::routing::post(async |State(app): State<App>, it: Request| scores::respond::<K>(app, it).await);
        let operation = Operation::new("post", K::PATH, id, summary, handler).body::<K::Body>().ok::<K::Response>();
        let operation = operation.errors(&["model-unavailable"]);
        if K::IS_IN_WORDS { operation.takes(&[LANGUAGE]) } else { operation }
    }
}

// A row for each operation.
#[rustfmt::skip]
const OPERATIONS: &[Operation] = &[
    route!(post "/ai/risk/explain", explanations::explain_risk, "What weighed most in the score of a transfer")
        .body::<RiskRequest>().ok::<RiskExplanation>().errors(&["model-unavailable"]),
    route!(get "/ai/health", health::health, "Which models are loaded")
        .answers(&[(200, one::<HealthJson>()), (503, one::<HealthJson>())]),
    route!(get "/admin/models", versions::list_models, "Every kind with its versions")
        .operator(READER).ok::<ModelsJson>(),
    route!(post "/admin/models/{kind}/versions", pushes::push_version, "Examine and register a component")
        .operator(OPERATOR).bytes("application/wasm").takes(&[SIGNATURE]).gives(&[LOCATION]).answers(PUSHED)
        .errors(&["component-refused", "version-taken", "signature-required", "signature-invalid"]),
    route!(get "/admin/models/{kind}/versions/{version}", versions::get_version, "A version and the gate's report")
        .operator(READER).ok::<ExaminedJson>(),
    route!(put "/admin/models/{kind}/versions/{version}/card", cards::put_card, "Set what its owner says of a version")
        .operator(OPERATOR).body::<Card>().ok::<ExaminedJson>(),
    route!(get "/admin/models/{kind}/pushes/{sha256}", pushes::get_push, "Progress or result of an examination")
        .operator(READER).gives(&[LOCATION]).answers(PUSHED).errors(&["component-refused", "version-taken"]),
    route!(get "/admin/models/{kind}/deployment", deployment::get_deployment, "A kind's deployment")
        .operator(READER).gives(&[ETAG]).ok::<PresentJson>(),
    route!(put "/admin/models/{kind}/deployment", deployment::put_deployment, "Deploy registered versions")
        .operator(OPERATOR).takes(&[IF_MATCH.required()]).body::<DeploymentRequest>().gives(&[ETAG, LOCATION])
        .answers(&[(200, one::<PresentJson>()), (202, one::<ApprovalJson>())]).errors(&["if-match-required", "stale", "signature-required"]),
    route!(post "/admin/models/{kind}/rollback", rollback::roll_back, "Return to the previous version, without challengers")
        .operator(OPERATOR).takes(&[IF_MATCH.required()]).body::<RollbackRequest>().gives(&[ETAG])
        .ok::<PresentJson>().errors(&["if-match-required", "nothing-deployed", "stale", "signature-required"]),
    route!(get "/admin/models/{kind}/history", deployment::get_history, "A kind's deployments, newest first")
        .operator(READER).ok::<HistoryJson>(),
    route!(get "/admin/models/{kind}/report", deployment::get_report, "How the challengers of a deployment compare")
        .operator(READER).query(&[&ReportQuery::DECLARATION]).ok::<Report>(),
    route!(get "/admin/models/{kind}/traffic", traffic::get_traffic, "What the versions of a kind did over time")
        .operator(READER).query(&[&TrafficQuery::DECLARATION]).ok::<TrafficJson>(),
    route!(get "/admin/models/{kind}/rollouts", rollout::list_rollouts, "A kind's rollouts, newest first")
        .operator(READER).ok::<RolloutsJson>(),
    route!(post "/admin/models/{kind}/rollouts", start::start_rollout, "Let a canary's share grow as long as its evidence allows it")
        .operator(OPERATOR).takes(&[IF_MATCH.required()]).body::<RolloutRequest>().answers(&[(201, one::<RolloutJson>()), (202, one::<ApprovalJson>())])
        .errors(&["if-match-required", "stale", "rollout-open", "signature-required"]),
    route!(post "/admin/models/{kind}/rollouts/pause", rollout::pause_rollout, "Hold a rollout at its step")
        .operator(OPERATOR).body::<RolloutOrderRequest>().ok::<RolloutJson>().errors(&["rollout-state", "stale"]),
    route!(post "/admin/models/{kind}/rollouts/resume", rollout::resume_rollout, "Let a paused rollout go on")
        .operator(OPERATOR).body::<RolloutOrderRequest>().ok::<RolloutJson>().errors(&["rollout-state", "stale"]),
    route!(post "/admin/models/{kind}/rollouts/abort", rollout::abort_rollout, "End a rollout: its canary answers nobody")
        .operator(OPERATOR).body::<RolloutOrderRequest>().ok::<RolloutJson>().errors(&["rollout-state", "stale"]),
    route!(post "/admin/replay", replay::replay, "Replay decisions and compare the answers bit for bit")
        .operator(REPLAYER).body::<ReplayRequest>().ok::<FindingsJson>(),
    route!(post "/admin/what-if", replay::what_if, "What other models or rules would have decided")
        .operator(REPLAYER).body::<WhatIfRequest>().ok::<WhatIfJson>(),
    route!(post "/admin/outcomes", outcomes::record_outcomes, "Record what became of orders, one on each line, all or none")
        .operator(&[OUTCOMES_WRITE]).lines::<OutcomeRequest>().ok::<RecordedOutcomesJson>(),
    route!(get "/admin/outcomes/report", outcomes::report_outcomes, "How decisions on risks compare with what became of their orders")
        .operator(REPLAYER).query(&[&OutcomeReportQuery::DECLARATION]).ok::<OutcomeReport>(),
    route!(get "/admin/customers", customers::find_customer, "A customer, by user, account number or tracking key")
        .operator(LEDGER_READER).query(&[&CustomerQuery::DECLARATION]).ok::<CustomerJson>().errors(&["not-found"]),
    route!(get "/admin/users/{user}/transactions", customers::list_transactions, "A customer's transfers, newest first")
        .operator(LEDGER_READER).pages_of::<TransactionJson>(),
    route!(get "/admin/users/{user}/beneficiaries", customers::list_beneficiaries, "A customer's payees, favourites first")
        .operator(LEDGER_READER).pages_of::<BeneficiaryJson>(),
    route!(get "/admin/users/{user}/holds", customers::list_holds, "A customer's holds, newest first")
        .operator(LEDGER_READER).pages_of::<HoldJson>(),
    route!(get "/admin/accounts/{id}/statement", customers::get_statement, "A customer's statement of a day, as camt.053 or CSV")
        .operator(LEDGER_READER).takes(&[LANGUAGE]).query(&[&StatementQuery::DECLARATION]).answers(STATEMENT),
    route!(post "/admin/accounts/{id}/freeze", accounts::freeze, "Let no money leave an account")
        .operator(LEDGER_OPERATOR).command().body::<FreezeRequest>().ok::<FrozenJson>().errors(&["outcome-unknown"]),
    route!(post "/admin/accounts/{id}/unfreeze", accounts::unfreeze, "Let money leave an account again")
        .operator(LEDGER_OPERATOR).command().body::<FreezeRequest>().ok::<FrozenJson>().errors(&["outcome-unknown"]),
    route!(post "/admin/accounts/{id}/fund", accounts::fund, "Credit an account from the bank's own funds")
        .operator(LEDGER_OPERATOR).body::<FundRequest>().ok_or_approval::<FundedJson>().errors(&["outcome-unknown"]),
    route!(get "/admin/users/{user}/limits", users::get_limits, "A user's own limits")
        .operator(LEDGER_OPERATOR).ok::<LimitsJson>(),
    route!(put "/admin/users/{user}/limits", users::put_limits, "Set a user's own limits")
        .operator(LEDGER_OPERATOR).body::<LimitsRequest>().ok_or_approval::<LimitsJson>(),
    route!(get "/admin/users/{user}/holder", users::get_holder, "The verified name of a user")
        .operator(LEDGER_OPERATOR).ok::<HolderJson>(),
    route!(put "/admin/users/{user}/holder", users::put_holder, "Set the verified name of a user")
        .operator(LEDGER_OPERATOR).body::<HolderRequest>().ok::<HolderJson>(),
    route!(post "/admin/transactions/{id}/reverse", reversals::reverse, "Give the money of a completed transaction back")
        .operator(LEDGER_OPERATOR).body::<ReversalRequest>().ok_or_approval::<ReversedJson>()
        .errors(&["account-frozen", "not-covered", "not-reversible", "outcome-unknown"]),
    route!(get "/admin/approvals", approvals::list_approvals, "Actions that take two operators, newest first")
        .operator(APPROVER).ok::<ApprovalsJson>(),
    route!(get "/admin/approvals/{id}", approvals::get_approval, "One action that takes two operators")
        .operator(APPROVER).ok::<ApprovalJson>(),
    route!(post "/admin/approvals/{id}/approve", approvals::approve, "Approve an action and carry it out")
        .operator(APPROVER).body::<ApproveRequest>()
        .answers(&[(200, Content::Bytes("application/json")), (201, one::<RolloutJson>())]).errors(APPROVE_ERRORS),
    route!(post "/admin/approvals/{id}/withdraw", approvals::withdraw, "Withdraw an action that was not carried out")
        .operator(APPROVER).ok::<ApprovalJson>().errors(&["approval-ended", "approval-under-way"]),
    route!(get "/admin/payments", payments::list_payments, "Payments that their rail has not decided")
        .operator(LEDGER_OPERATOR).ok::<PendingPaymentsJson>(),
    route!(post "/admin/payments/{id}/settle", payments::settle_payment, "Settle a pending payment by hand")
        .operator(LEDGER_OPERATOR).body::<PaymentDecisionRequest>().ok_or_approval::<DecidedPaymentJson>()
        .errors(&["payment-under-way", "payment-ended", "model-unavailable", "outcome-unknown"]),
    route!(post "/admin/payments/{id}/refuse", payments::refuse_payment, "Refund a pending payment by hand")
        .operator(LEDGER_OPERATOR).body::<PaymentDecisionRequest>().ok_or_approval::<DecidedPaymentJson>()
        .errors(&["payment-under-way", "payment-ended", "model-unavailable", "outcome-unknown"]),
    route!(get "/admin/reviews", reviews::list_reviews, "Transfers that wait for a person, the oldest first")
        .operator(LEDGER_OPERATOR).ok::<ReviewsJson>(),
    route!(post "/admin/reviews/{id}/claim", reviews::claim_review, "Take a review, so that nobody else decides on it")
        .operator(LEDGER_OPERATOR).ok::<ReviewJson>().errors(&["review-not-claimed", "review-ended"]),
    route!(post "/admin/reviews/{id}/decision", reviews::decide_review, "Release or refuse a transfer under review")
        .operator(LEDGER_OPERATOR).body::<ReviewDecisionRequest>().ok::<DecidedReviewJson>()
        .errors(&[
            "payment-altered", "payment-sent", "rail-unavailable", "review-not-claimed", "review-ended", "model-unavailable",
            "outcome-unknown",
        ]),
    route!(get "/admin/reconciliations", reconciliations::get_reconciliation, "The last comparison of an operating day with the rail")
        .operator(LEDGER_OPERATOR).query(&[&ReconciliationRequest::DECLARATION]).ok::<ReconciliationJson>().errors(&["not-found"]),
    route!(post "/admin/reconciliations", reconciliations::request_reconciliation, "Compare an operating day with the rail")
        .operator(LEDGER_OPERATOR).body::<ReconciliationRequest>().ok::<ReconciliationJson>().errors(&["not-found"]),
    route!(get "/admin/cases", reconciliations::list_cases, "Differences from the rail that a person decides on")
        .operator(LEDGER_OPERATOR).ok::<CasesJson>(),
    route!(post "/admin/cases/{id}/book", reconciliations::book_case, "Book a payment that the ledger lost and the rail has settled")
        .operator(LEDGER_OPERATOR).body::<BookingRequest>().ok_or_approval::<ClosedCaseJson>()
        .errors(&["not-bookable", "account-frozen", "outcome-unknown"]),
    route!(post "/admin/cases/{id}/close", reconciliations::close_case, "Close a case without a booking")
        .operator(LEDGER_OPERATOR).body::<PaymentDecisionRequest>().ok::<ClosedCaseJson>(),
    route!(get "/admin/events", feed::read_events, "Events of all customers and operators, as a page or a stream")
        .operator(&[EVENTS_READ]).query(&[&FeedQuery::DECLARATION]).answers(FEED).errors(&["cursor-expired"]),
    route!(get "/admin/events/schemas/{type}", feed::get_schema, "The JSON Schema of what a type of event carries")
        .operator(&[EVENTS_READ]).answers(&[(200, Content::Bytes("application/json"))]),
    route!(get "/admin/sinks", sinks::list_sinks, "Where events are delivered")
        .operator(&[EVENTS_ADMIN]).ok::<SinksJson>(),
    route!(post "/admin/sinks", sinks::add_sink, "Deliver events to a webhook or to NATS JetStream")
        .operator(&[EVENTS_ADMIN]).body::<SinkRequest>().created::<AddedSinkJson>().errors(&["cursor-expired"]),
    route!(post "/admin/sinks/{id}", sinks::change_sink, "Pause, resume or remove a sink, or send it events again")
        .operator(&[EVENTS_ADMIN]).body::<SinkOrderRequest>().answers(&[(204, Content::Empty)]).errors(&["cursor-expired"]),
    route!(get "/admin/sinks/{id}/undelivered", sinks::list_undelivered, "What a sink did not accept")
        .operator(&[EVENTS_ADMIN]).ok::<UndeliveredEventsJson>(),
    route!(post "/rails/stp/state", "push_state": stp::take_state, "STP's notice about a payment")
        .body::<NoticeJson>().ok::<ReceiptJson>().errors(&["not-found"]),
    route!(put "/rails/stp/state", "put_state": stp::take_state, "STP's notice about a payment")
        .body::<NoticeJson>().ok::<ReceiptJson>().errors(&["not-found"]),
    route!(post "/rails/stp/order", "push_order": stp::take_order, "STP's notice of an order to this bank")
        .body::<OrderNoticeJson>().ok::<ConfirmationJson>().errors(&["not-found"]),
    route!(post "/admin/rails/simulated/orders", rails::receive, "Let the simulated rail send an order to this bank")
        .operator(LEDGER_OPERATOR).body::<IncomingOrderRequest>().ok::<IncomingOrderJson>().errors(&["not-found"]),
    route!(get "/console", console::page, "The operators' page").file(PAGE),
    route!(get "/console/{file}", console::file, "A file of the operators' page").file(ANY_FILE),
    route!(get "/sign-in", sign_in::get_console_sign_in, "Where the console signs operators in")
        .answers(&[(200, one::<SignInJson>()), (204, Content::Empty)]).errors(&["keys-unknown"]),
    route!(get "/shared/{file}", bank::shared, "A file shared by both pages").file(ANY_FILE),
    route!(get "/reference", "reference": reference::page, "Documentation of this API").file(PAGE),
    route!(get "/vendored/{file}", "vendored": reference::file, "A library of the reference page or the operators' page").file(ANY_FILE),
    route!(get "/openapi.json", "openapi": async || reference::document(&ASSIST), "This API as an OpenAPI document")
        .answers(&[(200, Content::Bytes("application/json"))]),
    route!(get "/metrics", health::metrics, "Metrics in OpenMetrics format")
        .answers(&[(200, Content::Bytes("application/openmetrics-text"))]),
    route!(get "/livez", health::livez, "Whether the process is alive").ok::<LivenessJson>(),
    route!(get "/readyz", health::readyz, "Whether the host can serve")
        .answers(&[(200, one::<ReadinessJson>()), (503, one::<ReadinessJson>())])
        .errors(&["method-not-allowed", "not-found"]),
];
