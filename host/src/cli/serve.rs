//! `caudal serve`: turns arguments into configuration, runs the host, prints the banner.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use crate::app::start::Config;
use crate::app::{App, ApprovalPolicy, Settings, SignIn};
use crate::auth::rates::{AT_ONCE_MAX, RateLimits};
use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::cli::secret::Missing;
use crate::cli::tokens::Tokens;
use crate::cli::{ledger, listeners, rail, secret, tokens};
use crate::config::{Common, Policy, Provider, Serve, program};
use crate::domain::clabe::{ClabeRange, SANDBOX_RANGE};
use crate::domain::model::ModelKind;
use crate::domain::money::Money;
use crate::domain::risk::Enforcement;
use crate::domain::transfer::RailName;
use crate::enforcement::acknowledgment::Acknowledgments;
use crate::http::pages::sandbox::TOKEN_LIFETIME;
use crate::ledger::LedgerConfig;
use crate::ledger::batch::Terms;
use crate::ledger::heads::recording;
use crate::models::Registry;
use crate::models::signing::ModelKeys;
use crate::serve::{Host, Listeners, Scoring};
use crate::telemetry::Telemetry;
use crate::wasm::{Cache, Runtime};

/// Opening credit of a sandbox account: 10,000.00 MXN.
const SANDBOX_CREDIT: Money = Money::from_minor(1_000_000);

/// Folder of compiled components, in the data folder.
const CACHE_FOLDER: &str = "compiled";

/// What the console asks the provider for, which grants each operator what is theirs.
const CONSOLE_SCOPE: &str = "openid models:admin rules:admin ledger:operate ledger:read audit:read";

/// The user of the token that the sandbox prints.
const SANDBOX_USER: &str = "ana";

pub(super) async fn run(common: &Common, serve: Serve, telemetry: Option<Telemetry>) -> Result<ExitCode> {
    check_settings(&serve)?;
    let (key, key_bytes) = secret::ledger_key(common, Missing::Generate)?;
    let Tokens { verifier, minter, provider } = tokens::open(&serve, &key)?;
    // Each purpose derives a key of its own.
    let key_of = |file: &Option<PathBuf>| file.as_deref().map_or_else(|| Ok(key_bytes.clone()), secret::from_file);
    let short_lived = key_of(&serve.acknowledgment_key_file)?;
    let acknowledgments = Acknowledgments::new(&short_lived);
    let verifier = tokens::bind(verifier, &serve, &short_lived)?;
    let cache_key = key_of(&serve.cache_key_file)?;
    let model_keys = Arc::new(model_keys(&serve)?);
    // From here on signals are handled, even during startup.
    let signals = Signals::new()?;
    // Cheap checks first: a port in use or a broken component is reported before a database starts.
    let listeners = listeners::open(&serve).await?;
    let runtime = runtime(&common.data_dir, &cache_key)?;
    let registry = Registry::embedded(&runtime)
        .context("this program was built with an unusable component: run `make components` and build again")?;
    let scoring = Scoring { runtime, registry, decision_lifetime: serve.decision_lifetime };
    let program = program().context("cannot find this program's own file")?;

    let usage = if serve.sandbox { Use::Sandbox(&serve.policy) } else { Use::Served };
    let database = Database::open(common, usage).await?;
    let opened = rail_of(&serve, &database.policy).and_then(|rail| Ok((rail, rail::open(rail, &serve.rail)?)));
    let (rail_name, rail) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            database.close().await?;
            return Err(error);
        }
    };
    let failover_wait = if database.barrier.may_fail_over() { serve.failover_wait } else { Duration::ZERO };
    let config = Config {
        barrier: database.barrier.clone(),
        tokens: verifier,
        minter,
        acknowledgments,
        ledger: LedgerConfig {
            failover_wait,
            ..LedgerConfig::new(terms(&serve, &database.policy, rail_name), key.clone())
        },
        settings: Settings { failover_wait, model_keys, ..settings(&serve, &database.policy) },
        rail,
        program,
    };
    let committed = config.ledger.committed.clone();
    let heads_paths: Vec<_> =
        [ledger::heads_path(&common.data_dir)].into_iter().chain(serve.heads_copy.clone()).collect();
    let _keys = provider.map(|provider| Abort(tokio::spawn(provider.run())));
    let served = async {
        ledger::bind(&database, &key, &heads_paths).await?;
        ledger::keep_policy(&database, &key).await?;
        let host = Host::start(config, scoring, database.pool.clone()).await?;
        let (db, barrier, metrics) = (database.pool.clone(), database.barrier.clone(), host.app().models.metrics());
        let keep = recording::keep(db, barrier, (key.clone(), committed.clone()), heads_paths.clone(), metrics.clone());
        let mut heads = Abort(tokio::spawn(keep));
        print(&banner(host.app(), &listeners)?)?;
        let stop = async {
            tokio::select! {
                () = signals.wait() => Ok(()),
                reason = database.lost() => Err(reason),
                reason = database.outgrown() => Err(reason),
                gone = &mut heads.0 => Err(gone.map_or_else(anyhow::Error::from, anyhow::Error::from)),
            }
        };
        let served = host.serve(listeners, stop).await;
        if let Some(telemetry) = telemetry {
            telemetry.finish().await;
        }
        served?;
        drop(heads);
        if let Err(error) =
            recording::record_last(&database.pool, &database.barrier, (&key, &committed), &heads_paths).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot record the heads of the hash chains");
        }
        anyhow::Ok(())
    };
    let served = served.await;
    database.close().await?;
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses settings that do not go together.
pub(super) fn check_settings(serve: &Serve) -> Result<()> {
    if serve.sandbox && !(serve.ledger_addr.ip().is_loopback() && serve.assist_addr.ip().is_loopback()) {
        bail!("--sandbox gives money away: it serves on loopback addresses like 127.0.0.1 only");
    }
    let clients = [("sign-in", &serve.provider.sign_in_client), ("console", &serve.provider.console_client)];
    if let Some((name, _)) = clients.iter().find(|(_, client)| client.is_some())
        && serve.provider.keys.as_deref() != Some("discover")
    {
        bail!("--{name}-client needs to know where people sign in: use --jwt-keys discover");
    }
    if let Some((name, value)) = serve.policy.given()
        && !serve.sandbox
    {
        bail!(
            "--{name} is part of what all hosts keep to: run `caudal policy set --{name}={value}` as the owner of the \
             tables, and leave it out here; only the sandbox takes it"
        );
    }
    listeners::check(serve)
}

