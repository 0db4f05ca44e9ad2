//! Authentication: bearer tokens, the users and operators they identify, and what operators' scopes allow.
//!
//! No HTTP here: the caller passes the values of the `Authorization` header and maps an [`AuthError`] to
//! its response.

pub mod claims;
mod error;
mod keys;
pub mod minter;
pub mod network;
mod nonce;
pub mod proof;
pub mod provider;
pub mod rates;
pub mod reader;
pub mod scope;
pub mod token;

use std::sync::Arc;

use time::OffsetDateTime;

use crate::domain::approval::Person;
use crate::domain::model::ModelKind;
use claims::Claims;
use proof::Request;
use scope::{EVENTS_ADMIN, EVENTS_READ, LEDGER_OPERATE, LEDGER_READ, MODELS_ADMIN, OUTCOMES_WRITE, RULES_ADMIN};
use token::Verifier;

pub use error::{AuthError, Refusal};

/// The authenticated user. All data is scoped to this identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User(pub String);

impl From<&Claims> for User {
    fn from(claims: &Claims) -> Self {
        Self(claims.user.clone())
    }
}

impl From<&Claims> for Person {
    fn from(claims: &Claims) -> Self {
        Self { name: claims.user.clone(), issuer: claims.issuer.clone(), is_machine: claims.is_machine }
    }
}

/// A user whose token has at least one operator scope for models.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Recorded with every change.
    pub person: Person,
    scopes: Vec<String>,
}

impl TryFrom<&Claims> for Operator {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        let operator = Self { person: claims.into(), scopes: claims.scopes.clone() };
        let has_any = operator.has(MODELS_ADMIN) || operator.has(RULES_ADMIN);
        if has_any { Ok(operator) } else { Err(AuthError::ScopeMissing(MODELS_ADMIN)) }
    }
}

impl Operator {
    fn has(&self, scope: &str) -> bool {
        self.scopes.iter().any(|it| it == scope)
    }

    /// # Errors
    /// When the token lacks the scope that changes to this kind require.
    pub fn may_change(&self, kind: ModelKind) -> Result<(), AuthError> {
        let scope = if kind == ModelKind::TransferRules { RULES_ADMIN } else { MODELS_ADMIN };
        if self.has(scope) { Ok(()) } else { Err(AuthError::ScopeMissing(scope)) }
    }
}

/// A user whose token allows operating the ledger. It gives no access to models, nor do the scopes for models give
/// access to accounts.
#[derive(Debug, Clone)]
pub struct LedgerOperator {
    /// Recorded with every change.
    pub person: Person,
}

impl TryFrom<&Claims> for LedgerOperator {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        claims.require(LEDGER_OPERATE)?;
        Ok(Self { person: claims.into() })
    }
}

/// A user whose token allows looking up customers, which operating the ledger includes.
#[derive(Debug, Clone)]
pub struct LedgerReader {
    /// Recorded with every look-up.
    pub person: Person,
}

impl TryFrom<&Claims> for LedgerReader {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        claims.require(LEDGER_OPERATE).or_else(|_| claims.require(LEDGER_READ))?;
        Ok(Self { person: claims.into() })
    }
}

/// A program, or a person, whose token allows reading everybody's events.
#[derive(Debug, Clone)]
pub struct EventReader(pub Claims);

impl TryFrom<&Claims> for EventReader {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        claims.require(EVENTS_READ)?;
        Ok(Self(claims.clone()))
    }
}

/// A user whose token allows deciding where everybody's events are delivered.
#[derive(Debug, Clone)]
pub struct EventOperator {
    /// Recorded with every change.
    pub person: Person,
}

impl TryFrom<&Claims> for EventOperator {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        claims.require(EVENTS_ADMIN)?;
        Ok(Self { person: claims.into() })
    }
}

/// A program, or a person, whose token allows recording what became of orders.
#[derive(Debug, Clone)]
pub struct OutcomeRecorder {
    /// Recorded with every outcome.
    pub person: Person,
}

impl TryFrom<&Claims> for OutcomeRecorder {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        claims.require(OUTCOMES_WRITE)?;
        Ok(Self { person: claims.into() })
    }
}

