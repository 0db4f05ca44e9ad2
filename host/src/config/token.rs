//! Settings of tokens, and `caudal token`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::auth::provider::Source;
use crate::domain::text::is_blank;
use crate::models::deploying::catalog::REASON_CHARS_MAX;

/// What every token must contain.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tokens")]
pub struct Jwt {
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

/// The admin API of a running host, and who asks.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Admin API")]
pub struct Admin {
    /// Assistance API of a running host
    #[arg(long = "admin-url", env = "CAUDAL_ADMIN_URL", default_value = "http://127.0.0.1:8081")]
    pub url: String,
    /// Your certificate, as PEM, for a host with --assist-client-ca
    #[arg(long, env = "CAUDAL_ADMIN_CERT", requires = "admin_key")]
    pub admin_cert: Option<PathBuf>,
    /// Its private key, as unencrypted PEM
    #[arg(long, env = "CAUDAL_ADMIN_KEY", requires = "admin_cert")]
    pub admin_key: Option<PathBuf>,
    /// File of your bearer token [default: a new one of the sandbox]
    #[arg(long = "operator-token-file", env = "CAUDAL_OPERATOR_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,
    /// That token itself
    #[arg(long = "operator-token", env = "CAUDAL_OPERATOR_TOKEN", hide_env_values = true, hide = true)]
    pub token: Option<String>,
    /// Your name in a new token, for the record
    #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator", value_parser = recorded)]
    pub by: String,
    #[command(flatten)]
    pub jwt: Jwt,
}

/// A name or a reason that is recorded for good.
pub(super) fn recorded(text: &str) -> Result<String, String> {
    let is_valid = !is_blank(text) && text.chars().count() <= REASON_CHARS_MAX;
    is_valid.then(|| text.to_owned()).ok_or(format!("must have 1 to {REASON_CHARS_MAX} characters and not be blank"))
}

/// The OpenID provider whose access tokens count.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "OpenID provider")]
pub struct Provider {
    /// Where to get the keys that verify access tokens: `discover` asks the provider at --jwt-issuer; otherwise the URL
    /// or file of a JWK set [default in the sandbox: its own]
    #[arg(long = "jwt-keys", env = "CAUDAL_JWT_KEYS")]
    pub keys: Option<String>,
    /// Required `typ` in the header of access tokens; set JWT for a provider that does not follow RFC 9068
    #[arg(long = "jwt-type", env = "CAUDAL_JWT_TYPE", default_value = "at+jwt")]
    pub token_type: String,
    /// Longest lifetime of an access token
    #[arg(long = "jwt-lifetime-max", env = "CAUDAL_JWT_LIFETIME_MAX", default_value = "1h", value_parser = humantime::parse_duration)]
    pub lifetime_max: Duration,
    /// Do not require the scopes api:read and api:write of the provider's tokens on the ledger API
    #[arg(long = "no-api-scopes", env = "CAUDAL_NO_API_SCOPES")]
    pub no_api_scopes: bool,
    /// Accept DPoP-bound tokens with proofs for this origin, at which clients reach the service, for example
    /// `https://bank.example`; repeatable [default: bound tokens are refused]
    #[arg(long = "dpop-origin", env = "CAUDAL_DPOP_ORIGINS", value_delimiter = ',', requires = "keys")]
    pub dpop_origins: Vec<String>,
    /// Require DPoP-bound tokens on the ledger API
    #[arg(long = "require-dpop", env = "CAUDAL_REQUIRE_DPOP", requires = "dpop_origins")]
    pub require_dpop: bool,
    /// Client id whose tokens count on /admin, by their `client_id` or else `azp`, besides that of --console-client;
    /// repeatable [default: any but that of --sign-in-client]
    #[arg(long = "operator-client", env = "CAUDAL_OPERATOR_CLIENTS", value_delimiter = ',', requires = "keys")]
    pub operator_clients: Vec<String>,
    /// Client id with which the bank page signs people in, as a public client with PKCE [default: none]
    #[arg(long = "sign-in-client", env = "CAUDAL_SIGN_IN_CLIENT")]
    pub sign_in_client: Option<String>,
    /// Scopes that the bank page asks for
    #[arg(long = "sign-in-scope", env = "CAUDAL_SIGN_IN_SCOPE", default_value = "openid api:read api:write")]
    pub sign_in_scope: String,
    /// Client id with which the console signs operators in, as a public client with PKCE [default: none]
    #[arg(long = "console-client", env = "CAUDAL_CONSOLE_CLIENT")]
    pub console_client: Option<String>,
}

impl Provider {
    /// `issuer` is the required one.
    pub fn source(&self, issuer: &str) -> Option<Source> {
        Some(match self.keys.as_deref()? {
            "discover" => Source::Discovery { issuer: issuer.to_owned() },
            url if url.starts_with("https://") || url.starts_with("http://") => Source::Url(url.to_owned()),
            path => Source::File(path.into()),
        })
    }
}

#[derive(Debug, Args)]
pub struct Token {
    /// User id, 1 to 255 characters
    #[arg(long, required_unless_present = "print_keys")]
    pub user: Option<String>,
    /// Scopes, separated by spaces: api:read and api:write for customers; models:admin, rules:admin, ledger:operate,
    /// ledger:read, audit:read and outcomes:write for operators
    #[arg(long)]
    pub scope: Option<String>,
    /// Lifetime of the token [default: 24h, or 1h with --signing-key]
    #[arg(long, value_parser = humantime::parse_duration)]
    pub ttl: Option<Duration>,
    /// File of a private key on P-256, as PEM (PKCS#8), that signs tokens for hosts outside the sandbox whose --jwt-keys
    /// has it, for tests without a provider; needs --jwt-issuer and --jwt-audience
    #[arg(long)]
    pub signing_key: Option<PathBuf>,
    /// Print the public key as a JWK set for --jwt-keys instead
    #[arg(long, requires = "signing_key", conflicts_with = "user")]
    pub print_keys: bool,
    #[command(flatten)]
    pub jwt: Jwt,
}
