//! The ledger listener, for the bank's app, with bearer tokens.

use crate::http::extract::PageQuery;
use crate::http::health::{self, LivenessJson, ReadinessJson};
use crate::http::ledger::accounts::{self, AccountJson, AccountRequest};
use crate::http::ledger::analytics::{self, ConsentJson, ConsentRequest, EventRequest};
use crate::http::ledger::beneficiaries::{self, BeneficiaryEditRequest, BeneficiaryJson, BeneficiaryRequest};
use crate::http::ledger::bulk::{self, BulkJson, BulkRequest};
use crate::http::ledger::entries::{self, BalanceJson, BalanceQuery, EntriesQuery, EntryJson};
use crate::http::ledger::events::{self, EventsQuery};
use crate::http::ledger::holds::{self, CaptureRequest, HoldJson, HoldRequest};
use crate::http::ledger::payee_checks::{self, PayeeCheckJson, PayeeCheckRequest};
use crate::http::ledger::profile::{self, ProfileJson, ProfileRequest};
use crate::http::ledger::receipts::{self, ReceiptJson};
use crate::http::ledger::reports::{self, ReportRequest, ReportedJson};
use crate::http::ledger::risk_context::{self, RiskContextJson, RiskContextQuery};
use crate::http::ledger::schedules::{self, ConfirmationRequest, ScheduleJson, ScheduleRequest, SkipRequest};
use crate::http::ledger::statement::{self, StatementQuery};
use crate::http::ledger::terms::{self, TermsJson};
use crate::http::ledger::transactions::{self, SendRequest, TransactionJson};
use crate::http::operation::{
    ANY_FILE, Api, Callers, Content, ETAG, Header, IF_NONE_MATCH, LOCATION, Operation, PAGE, one, route,
};
use crate::http::pages::published::{self, ActiveJson};
use crate::http::pages::sandbox::{self, SandboxJson, TokenJson, TokenRequest};
use crate::http::pages::sign_in::{self, SignInJson};
use crate::http::pages::{bank, reference};
use crate::outbox::TransferEvent;
use crate::schema::Record;

/// The ledger API.
pub static LEDGER: Api = Api {
    name: "ledger",
    title: "Caudal ledger API",
    about: "Accounts, beneficiaries and transfers of the bank's app.",
    callers: Callers::Public,
    operations: || OPERATIONS.to_vec(),
};

const REPLAYED: Header = Header::new(
    "Idempotency-Replayed",
    "`true` if an earlier request with this key was answered. A transfer is shown with its present status, which may have \
     changed since.",
);
const DECISION: Header = Header::new(
    "Decision-Id",
    "The id of the decisions that the answer rests on, which are kept: that of the transfer or hold, or what it would have had.",
);
const KEY: Header = Header::new(
    "Idempotency-Key",
    "1 to 255 visible ASCII characters, raw or as a quoted string: the same key never makes two transfers or holds.",
);
const LAST_EVENT: Header = Header::new("Last-Event-ID", "Same as `from`; browsers send it when they reconnect.");

const LANGUAGE: Header = Header::new("Accept-Language", "Spanish or English, for the words of CSV.");

pub(super) const STATEMENT: &[(u16, Content)] =
    &[(200, Content::Bytes(statement::CAMT)), (200, Content::Bytes("text/csv"))];
const SCRIPT: &[(u16, Content)] = &[(200, Content::Bytes("text/javascript")), (304, Content::Empty)];
const WASM: &[(u16, Content)] = &[(200, Content::Bytes("application/wasm")), (304, Content::Empty)];

