//! The service under test, and clients for it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use caudal::app::start::{Config, Tasks};
use caudal::app::{App, ApprovalPolicy, Settings, SignIn};
use caudal::auth::claims::TokenConfig;
use caudal::auth::minter::Minter;
use caudal::auth::rates::RateLimits;
use caudal::auth::token::Verifier;
use caudal::clock::Clock;
use caudal::db::barrier::Barrier;
use caudal::db::durability::Durability;
use caudal::db::timeline::Timeline;
use caudal::domain::clabe::{ClabeRange, SANDBOX_RANGE};
use caudal::domain::model::ModelKind;
use caudal::domain::money::Money;
use caudal::domain::risk::Enforcement;
use caudal::enforcement::acknowledgment::Acknowledgments;
use caudal::http::endpoint::Endpoint;
use caudal::ledger::batch::Terms;
use caudal::ledger::chain::ChainKey;
use caudal::ledger::store::proof;
use caudal::ledger::{Ledger, LedgerConfig};
use caudal::models::deploying::swap::{Swapper, SwapperHandle};
use caudal::models::serving::route::Route;
use caudal::models::signing::ModelKeys;
use caudal::models::{Models, Registry};
use caudal::rail::simulated::Behaviour;
use caudal::schedules::Scheduler;
use caudal::scoring::{Accessibility, Kind, Nudge, Risk};
use caudal::wasm::Runtime;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::OffsetDateTime;
use time::macros::datetime;

pub(crate) use crate::answer::{Answer, refused};
pub(crate) use crate::client::Client;
use crate::fixtures::fixture;
use crate::rails::StpAt;
pub(crate) use crate::served::{Served, as_role};

/// Signs the tests' tokens.
pub(crate) const SECRET: &[u8] = b"a secret for tests, of 32 bytes or more";

/// A valid CLABE of STP.
pub(crate) const CLABE: &str = "646180110400000007";

/// A valid CLABE of BBVA.
pub(crate) const PAYEE_CLABE: &str = "012180004643051249";

/// 12:00 in Mexico City.
const NOON: OffsetDateTime = datetime!(2026-11-21 18:00 UTC);

/// The service on a database of its own. It starts at noon in Mexico City.
pub(crate) struct TestApp {
    /// Of the owner of the tables.
    pub(crate) db: PgPool,
    pub(crate) served: Served,
    pub(crate) clock: Clock,
    pub(crate) models: Models,
    /// The money core behind the routers.
    pub(crate) core: Ledger,
    tasks: Tasks,
    /// Sends scheduled transfers when a test says so.
    pub(crate) scheduler: Scheduler,
    pub(crate) model_keys: Arc<ModelKeys>,
    approval_lifetime: Option<Duration>,
    pub(crate) ledger: Endpoint,
    pub(crate) assist: Endpoint,
}

pub(crate) struct Options {
    pub(crate) opening_credit: Money,
    pub(crate) enforce_clabe: bool,
    /// From which account numbers are issued.
    pub(crate) clabe_range: Option<ClabeRange>,
    /// Whether users may type the number of a new account.
    pub(crate) typed_numbers: bool,
    pub(crate) cooling_seconds: u64,
    pub(crate) terms: Terms,
    /// The simulated rail, or STP's; without either, payments settle at once.
    pub(crate) rail: Option<Behaviour>,
    pub(crate) stp: Option<StpAt>,
    pub(crate) risk_enforcement: Enforcement,
    pub(crate) published: Vec<ModelKind>,
    pub(crate) sandbox: bool,
    /// In place of the secret.
    pub(crate) tokens: Option<Verifier>,
    pub(crate) api_scopes: bool,
    pub(crate) require_proof: bool,
    pub(crate) operator_clients: Vec<String>,
    pub(crate) sign_in: Option<SignIn>,
    pub(crate) failover_wait: Duration,
    pub(crate) rates: RateLimits,
    pub(crate) approvals: Option<ApprovalPolicy>,
    pub(crate) model_keys: Arc<ModelKeys>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            opening_credit: Money::from_minor(1_000_000),
            enforce_clabe: false,
            clabe_range: Some(SANDBOX_RANGE),
            typed_numbers: true,
            cooling_seconds: 0,
            terms: Terms::OPEN,
            rail: None,
            stp: None,
            risk_enforcement: Enforcement::Off,
            published: vec![ModelKind::Nudge, ModelKind::Accessibility],
            sandbox: false,
            tokens: None,
            api_scopes: false,
            require_proof: false,
            operator_clients: Vec::new(),
            sign_in: None,
            failover_wait: Duration::ZERO,
            rates: RateLimits::default(),
            approvals: None,
            model_keys: Arc::default(),
        }
    }
}

/// The embedded components, compiled once for all tests.
pub(crate) fn registry() -> Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::embedded(&Runtime::new().unwrap()).unwrap()).clone()
}

/// A nudge scorer that misbehaves in the way its request's `screen` names.
pub(crate) fn hostile() -> Vec<u8> {
    fixture("hostile.wasm")
}

