//! Whose tokens `caudal serve` accepts.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::audit;
use crate::auth::minter::Minter;
use crate::auth::proof::Proofs;
use crate::auth::provider::Provider;
use crate::auth::token::Verifier;
use crate::cli::secret;
use crate::config::Serve;
use crate::sealing::ChainKey;

/// Claims that never name another person later.
const LASTING_CLAIMS: [&str; 2] = ["sub", "oid"];

/// How tokens are verified, and by whom they are made.
pub(super) struct Tokens {
    pub(super) verifier: Verifier,
    /// In the sandbox.
    pub(super) minter: Option<Minter>,
    /// Whose keys have to be kept up to date.
    pub(super) provider: Option<Arc<Provider>>,
}

pub(super) fn open(serve: &Serve, key: &ChainKey) -> Result<Tokens> {
    let claim = &*serve.jwt.user_claim;
    if !LASTING_CLAIMS.contains(&claim) {
        audit::warn_of_configuration(&format!(
            "--jwt-user-claim {claim}: whoever is given another person's {claim} later gets that person's accounts; use \
             sub or oid, which last"
        ));
    }
    match (&serve.provider.keys, serve.sandbox) {
        (Some(_), true) => bail!("the sandbox makes its own tokens: leave out --sandbox or --jwt-keys"),
        (Some(_), false) => of_provider(serve),
        (None, true) => {
            let (secret, config) = (key.sandbox_secret(), secret::token_config(&serve.jwt));
            let verifier = Verifier::with_secret(&secret, config.clone());
            Ok(Tokens { verifier, minter: Some(Minter::new(&secret, config)), provider: None })
        }
        (None, false) => bail!(
            "say whose tokens count: --jwt-keys discover with --jwt-issuer and --jwt-audience for those of an OpenID \
             provider; or --jwt-keys with the file that `caudal token --signing-key FILE --print-keys` makes, for a \
             test without one; or try --sandbox"
        ),
    }
}

fn of_provider(serve: &Serve) -> Result<Tokens> {
    let config = secret::token_config(&serve.jwt);
    let (Some(issuer), Some(_)) = (&config.issuer, &config.audience) else {
        bail!("a provider issues tokens for many services: set --jwt-issuer and --jwt-audience too");
    };
    let source = serve.provider.source(issuer).context("--jwt-keys is empty")?;
    let provider = Arc::new(Provider::new(source).context("cannot use --jwt-keys")?);
    let lifetime_max = serve.provider.lifetime_max.try_into().context("--jwt-lifetime-max is too long")?;
    let kind = serve.provider.token_type.clone();
    let verifier = Verifier::with_provider(Arc::clone(&provider), config, kind, lifetime_max);
    Ok(Tokens { verifier, minter: None, provider: Some(provider) })
}

/// Accepts tokens that are bound to a key, if that is configured. All hosts have the secret.
pub(super) fn bind(verifier: Verifier, serve: &Serve, secret: &[u8]) -> Result<Verifier> {
    Ok(match &serve.provider.dpop_origins[..] {
        [] => verifier,
        origins => verifier.with_proofs(Proofs::new(origins, secret).context("cannot use --dpop-origin")?),
    })
}
