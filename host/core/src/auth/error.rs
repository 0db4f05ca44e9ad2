//! Why a request is not allowed, and what is wrong with a token.

/// Why a request is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthError {
    TokenMissing,
    TokenInvalid(Refusal),
    /// The provider's keys are not known, so no token can be verified.
    KeysUnknown,
    /// The user, or the address, asks too often.
    TooManyRequests(&'static str),
    /// The proof lacks a present nonce. No refusal: it tells the client how to go on.
    NonceRequired,
    /// Tokens of this client do not count for operators.
    ClientRefused,
    /// The token lacks this scope.
    ScopeMissing(&'static str),
}

/// What is wrong with a token. For logs: its bearer learns only that it is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is malformed or too long")]
    Malformed,
    #[error("its algorithm is not allowed")]
    Algorithm,
    #[error("its header declares an unknown extension critical")]
    Critical,
    #[error("its type is not that of an access token")]
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
    #[error("its lifetime is too long, or it does not say when it was issued")]
    Lifetime,
    #[error("it names no user, or an operator by a reserved name")]
    User,
    #[error("it is not bound to a key")]
    Unbound,
    #[error("its proof of possession is missing or wrong")]
    Proof,
    #[error("its proof of possession was used before")]
    Replayed,
}

impl Refusal {
    pub(crate) const ALL: [Self; 15] = [
        Self::Malformed,
        Self::Algorithm,
        Self::Critical,
        Self::Kind,
        Self::UnknownKey,
        Self::Signature,
        Self::Issuer,
        Self::Audience,
        Self::Expired,
        Self::NotYetValid,
        Self::Lifetime,
        Self::User,
        Self::Unbound,
        Self::Proof,
        Self::Replayed,
    ];

    /// Whether a proof of possession would help.
    pub fn is_about_proof(self) -> bool {
        matches!(self, Self::Unbound | Self::Proof | Self::Replayed)
    }

    /// In metrics and in the audit log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Algorithm => "algorithm",
            Self::Critical => "critical",
            Self::Kind => "kind",
            Self::UnknownKey => "unknown-key",
            Self::Signature => "signature",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::Expired => "expired",
            Self::NotYetValid => "not-yet-valid",
            Self::Lifetime => "lifetime",
            Self::User => "user",
            Self::Unbound => "unbound",
            Self::Proof => "proof",
            Self::Replayed => "proof-replayed",
        }
    }
}