/// The same under another version number of equal length, so with another digest.
pub(crate) fn hostile_of(version: &str) -> Vec<u8> {
    let mut bytes = hostile();
    let real = b"nudge1.0.0Misbehaves";
    let at = bytes.windows(real.len()).position(|it| it == real).expect("its kind, version and summary");
    bytes[at + "nudge".len()..][..version.len()].copy_from_slice(version.as_bytes());
    bytes
}

/// A request to `/ai/nudge`.
pub(crate) fn on_screen(screen: &str) -> Value {
    json!({
        "screen": screen, "num_validation_errors": 0, "time_on_screen_seconds": 0, "num_back_navigations": 0,
        "steps_total": 1, "current_step": 1,
    })
}

/// The key of the tests' ledgers.
pub(crate) fn ledger_key() -> ChainKey {
    ChainKey::new(SECRET).unwrap()
}

pub(crate) fn token_config() -> TokenConfig {
    TokenConfig { user_claim: "sub".to_owned(), ..TokenConfig::default() }
}

impl TestApp {
    /// As far as the balances, entries and transfers go.
    pub(crate) async fn assert_sound(&self) {
        let proof = proof::prove(&mut self.db.acquire().await.unwrap(), &ledger_key()).await.unwrap();
        let broken: Vec<_> = proof.findings.iter().filter(|finding| finding.broken > 0).collect();
        assert!(broken.is_empty() && proof.breaks.is_empty(), "{broken:?} {:?}", proof.breaks);
    }

    pub(crate) async fn new(db: PgPool) -> Self {
        Self::with(db, Options::default()).await
    }

    /// With a user, `ana`.
    pub(crate) async fn with_user(db: PgPool) -> (Self, Client) {
        let app = Self::new(db).await;
        let ana = app.user("ana");
        (app, ana)
    }

    /// With the user, their account and their payee.
    pub(crate) async fn ready(db: PgPool) -> (Self, Client, String, String) {
        let (app, ana) = Self::with_user(db).await;
        let (from, to) = ana.account_and_payee().await;
        (app, ana, from, to)
    }

    pub(crate) async fn with(db: PgPool, options: Options) -> Self {
        let clock = Clock::fixed(NOON);
        let served = Served::new(&db).await;
        Self::start((db, served), options, clock, Models::new(registry())).await
    }

    pub(crate) async fn running(db: PgPool, options: Options) -> Self {
        let served = Served::new(&db).await;
        Self::start((db, served), options, Clock::system(), Models::new(registry())).await
    }

    /// With these models in place of the embedded ones.
    pub(crate) async fn serving(db: PgPool, models: Models) -> Self {
        let served = Served::new(&db).await;
        Self::start((db, served), Options::default(), Clock::fixed(NOON), models).await
    }

    async fn start((db, served): (PgPool, Served), options: Options, clock: Clock, models: Models) -> Self {
        let (name, rail) = crate::rails::open(options.rail, options.stp, &clock);
        let terms = Terms { cooling_seconds: options.cooling_seconds, rail: name, ..options.terms };
        let settings = Settings {
            failover_wait: options.failover_wait,
            opening_credit: options.opening_credit,
            risk_enforcement: options.risk_enforcement,
            enforce_clabe: options.enforce_clabe,
            clabe_range: options.clabe_range,
            api_scopes: options.api_scopes,
            require_proof: options.require_proof,
            rates: options.rates,
            trusted_proxies: Vec::new(),
            approvals: options.approvals,
            operator_clients: options.operator_clients,
            sign_in: options.sign_in,
            console_sign_in: None,
            typed_numbers: options.typed_numbers,
            assist_hosts: vec!["localhost".to_owned()],
            published: options.published,
            model_keys: options.model_keys.clone(),
        };
        let approval_lifetime = settings.approvals.map(|policy| policy.lifetime);
        let config = Config {
            barrier: Barrier::new(served.pool(), Durability::Local, Timeline::default()),
            tokens: options.tokens.unwrap_or_else(|| Verifier::with_secret(SECRET, token_config())),
            minter: options.sandbox.then(|| Minter::new(SECRET, token_config())),
            acknowledgments: Acknowledgments::new(SECRET),
            ledger: LedgerConfig::new(terms, ledger_key()),
            settings,
            rail,
            program: env!("CARGO_BIN_EXE_caudal").into(),
        };
        let runtime = Runtime::new().unwrap();
        let (app, tasks) = App::start(config, served.pool(), models.clone(), runtime, clock.clone()).await.unwrap();
        let (core, scheduler) = (app.ledger.clone(), Scheduler::new(app.clone()));
        let (ledger, assist) = (caudal::ledger_router(app.clone()), caudal::assist_router(app));
        Self {
            db,
            served,
            clock,
            models,
            core,
            tasks,
            scheduler,
            model_keys: options.model_keys,
            approval_lifetime,
            ledger,
            assist,
        }
    }