/// A user whose token has some operator scope. What they may decide on depends on the action.
#[derive(Debug, Clone)]
pub struct Approver {
    /// Recorded with every decision.
    pub person: Person,
    scopes: Vec<String>,
}

impl TryFrom<&Claims> for Approver {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        let approver = Self { person: claims.into(), scopes: claims.scopes.clone() };
        let has_any = [LEDGER_OPERATE, MODELS_ADMIN, RULES_ADMIN].iter().any(|scope| approver.has(scope));
        if has_any { Ok(approver) } else { Err(AuthError::ScopeMissing(LEDGER_OPERATE)) }
    }
}

impl Approver {
    /// Whether the token has the scope that an action requires.
    pub fn has(&self, scope: &str) -> bool {
        self.scopes.iter().any(|it| it == scope)
    }
}

/// Authenticates a request by the values of its `Authorization` header, and by its proof if the token is bound to a
/// key.
///
/// # Errors
/// When there is not exactly one value with a valid bearer token, or no token can be verified.
pub async fn authenticate<'a>(
    verifier: &Verifier,
    authorization: impl IntoIterator<Item = &'a [u8]>,
    request: Request<'a>,
    now: OffsetDateTime,
) -> Result<Arc<Claims>, AuthError> {
    let mut values = authorization.into_iter();
    let value = values.next().ok_or(AuthError::TokenMissing)?;
    // With two tokens it would be ambiguous which one counts.
    let only = values.next().is_none();
    let credentials = std::str::from_utf8(value).ok().and_then(|value| value.trim().split_once(' '));
    let (scheme, token) = credentials.filter(|_| only).ok_or(AuthError::TokenInvalid(Refusal::Malformed))?;
    let (is_bearer, is_bound) = (scheme.eq_ignore_ascii_case("bearer"), scheme.eq_ignore_ascii_case("dpop"));
    if !is_bearer && !is_bound {
        return Err(AuthError::TokenInvalid(Refusal::Malformed));
    }
    let claims = verifier.verify(token.trim(), now).await?;
    match &claims.key {
        None if is_bearer => Ok(claims),
        // A bound token without its proof may be stolen.
        Some(key) if is_bound => {
            verifier.check_proof(request, token.trim(), (&claims.user, key), now)?;
            Ok(claims)
        }
        _ => Err(AuthError::TokenInvalid(Refusal::Proof)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(scopes: &[&str]) -> Claims {
        let scopes = scopes.iter().map(|&scope| scope.to_owned()).collect();
        Claims { user: "ops".to_owned(), scopes, ..Claims::default() }
    }

    fn operator(scopes: &[&str]) -> Result<Operator, AuthError> {
        Operator::try_from(&claims(scopes))
    }

    #[test]
    fn rules_require_a_scope_of_their_own() {
        let models = operator(&[MODELS_ADMIN, "other"]).unwrap();
        assert_eq!(models.may_change(ModelKind::Risk), Ok(()));
        assert_eq!(models.may_change(ModelKind::TransferRules), Err(AuthError::ScopeMissing(RULES_ADMIN)));
        let rules = operator(&[RULES_ADMIN]).unwrap();
        assert_eq!(rules.may_change(ModelKind::TransferRules), Ok(()));
        assert_eq!(rules.may_change(ModelKind::Nudge), Err(AuthError::ScopeMissing(MODELS_ADMIN)));
        assert_eq!(operator(&["other"]).unwrap_err(), AuthError::ScopeMissing(MODELS_ADMIN));
    }

    #[test]
    fn models_and_accounts_have_operators_of_their_own() {
        let ledger = |scope: &str| LedgerOperator::try_from(&claims(&[scope]));
        assert_eq!(ledger(LEDGER_OPERATE).unwrap().person.name, "ops");
        assert_eq!(ledger(MODELS_ADMIN).unwrap_err(), AuthError::ScopeMissing(LEDGER_OPERATE));
        assert_eq!(operator(&[LEDGER_OPERATE]).unwrap_err(), AuthError::ScopeMissing(MODELS_ADMIN));
    }
}
