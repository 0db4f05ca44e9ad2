//! What is checked of the services that a host talks to.

use anyhow::{Context as _, Result};
use futures_util::future::join_all;
use hyper::Uri;
use sqlx::PgConnection;
use tokio::net::TcpStream;

use super::finding::{Finding, within};
use crate::cli::tokens::{self, Tokens};
use crate::config::Serve;
use crate::db::sinks;
use crate::ledger::chain::ChainKey;
use crate::telemetry;

pub(super) async fn check(serve: &Serve, key: Option<&ChainKey>) -> Vec<Finding> {
    let mut findings = vec![provider(serve, key).await];
    match &serve.otlp.url {
        None => findings.push(Finding::skip("collector", "--otlp-url is not set")),
        Some(url) => findings.push(match telemetry::transport(url) {
            Ok(_) => reached("collector", url, "start the collector, or correct --otlp-url").await,
            Err(error) => Finding::fail("collector", format!("{error:#}"), "correct --otlp-url"),
        }),
    }
    if let Some(url) = &serve.rail.stp_url {
        findings.push(reached("STP", url, "correct --stp-url, or let this machine reach it").await);
    }
    findings
}

/// Reads the provider's keys as a host does.
async fn provider(serve: &Serve, key: Option<&ChainKey>) -> Finding {
    let Some(key) = key else { return Finding::skip("provider", "the ledger key cannot be read") };
    let provider = match tokens::open(serve, key) {
        Ok(Tokens { provider: Some(provider), .. }) => provider,
        Ok(_) => return Finding::skip("provider", "the sandbox makes its own tokens"),
        Err(error) => return Finding::of("provider", Err(error), "see `caudal serve --help`"),
    };
    match within(provider.check()).await {
        Ok(()) => Finding::ok("provider", "its keys can be read"),
        Err(error) => Finding::fail(
            "provider",
            format!("{error:#}"),
            "correct --jwt-keys and --jwt-issuer, or let this machine reach the provider; SSL_CERT_FILE names an \
             authority of the bank's own",
        ),
    }
}

/// Where events are delivered, all at the same time.
pub(super) async fn sinks(db: &mut PgConnection) -> Vec<Finding> {
    let sinks = match within(sinks::list(db)).await {
        Ok(sinks) => sinks,
        Err(error) => return vec![Finding::fail("sinks", format!("{error:#}"), "run `caudal sinks list`")],
    };
    if sinks.is_empty() {
        return vec![Finding::skip("sinks", "there is none")];
    }
    let checks = sinks.iter().map(|sink| async move {
        if sink.is_paused {
            return Finding::skip("sinks", format!("{} is paused", sink.url));
        }
        let fix = format!("start what listens there, or remove the sink with `caudal sinks remove {}`", sink.id);
        reached("sinks", &sink.url, &fix).await
    });
    join_all(checks).await
}

async fn reached(name: &'static str, url: &str, fix: &str) -> Finding {
    match connect(url).await {
        Ok(()) => Finding::ok(name, format!("{url} accepts connections")),
        Err(error) => Finding::fail(name, format!("{url}: {error:#}"), fix),
    }
}

async fn connect(url: &str) -> Result<()> {
    let uri: Uri = url.parse().context("it is not a URL")?;
    let host = uri.host().context("it names no host")?.trim_matches(['[', ']']);
    let port = uri.port_u16().unwrap_or(match uri.scheme_str() {
        Some("http") => 80,
        Some("nats" | "tls") => 4222,
        _ => 443,
    });
    within(TcpStream::connect((host, port))).await.map(drop)
}
