//! The errors of the HTTP APIs in one table.

mod conversions;
mod kind;
mod response;

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderName, StatusCode, header};
use time::OffsetDateTime;

use crate::auth::Refusal;
use crate::clock::timestamp;
use crate::domain::hold::Status;
use crate::domain::money::{INVALID_AMOUNT, Money};
use crate::domain::rollout::RolloutState;
use crate::domain::rules::Violation;
use crate::domain::{approval, schedule, transfer};
use crate::http::problem::{detail_of, summary};
use crate::models::ScoreError;
use crate::models::publishing::published::NotPublishable;
use crate::schema::FieldError;
pub(crate) use kind::Failure;
use kind::REJECTED;
pub use kind::{Kind, Of};

/// Seconds that a client should wait before it retries.
const RETRY_AFTER: (HeaderName, &str) = (header::RETRY_AFTER, "1");

/// The same for a user of whom another refusal cannot be kept yet:
/// [`REFUSAL_EVERY`](crate::auth::rates::REFUSAL_EVERY). Meanwhile a rail settles hundreds of payments.
const RETRY_REFUSED_AFTER: (HeaderName, &str) = (header::RETRY_AFTER, "10");

/// The same for a user who checked too many payees: [`CHECKS_PER_HOUR`](crate::auth::rates::CHECKS_PER_HOUR).
const RETRY_CHECK_AFTER: (HeaderName, &str) = (header::RETRY_AFTER, "120");

/// The only encoding of a body.
const IDENTITY: (HeaderName, &str) = (header::ACCEPT_ENCODING, "identity");

