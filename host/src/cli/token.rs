//! `caudal token`: signs a bearer token.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::auth::claims::USER_CHARS_MAX;
use crate::auth::minter::Minter;
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::clock::Clock;
use crate::config::{Common, Token};
use crate::domain::text::is_blank;

const SANDBOX_TTL: Duration = Duration::from_hours(24);

/// The longest that hosts outside the sandbox accept by default.
const SIGNED_TTL: Duration = Duration::from_hours(1);

pub(super) async fn run(common: &Common, token: Token) -> Result<ExitCode> {
    let config = secret::token_config(&token.jwt);
    let (minter, ttl) = if let Some(path) = &token.signing_key {
        ensure!(
            token.print_keys || config.issuer.is_some() && config.audience.is_some(),
            "hosts with --jwt-keys accept a token for an issuer and an audience: set --jwt-issuer and --jwt-audience to \
             theirs"
        );
        let minter = Minter::with_signing_key(&secret::read_private(path)?, config).with_context(|| {
            format!(
                "{path} is not a private key on P-256: make one with `openssl genpkey -algorithm EC -pkeyopt \
                 ec_paramgen_curve:P-256 -out {path}`",
                path = path.display()
            )
        })?;
        (minter, SIGNED_TTL)
    } else {
        let (key, _) = secret::ledger_key(common, Missing::of_command(common))?;
        (Minter::new(&key.sandbox_secret(), config), SANDBOX_TTL)
    };
    if token.print_keys {
        print(&minter.public_keys()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (user, ttl) = (token.user.unwrap_or_default(), token.ttl.unwrap_or(ttl));
    // Print only what hosts accept.
    ensure!(
        !is_blank(&user) && user.chars().count() <= USER_CHARS_MAX && !ttl.is_zero(),
        "--user must have 1 to {USER_CHARS_MAX} characters and not be blank, and --ttl must be above zero"
    );
    let ttl = ttl.try_into().context("--ttl is too long: use days or years")?;
    print(&minter.mint(&user, token.scope.as_deref(), Clock::system().now(), ttl).context("cannot sign the token")?)?;
    Ok(ExitCode::SUCCESS)
}
