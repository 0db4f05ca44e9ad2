//! The operations of the ledger listener, in the order of its routes.

use super::operation::{Content, Header, Operation, list, one};
use crate::http::extract::PageQuery;
use crate::http::health::{LivenessJson, ReadinessJson};
use crate::http::ledger::accounts::{AccountJson, AccountRequest};
use crate::http::ledger::analytics::{ConsentJson, ConsentRequest, EventRequest};
use crate::http::ledger::beneficiaries::{BeneficiaryEditRequest, BeneficiaryJson, BeneficiaryRequest};
use crate::http::ledger::bulk::{BulkJson, BulkRequest};
use crate::http::ledger::entries::{BalanceJson, BalanceQuery, EntriesQuery, EntryJson};
use crate::http::ledger::events::{EventJson, EventsQuery};
use crate::http::ledger::holds::{CaptureRequest, HoldJson, HoldRequest};
use crate::http::ledger::payee_checks::{PayeeCheckJson, PayeeCheckRequest};
use crate::http::ledger::profile::{ProfileJson, ProfileRequest};
use crate::http::ledger::risk_context::{RiskContextJson, RiskContextQuery};
use crate::http::ledger::schedules::{ConfirmationRequest, ScheduleJson, ScheduleRequest, SkipRequest};
use crate::http::ledger::transactions::{TransactionJson, TransferRequest};
use crate::http::pages::published::ActiveJson;
use crate::http::pages::sandbox::{SandboxJson, TokenJson, TokenRequest};
use crate::http::pages::sign_in::SignInJson;
use crate::schema::Record;

const LINK: Header = Header::new("Link", "The next page, `rel=\"next\"`, if there is one.");
const LOCATION: Header = Header::new("Location", "URL of the result.");
const REPLAYED: Header = Header::new(
    "Idempotency-Replayed",
    "`true` if an earlier request with this key was answered. A transfer is shown with its present status, which may have \
     changed since.",
);
const KEY: Header = Header::new(
    "Idempotency-Key",
    "1 to 255 visible ASCII characters, raw or as a quoted string: the same key never makes two transfers or holds.",
);
const LAST_EVENT: Header = Header::new("Last-Event-ID", "Same as `from`; browsers send it when they reconnect.");
pub(super) const ETAG: Header = Header::new("ETag", "Identifies this version of the response.");
pub(super) const IF_NONE_MATCH: Header = Header::new("If-None-Match", "An ETag; 304 if it still matches.");

const PAGE: &[&crate::schema::Declaration] = &[&PageQuery::DECLARATION];
const FILE: &[Header] = &[IF_NONE_MATCH];

const fn file(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    answers: &'static [(u16, Content)],
) -> Operation {
    Operation::get(path, id, summary).takes(FILE).gives(&[ETAG]).answers(answers)
}

const SCRIPT: &[(u16, Content)] = &[(200, Content::Bytes("text/javascript")), (304, Content::Empty)];
const ANY_FILE: &[(u16, Content)] = &[(200, Content::Bytes("*/*")), (304, Content::Empty)];

/// Errors of a transfer.
const TRANSFER_ERRORS: &[&str] = &[
    "account-frozen",
    "same-account",
    "insufficient-funds",
    "limit-exceeded",
    "beneficiary-cooling",
    "risk-acknowledgment-required",
    "account-not-found",
    "beneficiary-not-found",
    "idempotency-key-reused",
    "model-unavailable",
    "decision-not-kept",
    "too-many-pending",
    "outcome-unknown",
];