// A row for each operation.
#[rustfmt::skip]
const OPERATIONS: &[Operation] = &[
    route!(get "/api/ledger/accounts", accounts::list_accounts, "The user's accounts, oldest first").user().pages_of::<AccountJson>(),
    route!(post "/api/ledger/accounts", accounts::create_account, "Open an account")
        .user().command().body::<AccountRequest>().created::<AccountJson>().gives(&[LOCATION])
        .errors(&["account-exists", "limit-reached", "no-account-numbers", "outcome-unknown"]),
    route!(get "/api/ledger/accounts/{id}", accounts::get_account, "One account").user().ok::<AccountJson>(),
    route!(get "/api/ledger/accounts/{id}/entries", entries::list_entries, "An account's statement, newest first")
        .user().pages_of::<EntryJson>().query(&[&EntriesQuery::DECLARATION, &PageQuery::DECLARATION]),
    route!(get "/api/ledger/accounts/{id}/statement", statement::get_statement, "An account's statement of a day, as camt.053 or CSV")
        .user().takes(&[LANGUAGE]).query(&[&StatementQuery::DECLARATION]).answers(STATEMENT),
    route!(get "/api/ledger/accounts/{id}/balance", entries::get_balance, "An account's balance at an instant")
        .user().query(&[&BalanceQuery::DECLARATION]).ok::<BalanceJson>(),
    route!(get "/api/ledger/beneficiaries", beneficiaries::list_beneficiaries, "The user's payees, favourites first")
        .user().pages_of::<BeneficiaryJson>(),
    route!(post "/api/ledger/beneficiaries", beneficiaries::create_beneficiary, "Save a payee")
        .user().body::<BeneficiaryRequest>().created::<BeneficiaryJson>().errors(&["limit-reached"]),
    route!(patch "/api/ledger/beneficiaries/{id}", beneficiaries::edit_beneficiary, "Change a payee's name, alias or favourite mark")
        .user().body::<BeneficiaryEditRequest>().ok::<BeneficiaryJson>(),
    route!(delete "/api/ledger/beneficiaries/{id}", beneficiaries::delete_beneficiary, "Delete a payee; its transfers stay")
        .user().answers(&[(204, Content::Empty)]),
    route!(post "/api/ledger/payee-checks", payee_checks::create_payee_check, "Whether a number belongs to the person of this name")
        .user().body::<PayeeCheckRequest>().ok::<PayeeCheckJson>(),
    route!(get "/api/ledger/transactions", transactions::list_transactions, "The user's transfers, newest first")
        .user().pages_of::<TransactionJson>(),
    route!(get "/api/ledger/transactions/{id}", transactions::get_transaction, "One transfer").user().ok::<TransactionJson>(),
    route!(post "/api/ledger/transactions", transactions::create_transaction, "Make a transfer")
        .user().command().takes(&[KEY]).body::<SendRequest>().ok::<TransactionJson>().gives(&[DECISION, REPLAYED]).transfer(),
    route!(get "/api/ledger/transactions/{id}/receipt", receipts::get_receipt, "The decisions about a transfer, with their proof")
        .user().ok::<ReceiptJson>(),
    route!(post "/api/ledger/transactions/{id}/report", reports::report_transaction, "Say that a transfer is not the user's")
        .user().body::<ReportRequest>().ok::<ReportedJson>().errors(&["outcome-unknown"]),
    route!(post "/api/ledger/transactions/bulk", bulk::create_transactions, "Make many transfers, each on its own")
        .user().body::<BulkRequest>().ok::<BulkJson>(),
    route!(get "/api/ledger/holds", holds::list_holds, "The user's holds, newest first").user().pages_of::<HoldJson>(),
    route!(post "/api/ledger/holds", holds::create_hold, "Set money aside for a payee")
        .user().command().takes(&[KEY]).body::<HoldRequest>().created::<HoldJson>().gives(&[LOCATION, DECISION, REPLAYED]).transfer(),
    route!(get "/api/ledger/holds/{id}", holds::get_hold, "One hold").user().ok::<HoldJson>(),
    route!(post "/api/ledger/holds/{id}/capture", holds::capture_hold, "Transfer what is held, or a part of it")
        .user().command().takes(&[KEY]).body::<CaptureRequest>().ok::<TransactionJson>().gives(&[DECISION, REPLAYED])
        .transfer().errors(&["hold-ended", "hold-exceeded"]),
    route!(post "/api/ledger/holds/{id}/void", holds::void_hold, "Release what is held")
        .user().command().ok::<HoldJson>().errors(&["hold-ended", "outcome-unknown"]),
    route!(get "/api/ledger/schedules", schedules::list_schedules, "The user's scheduled transfers, newest first")
        .user().pages_of::<ScheduleJson>(),
    route!(post "/api/ledger/schedules", schedules::create_schedule, "Schedule a transfer, once or repeatedly")
        .user().takes(&[KEY]).body::<ScheduleRequest>().created::<ScheduleJson>().gives(&[LOCATION, REPLAYED])
        .errors(&["account-not-found", "beneficiary-not-found", "idempotency-key-reused", "limit-reached"]),
    route!(get "/api/ledger/schedules/{id}", schedules::get_schedule, "One scheduled transfer").user().ok::<ScheduleJson>(),
    route!(post "/api/ledger/schedules/{id}/cancel", schedules::cancel_schedule, "Cancel what is not yet over")
        .user().ok::<ScheduleJson>().errors(&["schedule-ended", "schedule-under-way"]),
    route!(post "/api/ledger/schedules/{id}/confirm", schedules::confirm_occurrence, "Send the occurrence that waits")
        .user().body::<ConfirmationRequest>().ok::<TransactionJson>().gives(&[DECISION, REPLAYED])
        .transfer().errors(&["not-waiting", "schedule-under-way"]),
    route!(post "/api/ledger/schedules/{id}/skip", schedules::skip_occurrence, "Skip the occurrence that waits")
        .user().body::<SkipRequest>().ok::<ScheduleJson>().errors(&["not-waiting", "schedule-under-way"]),
    route!(get "/api/ledger/events", events::stream_events, "Status changes of the user's transfers, as they happen")
        .user().takes(&[LAST_EVENT]).query(&[&EventsQuery::DECLARATION])
        .answers(&[(200, Content::Events(&TransferEvent::DECLARATION))]).errors(&["cursor-expired"]),
    route!(get "/api/ledger/risk-context", risk_context::get_risk_context, "The risk of a transfer, from the user's history")
        .user().query(&[&RiskContextQuery::DECLARATION]).ok::<RiskContextJson>()
        .errors(&["account-not-found", "beneficiary-not-found", "model-unavailable"]),
    route!(post "/api/analytics/events", analytics::create_event, "Record an event, if the user consented")
        .user().body::<EventRequest>().answers(&[(202, Content::Empty)]),
    route!(get "/api/ledger/terms", terms::get_terms, "Limits and waiting times of the user's next transfer").user().ok::<TermsJson>(),
    route!(get "/api/analytics/consent", analytics::get_consent, "Whether the user consented").user().ok::<ConsentJson>(),
    route!(put "/api/analytics/consent", analytics::put_consent, "Grant or withdraw consent")
        .user().body::<ConsentRequest>().ok::<ConsentJson>(),
    route!(get "/api/profile/accessibility", profile::get_profile, "The user's profile, or the default one").user().ok::<ProfileJson>(),
    route!(put "/api/profile/accessibility", profile::put_profile, "Replace the profile")
        .user().body::<ProfileRequest>().ok::<ProfileJson>(),
    route!(get "/models/{kind}/active", published::active, "The active model of a kind, for pages")
        .takes(&[IF_NONE_MATCH]).gives(&[ETAG]).answers(&[(200, one::<ActiveJson>()), (304, Content::Empty)])
        .errors(&["not-publishable"]),
    route!(get "/models/core/{name}", published::core, "A core module").file(WASM),
    route!(get "/models/component/{name}", published::component, "The component of a core module, which is what is signed").file(WASM),
    route!(get "/models/signature/{name}", published::signature, "The signature of a component in base64, as cosign makes it")
        .answers(&[(200, Content::Bytes("text/plain"))]),
    route!(get "/models/glue/{name}", published::glue, "The JavaScript glue of a core module").file(SCRIPT),
    route!(get "/", bank::page, "The bank's page").file(PAGE),
    route!(get "/bank/{file}", "bank_file": bank::file, "A file of the bank's page").file(ANY_FILE),
    route!(get "/assets/{file}", bank::asset, "The page's script or style sheet, named by its digest").file(ANY_FILE),
    route!(get "/offline-worker.js", bank::offline_worker, "The worker that keeps the page for when there is no connection").file(SCRIPT),
    route!(get "/shared/{file}", bank::shared, "A file shared by both pages").file(ANY_FILE),
    route!(get "/scorers/dist/{*path}", bank::generated, "A generated file of the npm package").file(ANY_FILE),
    route!(get "/reference", "reference": reference::sandbox_page, "Documentation of this API, in the sandbox")
        .file(PAGE).errors(&["not-found"]),
    route!(get "/vendored/{file}", "vendored": reference::sandbox_file, "A library of the reference page").file(ANY_FILE),
    route!(get "/openapi.json", "openapi": async || reference::document(&LEDGER), "This API as an OpenAPI document")
        .answers(&[(200, Content::Bytes("application/json"))]),
    route!(get "/sandbox", sandbox::is_sandbox, "Whether this is the sandbox").ok::<SandboxJson>().errors(&["not-found"]),
    route!(post "/sandbox/token", sandbox::create_token, "A token for any user of the sandbox")
        .body::<TokenRequest>().ok::<TokenJson>().errors(&["not-found"]),
    route!(get "/sign-in", sign_in::get_sign_in, "Where the bank page signs people in")
        .answers(&[(200, one::<SignInJson>()), (204, Content::Empty)]).errors(&["keys-unknown"]),
    route!(get "/livez", health::livez, "Whether the process is alive").ok::<LivenessJson>(),
    route!(get "/readyz", health::readyz, "Whether the host can serve")
        .answers(&[(200, one::<ReadinessJson>()), (503, one::<ReadinessJson>())])
        .errors(&["method-not-allowed", "not-found"]),
];