fn runtime(data_dir: &Path, secret: &[u8]) -> Result<Runtime> {
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    match Cache::open(&data_dir.join(CACHE_FOLDER), secret) {
        Ok(cache) => Ok(runtime.with_cache(cache)),
        Err(error) => {
            tracing::warn!(%error, "compiled components are not cached: startup takes longer");
            Ok(runtime)
        }
    }
}

/// A task that ends when this is dropped.
struct Abort<T>(JoinHandle<T>);

impl<T> Drop for Abort<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Ctrl-C and SIGTERM.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let on = |kind| signal(kind).context("cannot handle signals");
        Ok(Self { interrupt: on(SignalKind::interrupt())?, terminate: on(SignalKind::terminate())? })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Which rail the policy names, if this host can keep to it.
pub(super) fn rail_of(serve: &Serve, policy: &Policy) -> Result<RailName> {
    // A host without it would call payments completed that never left the bank.
    policy.rail.or(serve.sandbox.then_some(RailName::Instant)).context(
        "it is not said how payments leave the bank: run `caudal policy set --rail stp` as the owner of the tables, or with \
         instant, which sends nothing and settles them in the bank's own books; only the sandbox has a default",
    )
}

/// From which account numbers are issued.
fn clabe_range(serve: &Serve, policy: &Policy) -> Option<ClabeRange> {
    policy.clabe_range.or(serve.sandbox.then_some(SANDBOX_RANGE))
}

fn terms(serve: &Serve, policy: &Policy, rail: RailName) -> Terms {
    Terms {
        rail,
        cooling_seconds: serve.beneficiary_cooling.as_secs(),
        per_transfer_limit: policy.transfer_limit.and_then(|it| it.0),
        per_day_limit: policy.day_limit.and_then(|it| it.0),
        pending_max: serve.pending_payments,
        on_us: clabe_range(serve, policy),
    }
}