const CHALLENGE: (HeaderName, &str) = (header::WWW_AUTHENTICATE, "Bearer");
const CHALLENGE_INVALID: (HeaderName, &str) = (header::WWW_AUTHENTICATE, r#"Bearer error="invalid_token""#);

const CHALLENGE_NONCE: (HeaderName, &str) = (header::WWW_AUTHENTICATE, r#"DPoP error="use_dpop_nonce""#);
const CHALLENGE_PROOF: (HeaderName, &str) =
    (header::WWW_AUTHENTICATE, r#"DPoP error="invalid_dpop_proof", algs="ES256 EdDSA RS256 PS256""#);

/// A plural noun, and how many of them there may be.
type Limit = (&'static str, i64);

/// Declares [`Error`] and [`ALL`] from one row for each error:
/// `Variant(data) = STATUS, code, title, detail, header: name and value, field: name, of: operations, changes: nothing`.
///
/// What follows the detail is optional. The detail may use the data; where there is a `field`, the
/// detail completes the sentence that begins with the field's name.
macro_rules! problems {
    ($(
        $(#[$doc:meta])*
        $variant:ident $(($data:ident: $type:ty))? = $status:ident, $code:expr, $title:literal, $detail:expr
            $(, header: $header:expr)? $(, field: $field:literal)? $(, of: $of:ident)? $(, changes: $unchanged:ident)?;
    )+) => {
        /// Why a request failed.
        #[derive(Debug)]
        pub enum Error {
            $($(#[$doc])* $variant $(($type))?,)+
        }

        /// Every error, in the order of the table. One code may appear more than once.
        pub const ALL: &[Kind] = &[$(problems!(
            @kind $status, $code, $title $(, header: $header)? $(, field: $field)? $(, of: $of)? $(, changes: $unchanged)?
        )),+];

        impl Error {
            /// The row of this error, with its detail filled in.
            fn row(&self) -> (&'static Kind, Cow<'static, str>) {
                match self {
                    $(Self::$variant $(($data))? => {
                        $(let _ = $data;)?
                        (&const { problems!(
                            @kind $status, $code, $title $(, header: $header)? $(, field: $field)? $(, of: $of)?
                                $(, changes: $unchanged)?
                        ) }, $detail.into())
                    })+
                }
            }
        }
    };
    (
        @kind $status:ident, $code:expr, $title:literal $(, header: $header:expr)? $(, field: $field:literal)?
            $(, of: $of:ident)? $(, changes: $unchanged:ident)?
    ) => {
        Kind {
            status: StatusCode::$status,
            code: $code,
            title: $title,
            header: problems!(@option $($header)?),
            field: problems!(@option $($field)?),
            of: problems!(@of $($of)?),
            unchanged: problems!(@is $($unchanged)?),
        }
    };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@of) => { Of::Named };
    (@of $of:ident) => { Of::$of };
    (@is) => { false };
    (@is nothing) => { true };
}

problems! {
    TokenMissing = UNAUTHORIZED, "unauthorized", "A bearer token is required",
        "Send the header Authorization: Bearer <token>.", header: CHALLENGE, of: Token;
    /// Its bearer does not learn the reason.
    TokenInvalid(_reason: Refusal) = UNAUTHORIZED, "unauthorized", "The bearer token is not valid",
        "The token is malformed, expired, not yet valid, or not signed for this service.", header: CHALLENGE_INVALID, of: Token;
    /// Its bearer does not learn the reason.
    ProofInvalid(_reason: Refusal) = UNAUTHORIZED, "unauthorized", "The proof of possession is not valid",
        "Each request with this token needs a new DPoP proof, signed with the token's key.", header: CHALLENGE_PROOF, of: Token;
    NonceRequired = UNAUTHORIZED, "unauthorized", "The proof of possession needs a nonce",
        "Repeat the request with a proof that contains the nonce in DPoP-Nonce.", header: CHALLENGE_NONCE, of: Token;
    KeysUnknown = SERVICE_UNAVAILABLE, "keys-unknown", "Tokens cannot be verified at the moment",
        "This host does not have the OpenID provider's current keys. Retry after the time in Retry-After.",
        header: RETRY_AFTER, of: Token, changes: nothing;
    ScopeMissing(scope: &'static str) = FORBIDDEN, "insufficient-scope", "The token lacks a scope",
        format!("This requires a token with the scope {scope}."), of: Token;
    ClientRefused = FORBIDDEN, "insufficient-scope", "The token's client may not operate",
        "Use a token issued to a client that --operator-client names or, without that setting, to any but the bank page's.", of: Token;
    NoPerson = FORBIDDEN, "insufficient-scope", "This takes a person",
        "This token identifies a program, not a person: use one obtained by signing in.", of: Token;
    /// They proposed it.
    SamePerson = FORBIDDEN, "second-person-required", "Another person has to approve it",
        "You proposed this action: another operator has to approve it, or you can withdraw it.";
    HostNotAllowed = MISDIRECTED_REQUEST, "host-not-allowed", "The host name is not served here",
        "This internal listener answers only to the host names it was configured with.", of: Internal;
    /// No such resource, or another user's.
    NotFound = NOT_FOUND, "not-found", "There is no such resource", "There is nothing at this path.", of: Path;
    /// The look-up is recorded.
    CustomerNotFound = NOT_FOUND, "not-found", "There is no such customer",
        "No customer has this user id, account number, account or tracking key.";
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method-not-allowed", "The method is not allowed here",
        "The Allow header lists the methods of this path.";
    NotJson = UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be JSON",
        "Send the header Content-Type: application/json.", of: Body;
    NotWasm = UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be WebAssembly",
        "Send the header Content-Type: application/wasm.", of: Body;
    NotNdjson = UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be NDJSON",
        "Send one JSON object on each line, with the header Content-Type: application/x-ndjson.", of: Body;
    BodyEncoded = UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must not be compressed",
        "Send it as it is, without Content-Encoding.", header: IDENTITY, of: Body;
    /// The limit in bytes.
    PayloadTooLarge(limit: usize) = PAYLOAD_TOO_LARGE, "payload-too-large", "The body is too large",
        format!("The limit is {limit} bytes."), of: Body;
    /// The body is not JSON, or it ended early.
    MalformedJson(detail: String) = BAD_REQUEST, "malformed-json", "The body is not valid JSON", detail.clone(), of: Json;
    /// Only the amount is wrong.
    InvalidAmount(errors: Vec<FieldError>) = BAD_REQUEST, INVALID_AMOUNT, "The amount is not valid", summary(errors), of: Amount;
    /// Fields of a ledger request are missing, of the wrong type or out of range.
    Invalid(errors: Vec<FieldError>) = BAD_REQUEST, "validation-failed", "The request is not valid", summary(errors), of: Fields;
    /// The same for the other APIs.
    Unprocessable(errors: Vec<FieldError>) = UNPROCESSABLE_ENTITY, "validation-failed", "The request is not valid",
        summary(errors), of: Fields;

    AccountExists = CONFLICT, "account-exists", "The account already exists",
        "is already used by one of your accounts", field: "accountNumber";
    /// Of what a user has too many already, and how many they may have.
    TooMany(limit: Limit) = CONFLICT, "limit-reached", "The limit has been reached",
        format!("A user can have at most {} {}. Nothing was added.", limit.1, limit.0);
    /// No range is configured, or all of its numbers are in use.
    NoNumbers = SERVICE_UNAVAILABLE, "no-account-numbers", "The bank has no account number to assign",
        "The operator has to name a range with free numbers: `caudal policy set --clabe-range`.", changes: nothing;
    /// The debited account does not exist or is another user's.
    AccountNotFound = BAD_REQUEST, "account-not-found", "The account was not found",
        "is not one of your accounts", field: "fromAccountId", of: Transfer;
    AccountFrozen = FORBIDDEN, "account-frozen", "The account is frozen",
        "No money may leave the account: only the bank can unfreeze it.", of: Transfer;
    /// How it ended.
    HoldEnded(status: Status) = CONFLICT, "hold-ended", "The hold has ended",
        format!("It is {status}, so it can be neither captured nor voided.");
    /// How it ended.
    ScheduleEnded(status: schedule::Status) = CONFLICT, "schedule-ended", "The schedule has ended",
        format!("It is {status}, so there is nothing to cancel.");
    NotWaiting = CONFLICT, "not-waiting", "No occurrence on that date is waiting for an answer",
        "It has already been answered or sent, or the time to answer has passed. Read the schedule again.";
    ScheduleUnderWay = CONFLICT, "schedule-under-way", "An occurrence is being sent",
        "Nothing was changed. Read the schedule again in a minute, then decide.";
    /// How it ended.
    ApprovalEnded(state: approval::State) = CONFLICT, "approval-ended", "The action has ended",
        format!("It is {state}, so it can be neither approved nor withdrawn.");
    ApprovalUnderWay = CONFLICT, "approval-under-way", "The action is being carried out",
        "Somebody approved it, so it may have been carried out. Read it again in a minute: if it is still approved, approving \
         it again goes on with it.";
    /// Its status.
    NotReversible(status: transfer::Status) = CONFLICT, "not-reversible", "The transaction cannot be reversed",
        format!("It is {status}. Only a completed one can be reversed.");
    NotCovered = CONFLICT, "not-covered", "The payee's account does not cover the amount",
        "Nothing was reversed: the money has left the account that received it.";
    /// When it can be decided on.
    PaymentUnderWay(at: OffsetDateTime) = CONFLICT, "payment-under-way", "The payment may be under way",
        format!("It was stopped, so that no host sends it any more. Decide on it after {}.", timestamp(*at));
    /// Its status, which is final.
    PaymentEnded(status: transfer::Status) = CONFLICT, "payment-ended", "The payment has ended",
        format!("It is {status}, which never changes. A completed one can be given back: reverse it.");
    ReviewNotClaimed = CONFLICT, "review-not-claimed", "The review is not yours",
        "Claim it first. What another operator claimed can be claimed again an hour later.";
    ReviewEnded = CONFLICT, "review-ended", "The review has ended", "It was decided, once and for all.";
    ReviewAltered = CONFLICT, "payment-altered", "The payment is not as it was entered",
        "Somebody changed it in the database, so nothing was decided. Run `caudal verify`: it says what differs.";
    ReviewSent = CONFLICT, "payment-sent", "The rail has the payment",
        "It was released before the database was restored. Release it again: its rail says what became of it.";
    RailSilent = SERVICE_UNAVAILABLE, "rail-unavailable", "The rail does not say whether it has the payment",
        "Nothing was changed. Retry after the time in Retry-After.", header: RETRY_AFTER;
    /// Why.
    NotBookable(why: String) = CONFLICT, "not-bookable", "The payment cannot be booked", why.clone();
    /// The amount that is held.
    HoldExceeded(held: Money) = BAD_REQUEST, "hold-exceeded", "The amount exceeds the hold",
        format!("is more than the {held} MXN held"), field: "amount";
    /// The beneficiary does not exist or is another user's.
    BeneficiaryNotFound = BAD_REQUEST, "beneficiary-not-found", "The beneficiary was not found",
        "is not one of your beneficiaries", field: "toBeneficiaryId", of: Transfer;
    /// Refused by the rules or for lack of funds. The first, most serious violation gives code and detail,
    /// which `components/model/src/rules.rs` words.
    Rejected(violations: Vec<Violation>) = BAD_REQUEST, REJECTED, "The transfer was refused",
        violations.first().map_or_else(String::new, detail_of), of: Transfer;
    CursorExpired = GONE, "cursor-expired", "The cursor is no longer valid",
        "belongs to a history that ended when events were lost: listen from now on, then read the lists again", field: "from";
    KeyReused = UNPROCESSABLE_ENTITY, "idempotency-key-reused", "The idempotency key belongs to another request",
        "was used for another request; use a new key", field: "Idempotency-Key", of: Transfer;

    /// The gate refused the component, for these reasons.
    ComponentRefused(errors: Vec<FieldError>) = UNPROCESSABLE_ENTITY, "component-refused", "The gate refused the component",
        format!("Failed checks: {}. Nothing was registered.", errors.len());
    SignatureMissing = UNPROCESSABLE_ENTITY, "signature-required", "The version is not signed",
        "This host serves only versions that one of its --model-keys has signed: push it with --signature.";
    SignatureInvalid = UNPROCESSABLE_ENTITY, "signature-invalid", "The signature is not valid",
        "None of this host's --model-keys signed this content. Nothing was changed.";
    VersionTaken = CONFLICT, "version-taken", "The version belongs to another component",
        "A version number is never reused: push under a higher version.";
    NothingDeployed = CONFLICT, "nothing-deployed", "There is nothing to roll back",
        "No version of this kind has ever been deployed.";
    RolloutOpen = CONFLICT, "rollout-open", "A rollout is under way",
        "Nothing was changed. Wait until it ends, or abort it.";
    /// The state that it is in.
    RolloutState(state: RolloutState) = CONFLICT, "rollout-state", "The rollout is in another state",
        format!("It is {}: only a running one can be paused, a paused one resumed, and an open one aborted.", state.as_str());
    IfMatchMissing = PRECONDITION_REQUIRED, "if-match-required", "If-Match is required",
        "Send an If-Match header with the ETag of what you last read.";
    Stale = PRECONDITION_FAILED, "stale", "Somebody else changed this in the meantime",
        "Nothing was changed. Read it again before you retry.";
    NotPublishable(reason: NotPublishable) = CONFLICT, "not-publishable", "The active model cannot run in a browser",
        format!("Keep the model you have, or use the assistance API: {reason}.");

    /// Of this user, or from this address.
    TooManyRequests(_limit: &'static str) = TOO_MANY_REQUESTS, "too-many-requests", "Too many requests",
        "Nothing was changed. Retry after the time in Retry-After.", header: RETRY_AFTER, of: Public;
    Overloaded = SERVICE_UNAVAILABLE, "overloaded", "The service is busy",
        "Nothing was changed. Retry after the time in Retry-After.", header: RETRY_AFTER, of: Any, changes: nothing;
    /// What it would have waited for.
    Shed(_stage: &'static str) = SERVICE_UNAVAILABLE, "overloaded", "The service is busy",
        "Nothing was changed. Retry after the time in Retry-After.", header: RETRY_AFTER, of: Any, changes: nothing;
    /// Their refusals are kept with their keys.
    TooManyRefusals = TOO_MANY_REQUESTS, "too-many-requests", "Too many rejected transfers",
        "This one was not decided, and its Idempotency-Key is not used up. Retry after the time in Retry-After.",
        header: RETRY_REFUSED_AFTER, of: Public;
    /// At the rail.
    TooManyPending = TOO_MANY_REQUESTS, "too-many-pending", "Too many payments are pending",
        "This one was not decided, and its Idempotency-Key is not used up. Retry after the time in Retry-After: earlier \
        payments have to settle first. The operator can raise --pending-payments.",
        header: RETRY_REFUSED_AFTER, of: Transfer;
    /// Of payees' names.
    TooManyChecks = TOO_MANY_REQUESTS, "too-many-requests", "Too many payees were checked",
        "Payee names can be checked only a limited number of times an hour. A payee can be saved and paid without a check.",
        header: RETRY_CHECK_AFTER, of: Public;
    TimedOut = SERVICE_UNAVAILABLE, "timed-out", "The request took too long",
        "A transfer may still complete: retry it with the same Idempotency-Key.", header: RETRY_AFTER, of: Any;
    BodyTooSlow = SERVICE_UNAVAILABLE, "timed-out", "The request took too long",
        "Its body did not arrive in time, so nothing was done. Send it again.", header: RETRY_AFTER, of: Any, changes: nothing;
    /// Of a request that moves no money.
    NoAnswer = SERVICE_UNAVAILABLE, "timed-out", "The request took too long",
        "If it was a change, check whether it took effect before you send it again.", header: RETRY_AFTER, of: Any;
    ModelUnavailable(_error: ScoreError) = SERVICE_UNAVAILABLE, "model-unavailable", "A model is not available",
        "Nothing was decided and nothing was changed. Try again later.", header: RETRY_AFTER, of: Transfer, changes: nothing;
    /// The rules component, or the scorer it needs, failed; the ledger has logged why.
    RulesUnavailable = SERVICE_UNAVAILABLE, "model-unavailable", "A model is not available",
        "Nothing was decided and nothing was changed. Try again later.", header: RETRY_AFTER, of: Transfer, changes: nothing;
    DatabaseUnavailable(_error: Arc<sqlx::Error>) = SERVICE_UNAVAILABLE, "database-unavailable",
        "The database is unavailable", "If this was a change, check whether it took effect before you retry.",
        header: RETRY_AFTER, of: Any;
    /// What was done is not confirmed by the database.
    OutcomeUnknown = SERVICE_UNAVAILABLE, "outcome-unknown", "The outcome is not known yet",
        "The database failed during the write. Retry with the same Idempotency-Key to learn the outcome; without one, \
         check whether it took effect.",
        header: RETRY_AFTER, of: Transfer;
    /// The action of an approval may have been carried out.
    ExecutionUnknown = SERVICE_UNAVAILABLE, "outcome-unknown", "The outcome is not known yet",
        "The action may have been carried out. Approve it again in a minute to learn the outcome: nothing happens twice.",
        header: RETRY_AFTER;
    Internal(_error: anyhow::Error) = INTERNAL_SERVER_ERROR, "internal-error", "Something went wrong on our side",
        "The error is logged under this requestId.", of: Any;
}

impl Error {
    /// Whether the same request may succeed later without anyone intervening.
    pub(crate) fn is_temporary(&self) -> bool {
        let status = self.row().0.status;
        status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
    }

    pub(crate) fn log(&self) {
        match self {
            Self::Internal(error) => tracing::error!(error = &**error as &dyn std::error::Error, "internal error"),
            Self::DatabaseUnavailable(error) => {
                tracing::error!(error = &**error as &dyn std::error::Error, "the database is unavailable");
            }
            Self::ModelUnavailable(error) => {
                tracing::error!(error = error as &dyn std::error::Error, "a model failed");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;
    use crate::http::problem::Problem;

    #[test]
    fn a_code_has_one_status_unless_the_apis_differ() {
        for kind in ALL {
            let same = ALL.iter().filter(|it| it.code == kind.code && it.code != "validation-failed");
            assert!(same.into_iter().all(|it| it.status == kind.status), "{}", kind.code);
            assert!(kind.status.is_client_error() || kind.status.is_server_error(), "{}", kind.code);
        }
    }

    #[test]
    fn a_refused_transfer_takes_its_code_from_the_first_violation() {
        let violation = |code: &str| Violation { code: code.to_owned(), detail: format!("{code}!") };
        let error = Error::Rejected(vec![violation("limit-exceeded"), violation("same-account")]);
        let response = error.into_response();
        let problem = response.extensions().get::<Problem>().unwrap();
        assert_eq!((&*problem.code, &*problem.detail), ("limit-exceeded", "limit-exceeded!"));
        let fields: Vec<_> = problem.errors.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(fields, ["amount", "toBeneficiaryId"]);
    }
}
