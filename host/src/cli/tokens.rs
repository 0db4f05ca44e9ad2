//! Whose tokens `caudal serve` accepts.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::audit;
use crate::auth::minter::Minter;
use crate::auth::proof::Proofs;
use crate::auth::provider::Provider;
use crate::auth::token::Verifier;
use crate::cli::secret::{self, Missing};
use crate::config::{Common, Serve};

/// Claims that never name another person later.
const LASTING_CLAIMS: [&str; 2] = ["sub", "oid"];

/// How tokens are verified, and by whom they are made.
pub(super) struct Tokens {
    pub(super) verifier: Verifier,
    /// In the sandbox.
    pub(super) minter: Option<Minter>,
    /// Whose keys have to be kept up to date.
    pub(super) provider: Option<Arc<Provider>>,
    /// What signs tokens, if it is shared with this service.
    pub(super) secret: Option<Vec<u8>>,
}

pub(super) fn open(common: &Common, serve: &Serve) -> Result<Tokens> {
    let claim = &*serve.jwt.user_claim;
    if !LASTING_CLAIMS.contains(&claim) {
        audit::warn_of_configuration(&format!(
            "--jwt-user-claim {claim}: whoever is given another person's {claim} later gets that person's accounts; use \
             sub or oid, which last"
        ));
    }
    match (secret::configured(&serve.jwt)?, &serve.provider.keys) {
        (Some(_), Some(_)) => bail!(
            "tokens come either from the provider of --jwt-keys or from whoever has the secret: unset CAUDAL_JWT_SECRET \
             and CAUDAL_JWT_SECRET_FILE, or --jwt-keys"
        ),
        (None, Some(_)) if serve.sandbox => {
            bail!("the sandbox makes its own tokens: leave out --sandbox or --jwt-keys")
        }
        (None, Some(_)) => of_provider(serve),
        (Some(secret), None) => Ok(of_secret(serve, secret)),
        (None, None) if serve.sandbox => Ok(of_secret(serve, secret::of_sandbox(common, Missing::Generate)?)),
        (None, None) => bail!(
            "say whose tokens count: --jwt-keys discover with --jwt-issuer and --jwt-audience for those of an OpenID \
             provider; or set CAUDAL_JWT_SECRET or CAUDAL_JWT_SECRET_FILE to the secret that signs them (HS256); or try \
             --sandbox"
        ),
    }
}

fn of_secret(serve: &Serve, secret: Vec<u8>) -> Tokens {
    let config = secret::token_config(&serve.jwt);
    Tokens {
        verifier: Verifier::with_secret(&secret, config.clone()),
        minter: serve.sandbox.then(|| Minter::new(&secret, config)),
        provider: None,
        secret: Some(secret),
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
    Ok(Tokens { verifier, minter: None, provider: Some(provider), secret: None })
}

/// Accepts tokens that are bound to a key, if that is configured. All hosts have the secret.
pub(super) fn bind(verifier: Verifier, serve: &Serve, secret: &[u8]) -> Result<Verifier> {
    Ok(match &serve.provider.dpop_origins[..] {
        [] => verifier,
        origins => verifier.with_proofs(Proofs::new(origins, secret).context("cannot use --dpop-origin")?),
    })
}
