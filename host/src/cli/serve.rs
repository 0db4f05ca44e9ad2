//! `caudal serve`: starts everything in order, and stops it in the opposite one.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::analytics::EventWorker;
use crate::app::{App, RiskEnforcement, Settings};
use crate::auth::token::{Minter, Verifier, mint};
use crate::cli::database::{Database, Use};
use crate::cli::secret::Missing;
use crate::cli::{couriers, heads, print, secret};
use crate::clock::Clock;
use crate::config::{ClabePolicy, Common, PublishedKind, RiskPolicy, Serve, program};
use crate::domain::model::ModelKind;
use crate::domain::money::Money;
use crate::enforcement::acknowledgment::Acknowledgments;
use crate::gate::pushes::Pushes;
use crate::gate::report::Gate;
use crate::http::pages::sandbox;
use crate::http::server;
use crate::ledger::batch::Terms;
use crate::ledger::chain::ChainKey;
use crate::ledger::store::Postgres;
use crate::ledger::{Ledger, LedgerConfig};
use crate::models::decisions::{self, DecisionLog};
use crate::models::deploying::swap::Swapper;
use crate::models::{Components, Models, Registry};
use crate::outbox::Outbox;
use crate::wasm::{Cache, Runtime};
use crate::{assist_router, ledger_router};

/// First credit of a sandbox account: 10,000.00 MXN.
const SANDBOX_CREDIT: Money = Money::from_minor(1_000_000);

/// How long requests under way may take to finish after a signal to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(20);

/// The same when the database is gone: what waits for it waits in vain.
const LOST_GRACE: Duration = Duration::from_secs(2);

/// Where compiled components are kept, in the data folder.
const CACHE_FOLDER: &str = "compiled";

/// Whose token the sandbox prints.
const SANDBOX_USER: &str = "ana";

pub(super) async fn run(common: &Common, serve: Serve) -> Result<ExitCode> {
    if serve.sandbox && !(serve.ledger_addr.ip().is_loopback() && serve.assist_addr.ip().is_loopback()) {
        bail!("--sandbox gives money away: it serves on loopback addresses like 127.0.0.1 only");
    }
    let secret = match secret::configured(&serve.jwt)? {
        Some(secret) => secret,
        None if serve.sandbox => secret::of_sandbox(common, Missing::Generate)?,
        None => bail!("set CAUDAL_JWT_SECRET to the secret that signs your tokens, or try --sandbox"),
    };
    let ledger_key = secret::ledger_key(common, Missing::Generate)?;
    // From here on a signal is noticed, also one that comes while things still start.
    let signals = Signals::new()?;
    // Cheap things first: a taken port or a broken component is told before a database starts.
    let ledger_listener = bind(serve.ledger_addr, "--ledger-addr").await?;
    let assist_listener = bind(serve.assist_addr, "--assist-addr").await?;
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    let runtime = match Cache::open(&common.data_dir.join(CACHE_FOLDER), &secret) {
        Ok(cache) => runtime.with_cache(cache),
        // Slower to start, and otherwise the same.
        Err(error) => {
            tracing::warn!(%error, "compiled components are not kept");
            runtime
        }
    };
    let way = couriers::open(&serve.rail)?;
    let registry = Registry::load(&runtime, Components::EMBEDDED)
        .context("this program was built with an unusable component: run `make components` and build again")?;

    let database = Database::open(common, Use::Owned).await?;
    let listeners = (ledger_listener, assist_listener);
    let served = serve_until_signal(
        &serve,
        &common.data_dir,
        (&secret, ledger_key),
        (runtime, registry, way),
        &database,
        listeners,
        signals,
    )
    .await;
    database.close().await?;
    served?;
    Ok(ExitCode::SUCCESS)
}

async fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    listener.with_context(|| format!("cannot listen on {address}: stop what does, or choose another with {flag}"))
}

