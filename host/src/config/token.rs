//! Settings of tokens, and `caudal token`.

use clap::Args;

/// How tokens are signed and verified.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tokens")]
pub struct Jwt {
    /// Secret that signs tokens (HS256), at least 32 bytes [default: the sandbox's, in the data folder]
    #[arg(long = "jwt-secret", env = "CAUDAL_JWT_SECRET", hide_env_values = true)]
    pub secret: Option<String>,
    /// Claim that identifies the user
    #[arg(long = "jwt-user-claim", env = "CAUDAL_JWT_USER_CLAIM", default_value = "sub")]
    pub user_claim: String,
    /// Required audience (`aud`) [default: not checked]
    #[arg(long = "jwt-audience", env = "CAUDAL_JWT_AUDIENCE")]
    pub audience: Option<String>,
    /// Required issuer (`iss`) [default: not checked]
    #[arg(long = "jwt-issuer", env = "CAUDAL_JWT_ISSUER")]
    pub issuer: Option<String>,
}

#[derive(Debug, Args)]
pub struct Token {
    /// User id, 1 to 255 characters
    #[arg(long)]
    pub user: String,
    /// Scopes, separated by spaces: models:admin, rules:admin
    #[arg(long)]
    pub scope: Option<String>,
    /// Lifetime of the token
    #[arg(long, default_value = "24h", value_parser = humantime::parse_duration)]
    pub ttl: std::time::Duration,
    #[command(flatten)]
    pub jwt: Jwt,
}
