//! Why a request is not allowed, and what is wrong with a token.

/// Why a request is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthError {
    TokenMissing,
    TokenInvalid,
    /// The provider's keys are not known, so no token can be verified.
    KeysUnknown,
    /// The user asks too often.
    TooManyRequests,
    /// The token lacks this scope.
    ScopeMissing(&'static str),
}

/// What is wrong with a token. For logs: its bearer learns only that it is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("it is malformed or too long")]
    Malformed,
    #[error("its algorithm is not allowed")]
    Algorithm,
    #[error("its header declares an unknown extension critical")]
    Critical,
    #[error("it has another type than access tokens")]
    Kind,
    #[error("its key is unknown")]
    UnknownKey,
    #[error("its signature does not match")]
    Signature,
    #[error("it is from another issuer")]
    Issuer,
    #[error("it is for another audience")]
    Audience,
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    NotYetValid,
    #[error("it lives too long, or does not say since when")]
    Lifetime,
    #[error("it names no user")]
    User,
}
