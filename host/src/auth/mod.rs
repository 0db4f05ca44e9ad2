//! Authentication: bearer tokens, the users and operators they identify, and what operators' scopes allow.
//!
//! No HTTP here: the caller passes the values of the `Authorization` header and maps an [`AuthError`] to
//! its response.

pub mod reader;
pub mod token;

use time::OffsetDateTime;

use crate::domain::model::ModelKind;
use token::{Claims, Verifier};

/// Scope that allows changes to scoring models.
pub const MODELS_ADMIN: &str = "models:admin";

/// Scope that allows changes to the transfer rules.
pub const RULES_ADMIN: &str = "rules:admin";

/// Scope that allows freezing accounts.
pub const LEDGER_OPERATE: &str = "ledger:operate";

/// Why a request is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthError {
    TokenMissing,
    TokenInvalid,
    /// The token lacks this scope.
    ScopeMissing(&'static str),
}

/// The authenticated user. All data is scoped to this identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User(pub String);

impl From<Claims> for User {
    fn from(claims: Claims) -> Self {
        Self(claims.user)
    }
}

/// A user whose token has at least one operator scope for models.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Recorded with every change.
    pub name: String,
    scopes: Vec<String>,
}

impl TryFrom<Claims> for Operator {
    type Error = AuthError;

    fn try_from(Claims { user, scopes }: Claims) -> Result<Self, AuthError> {
        let operator = Self { name: user, scopes };
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

/// A user whose token allows operating the ledger. Models are none of their business, nor accounts a model operator's.
#[derive(Debug, Clone)]
pub struct LedgerOperator {
    /// Recorded with every change.
    pub name: String,
}

impl TryFrom<Claims> for LedgerOperator {
    type Error = AuthError;

    fn try_from(Claims { user, scopes }: Claims) -> Result<Self, AuthError> {
        let has_scope = scopes.iter().any(|it| it == LEDGER_OPERATE);
        if has_scope { Ok(Self { name: user }) } else { Err(AuthError::ScopeMissing(LEDGER_OPERATE)) }
    }
}

/// Authenticates a request by the values of its `Authorization` header.
///
/// # Errors
/// When there is not exactly one value with a valid bearer token.
pub fn authenticate<'a>(
    verifier: &Verifier,
    authorization: impl IntoIterator<Item = &'a [u8]>,
    now: OffsetDateTime,
) -> Result<Claims, AuthError> {
    let mut values = authorization.into_iter();
    let value = values.next().ok_or(AuthError::TokenMissing)?;
    // With two tokens it would be ambiguous which one counts.
    let only = values.next().is_none();
    let credentials = std::str::from_utf8(value).ok().and_then(|value| value.trim().split_once(' '));
    let bearer = credentials.filter(|(scheme, _)| only && scheme.eq_ignore_ascii_case("bearer"));
    bearer.and_then(|(_, token)| verifier.verify(token.trim(), now)).ok_or(AuthError::TokenInvalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(scopes: &[&str]) -> Result<Operator, AuthError> {
        let scopes = scopes.iter().map(|&scope| scope.to_owned()).collect();
        Claims { user: "ops".to_owned(), scopes }.try_into()
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
        let ledger =
            |scope: &str| LedgerOperator::try_from(Claims { user: "ops".to_owned(), scopes: vec![scope.to_owned()] });
        assert_eq!(ledger(LEDGER_OPERATE).unwrap().name, "ops");
        assert_eq!(ledger(MODELS_ADMIN).unwrap_err(), AuthError::ScopeMissing(LEDGER_OPERATE));
        assert_eq!(operator(&[LEDGER_OPERATE]).unwrap_err(), AuthError::ScopeMissing(MODELS_ADMIN));
    }
}