    /// Follows deployments, as `caudal serve` does.
    pub(crate) async fn follow(&self) -> Follower {
        let runtime = Runtime::new().unwrap();
        let (db, models, clock) = (self.served.pool(), self.models.clone(), self.clock.clone());
        Follower(
            Swapper::start(db, ledger_key(), models, runtime, clock, (self.model_keys.clone(), self.approval_lifetime))
                .await
                .unwrap(),
            self.served.clone(),
        )
    }

    /// The epoch of the deployment that this host serves.
    pub(crate) fn epoch(&self, kind: ModelKind) -> i64 {
        self.in_service(kind).0
    }

    /// Number of challengers that this host runs.
    pub(crate) fn challengers(&self, kind: ModelKind) -> usize {
        self.in_service(kind).1
    }

    fn in_service(&self, kind: ModelKind) -> (i64, usize) {
        fn of<K: Kind>(route: Option<&Arc<Route<K>>>) -> (i64, usize) {
            route.map_or((0, 0), |it| (it.epoch, usize::from(it.canary.is_some()) + it.shadows.len()))
        }
        let models = self.models.snapshot();
        match kind {
            ModelKind::Risk => of(models.route::<Risk>()),
            ModelKind::Nudge => of(models.route::<Nudge>()),
            ModelKind::Accessibility => of(models.route::<Accessibility>()),
            ModelKind::TransferRules => (0, 0),
        }
    }

    fn token(&self, user: &str, scope: Option<&str>) -> String {
        let lifetime = time::Duration::days(365);
        Minter::new(SECRET, token_config()).mint(user, scope, self.clock.now(), lifetime).unwrap()
    }

    /// A client of the ledger API with a token for `user`.
    pub(crate) fn user(&self, user: &str) -> Client {
        self.user_with(user, None)
    }

    /// The same with a token of this scope.
    pub(crate) fn user_with(&self, user: &str, scope: Option<&str>) -> Client {
        let token = self.token(user, scope);
        Client { router: self.ledger.clone(), headers: vec![("authorization".to_owned(), format!("Bearer {token}"))] }
    }

    /// A client of the ledger API without a token.
    pub(crate) fn anon(&self) -> Client {
        Client { router: self.ledger.clone(), headers: Vec::new() }
    }

    /// A client of the assistance API.
    pub(crate) fn ai(&self) -> Client {
        Client { router: self.assist.clone(), headers: vec![("host".to_owned(), "localhost:8081".to_owned())] }
    }

    /// A client of the internal listener with an operator's token of this scope.
    pub(crate) fn operator(&self, scope: Option<&str>) -> Client {
        let token = self.token("ops", scope);
        self.ai().with("authorization", &format!("Bearer {token}"))
    }

    /// A client of the assistance API with the token of another operator than [`Self::operator`]'s.
    pub(crate) fn operator_named(&self, name: &str, scope: &str) -> Client {
        self.ai().with("authorization", &format!("Bearer {}", self.token(name, Some(scope))))
    }

    /// Writes by SQL what a host would have written, with the audit records.
    pub(crate) async fn write(&self, sql: &str) {
        let mut db = self.db.acquire().await.unwrap();
        sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut *db).await.unwrap();
        proof::record_all(&mut db, &ledger_key(), self.clock.now()).await.unwrap();
    }

    pub(crate) fn stop_courier(&self) {
        self.tasks.stop_courier();
    }

    /// A digest of every row of every table, except leases and the hosts' status, which a clock renews, and counts of
    /// earlier requests.
    pub(crate) async fn rows(&self) -> String {
        let tables = "select table_name::text from information_schema.tables where table_schema = 'public' \
            and table_type = 'BASE TABLE' \
            and table_name not in
                ('comparison', 'host_status', 'ledger_writer', 'sink_progress', 'traffic', '_sqlx_migrations') order by 1";
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&self.db).await.unwrap();
        let mut digest = String::new();
        for table in tables {
            let query = format!(
                "select count(*) || ' ' || coalesce(md5(string_agg(t::text, ';' order by t::text)), '') from {table} t"
            );
            let rows: String = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&self.db).await.unwrap();
            digest += &format!("{table}: {rows}\n");
        }
        digest
    }

    /// The sum of all balances, which is always zero.
    pub(crate) async fn sum_of_balances(&self) -> i64 {
        sqlx::query_scalar("select coalesce(sum(posted), 0)::bigint from account_balance")
            .fetch_one(&self.db)
            .await
            .unwrap()
    }

    pub(crate) async fn text(&self, query: &'static str) -> String {
        sqlx::query_scalar(query).fetch_one(&self.db).await.unwrap()
    }

    pub(crate) async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&self.db).await.unwrap()
    }
}

/// Follows deployments until it is dropped, listening on a connection of the pool.
pub(crate) struct Follower(
    pub(crate) SwapperHandle,
    #[expect(dead_code, reason = "keeps its connections open")] Served,
);