fn settings(serve: &Serve, policy: &Policy) -> Settings {
    let mut assist_hosts: Vec<String> = serve.assist_hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
    assist_hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
    assist_hosts.push(match serve.assist_addr {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    });
    Settings {
        failover_wait: Duration::ZERO,
        opening_credit: if serve.sandbox { SANDBOX_CREDIT } else { Money::ZERO },
        risk_enforcement: policy.risk_enforcement.unwrap_or(Enforcement::Off),
        // The sandbox takes any number that a client makes up.
        enforce_clabe: !serve.sandbox,
        clabe_range: clabe_range(serve, policy),
        require_proof: serve.provider.require_dpop,
        api_scopes: serve.provider.keys.is_some() && !serve.provider.no_api_scopes,
        rates: RateLimits {
            user: NonZeroU32::new(serve.requests_per_user),
            address: NonZeroU32::new(serve.requests_per_address),
            at_once: Some(AT_ONCE_MAX),
        },
        trusted_proxies: serve.trusted_proxies.clone(),
        approvals: (policy.approvals == Some(true))
            .then(|| ApprovalPolicy { lifetime: serve.approval_lifetime, limit: policy.approval_limit() }),
        operator_clients: operator_clients(&serve.provider),
        sign_in: sign_in(serve, serve.provider.sign_in_client.as_ref(), &serve.provider.sign_in_scope)
            .map(|page| SignIn { binds_tokens: !serve.provider.dpop_origins.is_empty(), ..page }),
        console_sign_in: sign_in(serve, serve.provider.console_client.as_ref(), CONSOLE_SCOPE),
        typed_numbers: serve.sandbox,
        assist_hosts,
        published: published(serve),
        model_keys: Arc::default(),
    }
}

pub(super) fn model_keys(serve: &Serve) -> Result<ModelKeys> {
    let Some(file) = &serve.model_keys else { return Ok(ModelKeys::default()) };
    let read = || ModelKeys::parse(&std::fs::read(file)?, serve.require_signature);
    read().with_context(|| format!("cannot use --model-keys {}", file.display()))
}

/// Naming any leaves out the others, but not the console's own.
fn operator_clients(Provider { operator_clients, console_client, .. }: &Provider) -> Vec<String> {
    let console = console_client.iter().filter(|_| !operator_clients.is_empty());
    operator_clients.iter().chain(console).cloned().collect()
}

fn sign_in(serve: &Serve, client_id: Option<&String>, scope: &str) -> Option<SignIn> {
    Some(SignIn {
        client_id: client_id?.clone(),
        scope: scope.to_owned(),
        issuer: serve.jwt.issuer.clone()?,
        resource: serve.jwt.audience.clone()?,
        binds_tokens: false,
    })
}

/// Kinds that anyone may download. Fraudsters could try out a public risk model offline, so by default it is
/// published only in the sandbox, where no real money is at stake.
fn published(serve: &Serve) -> Vec<ModelKind> {
    match &serve.publish_models {
        Some(kinds) => kinds.iter().flatten().copied().collect(),
        None if serve.sandbox => ModelKind::SCORERS.to_vec(),
        None => vec![ModelKind::Nudge, ModelKind::Accessibility],
    }
}

fn banner(app: &App, listeners: &Listeners) -> Result<String> {
    let ledger = listeners.ledger.url().context("cannot read the ledger's address")?;
    let assist = listeners.assist.url().context("cannot read the assistance API's address")?;
    let mut lines = vec![
        String::new(),
        format!("  bank page       {ledger}/"),
        format!("  ledger API      {ledger}"),
        format!("  assistance API  {assist}   (internal)"),
    ];
    if let Some(minter) = &app.sandbox {
        let token = minter.mint(SANDBOX_USER, None, app.clock.now(), TOKEN_LIFETIME).context("cannot sign")?;
        lines.extend([
            String::new(),
            format!("  token for {SANDBOX_USER}, valid for a day:"),
            String::new(),
            format!("export TOKEN={token}"),
            String::new(),
            "  open an account with 10,000.00 MXN in it:".to_owned(),
            String::new(),
            format!(
                "curl -sw '\\n' {ledger}/api/ledger/accounts -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: \
                 application/json' -d '{{\"accountNumber\":\"646180110400000007\",\"accountType\":\"checking\"}}'"
            ),
            String::new(),
            "  Ctrl-C stops the service; its data is kept.".to_owned(),
        ]);
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}
