//! Who may read about models without changing them.

use crate::auth::claims::Claims;
use crate::auth::error::AuthError;
use crate::auth::scope::{AUDIT_READ, MODELS_ADMIN, RULES_ADMIN};
use crate::domain::model::ModelKind;

/// A user whose token allows reading about some kind of model.
#[derive(Debug, Clone)]
pub struct Reader {
    scopes: Vec<String>,
}

impl TryFrom<&Claims> for Reader {
    type Error = AuthError;

    fn try_from(claims: &Claims) -> Result<Self, AuthError> {
        let reader = Self { scopes: claims.scopes.clone() };
        let reads_any = ModelKind::ALL.iter().any(|kind| reader.may_read(*kind).is_ok());
        if reads_any { Ok(reader) } else { Err(AuthError::ScopeMissing(AUDIT_READ)) }
    }
}

impl Reader {
    /// Users who may change a kind may read about it.
    ///
    /// # Errors
    /// When the token lacks both this kind's scope and [`AUDIT_READ`].
    pub fn may_read(&self, kind: ModelKind) -> Result<(), AuthError> {
        let scope = if kind == ModelKind::TransferRules { RULES_ADMIN } else { MODELS_ADMIN };
        self.has_one_of(scope)
    }

    /// Decisions are about customers, of every kind, and replaying them takes time: the scope for the rules is not
    /// enough.
    ///
    /// # Errors
    /// When the token lacks both [`MODELS_ADMIN`] and [`AUDIT_READ`].
    pub fn may_replay(&self) -> Result<(), AuthError> {
        self.has_one_of(MODELS_ADMIN)
    }

    fn has_one_of(&self, scope: &'static str) -> Result<(), AuthError> {
        let allowed = self.scopes.iter().any(|it| it == scope || it == AUDIT_READ);
        if allowed { Ok(()) } else { Err(AuthError::ScopeMissing(scope)) }
    }
}
