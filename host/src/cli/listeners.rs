//! Opens the listeners of `caudal serve`. Outside the sandbox, what leaves the machine is encrypted here or by a proxy.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::cli::secret;
use crate::config::Serve;
use crate::http::server::tls::{Files, Tls};
use crate::http::server::{self, Listener};
use crate::serve::Listeners;

/// Refuses to serve plain HTTP to a network.
pub(super) fn check(serve: &Serve) -> Result<()> {
    if serve.sandbox {
        return Ok(());
    }
    for (address, certificate, name) in [
        (serve.ledger_addr, &serve.tls.ledger_tls_cert, "ledger"),
        (serve.assist_addr, &serve.tls.assist_tls_cert, "assist"),
    ] {
        if certificate.is_some() || address.ip().is_loopback() {
            continue;
        }
        if !serve.tls.behind_proxy {
            bail!(
                "plain HTTP on {address} can be read in transit: set --{name}-tls-cert and --{name}-tls-key, or a loopback \
                 address with --{name}-addr, or --behind-proxy and --trusted-proxies if a reverse proxy terminates TLS"
            );
        }
        if serve.trusted_proxies.is_empty() {
            bail!("--behind-proxy serves plain HTTP on {address}: name the proxy with --trusted-proxies");
        }
    }
    Ok(())
}

pub(super) async fn open(serve: &Serve) -> Result<Listeners> {
    let Serve { tls, ledger_addr, assist_addr, .. } = serve;
    let ledger = files(&tls.ledger_tls_cert, &tls.ledger_tls_key, &None)?;
    let assist = files(&tls.assist_tls_cert, &tls.assist_tls_key, &tls.assist_client_ca)?;
    Ok(Listeners {
        ledger: listener(serve, ledger, (*ledger_addr, "--ledger-addr")).await?,
        assist: listener(serve, assist, (*assist_addr, "--assist-addr")).await?,
    })
}

/// The certificate of a listener, if one is set.
pub(super) fn files(
    certificate: &Option<PathBuf>,
    key: &Option<PathBuf>,
    clients: &Option<PathBuf>,
) -> Result<Option<Tls>> {
    let (Some(certificate), Some(key)) = (certificate.clone(), key.clone()) else { return Ok(None) };
    secret::check_private(&key)?;
    Tls::open(Files { certificate, key, clients: clients.clone() }).map(Some)
}

async fn listener(serve: &Serve, tls: Option<Tls>, (address, flag): (SocketAddr, &str)) -> Result<Listener> {
    let tcp = server::bind(address).with_context(|| {
        format!(
            "cannot listen on {address}: if another program uses it, stop that program, or choose another address with \
             {flag}"
        )
    })?;
    // A browser that has used the sandbox of this machine must not insist on TLS for everything else on it.
    let strict_transport = !serve.sandbox && (tls.is_some() || serve.tls.behind_proxy);
    Ok(Listener { tcp, tls, strict_transport })
}