/// Errors of a transfer, and two more.
const fn transfer_errors_and(more: [&'static str; 2]) -> [&'static str; TRANSFER_ERRORS.len() + 2] {
    let mut errors = [more[0]; TRANSFER_ERRORS.len() + 2];
    let mut at = 0;
    while at < TRANSFER_ERRORS.len() {
        errors[at] = TRANSFER_ERRORS[at];
        at += 1;
    }
    errors[at] = more[1];
    errors
}

/// Errors of a transfer that captures a hold.
const CAPTURE_ERRORS: &[&str] = &transfer_errors_and(["hold-ended", "hold-exceeded"]);

/// Errors of a scheduled transfer.
const CONFIRMATION_ERRORS: &[&str] = &transfer_errors_and(["not-waiting", "schedule-under-way"]);

// A row for each operation.
#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/api/ledger/accounts", "list_accounts", "The user's accounts, oldest first")
        .user().query(PAGE).answers(&[(200, list::<AccountJson>())]).gives(&[LINK]),
    Operation::post("/api/ledger/accounts", "create_account", "Open an account")
        .user().body::<AccountRequest>().answers(&[(201, one::<AccountJson>())]).gives(&[LOCATION])
        .errors(&["account-exists", "limit-reached", "no-account-numbers", "outcome-unknown"]),
    Operation::get("/api/ledger/accounts/{id}", "get_account", "One account")
        .user().answers(&[(200, one::<AccountJson>())]),
    Operation::get("/api/ledger/accounts/{id}/entries", "list_entries", "An account's statement, newest first")
        .user().query(&[&EntriesQuery::DECLARATION, &PageQuery::DECLARATION])
        .answers(&[(200, list::<EntryJson>())]).gives(&[LINK]),
    Operation::get("/api/ledger/accounts/{id}/balance", "get_balance", "An account's balance at an instant")
        .user().query(&[&BalanceQuery::DECLARATION]).answers(&[(200, one::<BalanceJson>())]),
    Operation::get("/api/ledger/beneficiaries", "list_beneficiaries", "The user's payees, favourites first")
        .user().query(PAGE).answers(&[(200, list::<BeneficiaryJson>())]).gives(&[LINK]),
    Operation::post("/api/ledger/beneficiaries", "create_beneficiary", "Save a payee")
        .user().body::<BeneficiaryRequest>().answers(&[(201, one::<BeneficiaryJson>())]).errors(&["limit-reached"]),
    Operation::patch("/api/ledger/beneficiaries/{id}", "edit_beneficiary", "Change a payee's name, alias or favourite mark")
        .user().body::<BeneficiaryEditRequest>().answers(&[(200, one::<BeneficiaryJson>())]),
    Operation::delete("/api/ledger/beneficiaries/{id}", "delete_beneficiary", "Delete a payee; its transfers stay")
        .user().answers(&[(204, Content::Empty)]),
    Operation::post("/api/ledger/payee-checks", "create_payee_check", "Whether a number belongs to the person of this name")
        .user().body::<PayeeCheckRequest>().answers(&[(200, one::<PayeeCheckJson>())]),
    Operation::get("/api/ledger/transactions", "list_transactions", "The user's transfers, newest first")
        .user().query(PAGE).answers(&[(200, list::<TransactionJson>())]).gives(&[LINK]),
    Operation::get("/api/ledger/transactions/{id}", "get_transaction", "One transfer")
        .user().answers(&[(200, one::<TransactionJson>())]),
    Operation::post("/api/ledger/transactions", "create_transaction", "Make a transfer")
        .user().takes(&[KEY]).body::<TransferRequest>()
        .answers(&[(200, one::<TransactionJson>())]).gives(&[REPLAYED]).errors(TRANSFER_ERRORS),
    Operation::post("/api/ledger/transactions/bulk", "create_transactions", "Make many transfers, each on its own")
        .user().body::<BulkRequest>().answers(&[(200, one::<BulkJson>())]),
    Operation::get("/api/ledger/holds", "list_holds", "The user's holds, newest first")
        .user().query(PAGE).answers(&[(200, list::<HoldJson>())]).gives(&[LINK]),
    Operation::post("/api/ledger/holds", "create_hold", "Set money aside for a payee")
        .user().takes(&[KEY]).body::<HoldRequest>()
        .answers(&[(201, one::<HoldJson>())]).gives(&[LOCATION, REPLAYED]).errors(TRANSFER_ERRORS),
    Operation::get("/api/ledger/holds/{id}", "get_hold", "One hold")
        .user().answers(&[(200, one::<HoldJson>())]),
    Operation::post("/api/ledger/holds/{id}/capture", "capture_hold", "Transfer what is held, or a part of it")
        .user().takes(&[KEY]).body::<CaptureRequest>()
        .answers(&[(200, one::<TransactionJson>())]).gives(&[REPLAYED]).errors(CAPTURE_ERRORS),
    Operation::post("/api/ledger/holds/{id}/void", "void_hold", "Release what is held")
        .user().answers(&[(200, one::<HoldJson>())]).errors(&["hold-ended", "outcome-unknown"]),
    Operation::get("/api/ledger/schedules", "list_schedules", "The user's scheduled transfers, newest first")
        .user().query(PAGE).answers(&[(200, list::<ScheduleJson>())]).gives(&[LINK]),
    Operation::post("/api/ledger/schedules", "create_schedule", "Schedule a transfer, once or repeatedly")
        .user().takes(&[KEY]).body::<ScheduleRequest>()
        .answers(&[(201, one::<ScheduleJson>())]).gives(&[LOCATION, REPLAYED])
        .errors(&["account-not-found", "beneficiary-not-found", "idempotency-key-reused", "limit-reached"]),
    Operation::get("/api/ledger/schedules/{id}", "get_schedule", "One scheduled transfer")
        .user().answers(&[(200, one::<ScheduleJson>())]),
    Operation::post("/api/ledger/schedules/{id}/cancel", "cancel_schedule", "Cancel what is not yet over")
        .user().answers(&[(200, one::<ScheduleJson>())]).errors(&["schedule-ended", "schedule-under-way"]),
    Operation::post("/api/ledger/schedules/{id}/confirm", "confirm_occurrence", "Send the occurrence that waits")
        .user().body::<ConfirmationRequest>()
        .answers(&[(200, one::<TransactionJson>())]).gives(&[REPLAYED]).errors(CONFIRMATION_ERRORS),
    Operation::post("/api/ledger/schedules/{id}/skip", "skip_occurrence", "Skip the occurrence that waits")
        .user().body::<SkipRequest>()
        .answers(&[(200, one::<ScheduleJson>())]).errors(&["not-waiting", "schedule-under-way"]),
    Operation::get("/api/ledger/events", "stream_events", "Status changes of the user's transfers, as they happen")
        .user().takes(&[LAST_EVENT]).query(&[&EventsQuery::DECLARATION])
        .answers(&[(200, Content::Events(&EventJson::DECLARATION))]).errors(&["cursor-expired"]),
    Operation::get("/api/ledger/risk-context", "get_risk_context", "The risk of a transfer, from the user's history")
        .user().query(&[&RiskContextQuery::DECLARATION]).answers(&[(200, one::<RiskContextJson>())])
        .errors(&["account-not-found", "beneficiary-not-found", "model-unavailable", "decision-not-kept"]),
    Operation::post("/api/analytics/events", "create_event", "Record an event, if the user consented")
        .user().body::<EventRequest>().answers(&[(202, Content::Empty)]),
    Operation::get("/api/analytics/consent", "get_consent", "Whether the user consented")
        .user().answers(&[(200, one::<ConsentJson>())]),
    Operation::put("/api/analytics/consent", "put_consent", "Grant or withdraw consent")
        .user().body::<ConsentRequest>().answers(&[(200, one::<ConsentJson>())]),
    Operation::get("/api/profile/accessibility", "get_profile", "The user's profile, or the default one")
        .user().answers(&[(200, one::<ProfileJson>())]),
    Operation::put("/api/profile/accessibility", "put_profile", "Replace the profile")
        .user().body::<ProfileRequest>().answers(&[(200, one::<ProfileJson>())]),
    Operation::get("/models/{kind}/active", "active", "The active model of a kind, for pages")
        .takes(FILE).gives(&[ETAG]).answers(&[(200, one::<ActiveJson>()), (304, Content::Empty)])
        .errors(&["not-publishable"]),
    file("/models/core/{name}", "core", "A core module", &[(200, Content::Bytes("application/wasm")), (304, Content::Empty)]),
    file("/models/glue/{name}", "glue", "The JavaScript glue of a core module", SCRIPT),
    file("/", "page", "The bank's page", &[(200, Content::Bytes("text/html")), (304, Content::Empty)]),
    file("/bank/{file}", "bank_file", "A file of the bank's page", ANY_FILE),
    file("/assets/{file}", "asset", "The page's script or style sheet, named by its digest", ANY_FILE),
    file("/offline-worker.js", "offline_worker", "The worker that keeps the page for when there is no connection", SCRIPT),
    file("/shared/{file}", "shared", "A file shared by both pages", ANY_FILE),
    file("/scorers/src/{file}", "module", "A module of the npm package", SCRIPT),
    file("/scorers/dist/{*path}", "generated", "A generated file of the npm package", ANY_FILE),
    file("/reference", "reference", "Documentation of this API, in the sandbox", &[(200, Content::Bytes("text/html")), (304, Content::Empty)])
        .errors(&["not-found"]),
    file("/vendored/{file}", "vendored", "A library of the reference page", ANY_FILE),
    Operation::get("/openapi.json", "openapi", "This API as an OpenAPI document")
        .answers(&[(200, Content::Bytes("application/json"))]),
    Operation::get("/sandbox", "is_sandbox", "Whether this is the sandbox")
        .answers(&[(200, one::<SandboxJson>())]).errors(&["not-found"]),
    Operation::post("/sandbox/token", "create_token", "A token for any user of the sandbox")
        .body::<TokenRequest>().answers(&[(200, one::<TokenJson>())]).errors(&["not-found"]),
    Operation::get("/sign-in", "get_sign_in", "Where the bank page signs people in")
        .answers(&[(200, one::<SignInJson>()), (204, Content::Empty)]).errors(&["keys-unknown"]),
    Operation::get("/livez", "livez", "Whether the process is alive").answers(&[(200, one::<LivenessJson>())]),
    Operation::get("/readyz", "readyz", "Whether the host can serve")
        .answers(&[(200, one::<ReadinessJson>()), (503, one::<ReadinessJson>())])
        .errors(&["method-not-allowed", "not-found"]),
];
