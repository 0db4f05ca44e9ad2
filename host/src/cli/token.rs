//! `caudal token`: signs a bearer token.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::auth::minter::Minter;
use crate::auth::token::Verifier;
use crate::cli::output::print;
use crate::cli::secret::{self, Missing};
use crate::clock::Clock;
use crate::config::{Common, Token};

pub(super) async fn run(common: &Common, token: Token) -> Result<ExitCode> {
    let secret = match secret::configured(&token.jwt)? {
        Some(secret) => secret,
        None => secret::of_sandbox(common, Missing::of_command(common))?,
    };
    let config = secret::token_config(&token.jwt);
    let lifetime = token.ttl.try_into().context("--ttl is too long: use days or years")?;
    let now = Clock::system().now();
    let minter = Minter::new(&secret, config.clone());
    let minted = minter.mint(&token.user, token.scope.as_deref(), now, lifetime).context("cannot sign the token")?;
    // Print only what the service accepts.
    if Verifier::with_secret(&secret, config).verify(&minted, now).await.is_err() {
        bail!("--user must have 1 to 255 characters and not be blank, and --ttl must be above zero");
    }
    print(&minted)?;
    Ok(ExitCode::SUCCESS)
}