async fn serve_until_signal(
    serve: &Serve,
    data_dir: &Path,
    (secret, ledger_key): (&[u8], ChainKey),
    (runtime, registry, way): (Runtime, Registry, Option<couriers::Way>),
    database: &Database,
    (ledger_listener, assist_listener): (TcpListener, TcpListener),
    signals: Signals,
) -> Result<()> {
    let clock = Clock::system();
    let log = serve.decision_log.then(|| DecisionLog::start(database.pool.clone(), clock.clone()));
    let models = Models::with_log(registry, log);
    let swapper = Swapper::start(database.pool.clone(), models.clone(), runtime.clone(), clock.clone())
        .await
        .context("cannot see which models are deployed")?;
    let store =
        Postgres::open(database.pool.clone(), &ledger_key, clock.now()).await.context("cannot use the ledger")?;
    let config = LedgerConfig::new(terms(serve), ledger_key);
    let (ledger, ledger_task) =
        Ledger::start(store, models.clone(), clock.clone(), config).await.context("cannot start the ledger")?;
    let note_heads = tokio::spawn(heads::keep(database.pool.clone(), heads::path(data_dir)));
    let rail = couriers::name(&serve.rail);
    let courier = way.map(|way| couriers::employ(way, rail, &database.pool, &ledger, &clock));
    let (courier, work) = courier.unzip();
    let work = work.map(tokio::spawn);
    let purge = tokio::spawn(decisions::purge(database.pool.clone(), clock.clone()));
    let outbox = Outbox::new(database.pool.clone());
    let follower = tokio::spawn(outbox.clone().run());
    let (events, event_task) = EventWorker::start(database.pool.clone(), clock.clone());
    let started_at = clock.now();
    let gate = Gate::new(program().context("cannot find this program's own file")?);
    let app = App {
        db: database.pool.clone(),
        ledger,
        courier,
        outbox: outbox.clone(),
        models,
        runtime,
        pushes: Pushes::new(gate, database.pool.clone(), clock.clone()),
        events,
        tokens: Arc::new(Verifier::new(secret, secret::token_config(&serve.jwt))),
        acknowledgments: Acknowledgments::new(secret),
        sandbox: serve.sandbox.then(|| Arc::new(Minter::new(secret, secret::token_config(&serve.jwt)))),
        clock,
        settings: Arc::new(settings(serve)),
        started_at,
    };

    let (stop, stopped) = watch::channel(false);
    let ledger_addr = ledger_listener.local_addr().context("cannot read the ledger's address")?;
    let assist_addr = assist_listener.local_addr().context("cannot read the assistance API's address")?;
    let ledger_server = tokio::spawn(server::serve(ledger_listener, ledger_router(app.clone()), stopped.clone()));
    let assist_server = tokio::spawn(server::serve(assist_listener, assist_router(app.clone()), stopped));
    print(&banner(serve, secret, &app, ledger_addr, assist_addr)?)?;
    drop(app);

    let ended = tokio::select! {
        () = signals.wait() => Ok(()),
        reason = database.lost() => Err(reason),
    };
    tracing::info!("stopping: requests under way finish, queued events are kept");
    stop.send_replace(true);
    // It holds a connection for as long as it lives, also when a request does not end.
    swapper.abort();
    purge.abort();
    follower.abort();
    outbox.close().await;
    note_heads.abort();
    if let Some(work) = work {
        work.abort();
    }
    // The servers hold the last handles to the ledger, so its task ends after them, with every
    // command answered.
    let finish = async {
        let _ = tokio::join!(ledger_server, assist_server);
        event_task.abort();
        let _ = ledger_task.await;
    };
    let grace = if ended.is_ok() { SHUTDOWN_GRACE } else { LOST_GRACE };
    if tokio::time::timeout(grace, finish).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    ended
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

fn terms(serve: &Serve) -> Terms {
    Terms {
        rail: couriers::name(&serve.rail),
        cooling_seconds: serve.beneficiary_cooling.as_secs(),
        per_transfer_limit: serve.limits.per_transfer,
        per_day_limit: serve.limits.per_day,
    }
}

fn settings(serve: &Serve) -> Settings {
    let mut assist_hosts: Vec<String> = serve.assist_hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
    assist_hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
    assist_hosts.push(match serve.assist_addr {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    });
    Settings {
        opening_credit: if serve.sandbox { SANDBOX_CREDIT } else { Money::ZERO },
        risk_enforcement: match serve.risk_enforcement {
            RiskPolicy::Off => RiskEnforcement::Off,
            RiskPolicy::Shadow => RiskEnforcement::Shadow,
            RiskPolicy::Enforce => RiskEnforcement::Enforce,
        },
        enforce_clabe: serve.clabe_policy == ClabePolicy::Enforce,
        assist_hosts,
        published: published(serve),
    }
}

/// Kinds that pages may fetch. A public risk model can be tried out off-line by those whom it is to stop,
/// so it is not among them unless somebody says so, or money is not at stake.
fn published(serve: &Serve) -> Vec<ModelKind> {
    let by_default = match serve.sandbox {
        true => vec![PublishedKind::Risk, PublishedKind::Nudge, PublishedKind::Accessibility],
        false => vec![PublishedKind::Nudge, PublishedKind::Accessibility],
    };
    let kinds = serve.publish_models.clone().unwrap_or(by_default).into_iter();
    let kind = |kind| match kind {
        PublishedKind::Risk => Some(ModelKind::Risk),
        PublishedKind::Nudge => Some(ModelKind::Nudge),
        PublishedKind::Accessibility => Some(ModelKind::Accessibility),
        PublishedKind::None => None,
    };
    kinds.filter_map(kind).collect()
}

/// What a person at the terminal sees.
fn banner(serve: &Serve, secret: &[u8], app: &App, ledger: SocketAddr, assist: SocketAddr) -> Result<String> {
    let mut lines = vec![
        String::new(),
        format!("  bank page       http://{ledger}/"),
        format!("  ledger API      http://{ledger}"),
        format!("  assistance API  http://{assist}   (internal)"),
    ];
    if serve.sandbox {
        let config = secret::token_config(&serve.jwt);
        let token = mint(secret, &config, SANDBOX_USER, None, app.clock.now(), sandbox::TOKEN_LIFETIME)?;
        lines.extend([
            String::new(),
            format!("  token for {SANDBOX_USER}, valid for a day:"),
            String::new(),
            format!("export TOKEN={token}"),
            String::new(),
            "  open an account with 10,000.00 MXN in it:".to_owned(),
            String::new(),
            format!(
                "curl -sw '\\n' http://{ledger}/api/ledger/accounts -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: \
                 application/json' -d '{{\"accountNumber\":\"646180110400000007\",\"accountType\":\"checking\"}}'"
            ),
            String::new(),
            "  Ctrl-C stops; the data stays.".to_owned(),
        ]);
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}
