//! What is checked of Postgres, and of what it has recorded about the hosts.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, anyhow};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgConnection, PgPool};

use super::finding::{Finding, skipped, within};
use crate::cli::database::{
    EXPOSED, PRIVATE, UNREACHABLE, UNREADABLE, UNUSABLE, Use, check_collation, check_role, check_settings, durability,
    is_exposed, policy_of, servers,
};
use crate::cli::{ledger, rail, serve};
use crate::clock::{CLOCK_SKEW_MAX, Clock};
use crate::config::{Common, Policy, Serve};
use crate::db::durability::Durability;
use crate::db::hosts::{self, Host, HostStatus};
use crate::db::schema::{self, SchemaError};
use crate::db::timeline::Timeline;
use crate::db::{roles, session};
use crate::ledger::chain::ChainKey;

/// Checks of what [`open`] opens.
pub(super) const LEDGER: [&str; 6] = ["bound key", "policy", "rail", "replication", "hosts", "sinks"];

/// Checks of the server.
const SERVER: [&str; 7] = ["version", "role", "durability", "collation", "clock", "tables", "rights"];

/// What to do if a query fails.
const LOOK: &str = "see the log of Postgres";

/// A ledger whose tables this program knows.
pub(super) struct Ledger {
    pub(super) db: PgConnection,
    pub(super) pool: PgPool,
}

/// Connects to Postgres, and checks whether a host could use it.
pub(super) async fn open(common: &Common, usage: Use<'_>) -> (Vec<Finding>, Option<Ledger>) {
    let is_sandbox = usage != Use::Served;
    let connected = match &common.database_url {
        None if is_sandbox => {
            let own = "the sandbox runs a Postgres of its own";
            return (skipped(&[&["database"][..], &SERVER].concat(), own), None);
        }
        None => Err(anyhow!(PRIVATE)),
        Some(url) => connect(url).await,
    };
    let (options, mut db) = match connected {
        Ok(connected) => connected,
        Err(error) => {
            let otherwise = "set DATABASE_URL to postgres://caudal_serve@HOST/DATABASE";
            let mut findings = vec![Finding::of("database", Err(error), otherwise)];
            findings.extend(skipped(&SERVER, "the database cannot be reached"));
            return (findings, None);
        }
    };
    let mut findings = vec![match EXPOSED.split_once(": ") {
        Some((seen, fix)) if is_exposed(&options) => Finding::warn("database", seen, fix),
        _ => Finding::ok("database", format!("{} is the primary", options.get_host())),
    }];
    findings.extend(server(&mut db, usage).await);
    let checked = within(schema::check(&mut db)).await;
    let is_usable = checked.is_ok();
    if !is_usable && is_sandbox {
        findings.extend(skipped(&["tables", "rights"], "`caudal serve --sandbox` migrates them"));
        return (findings, None);
    }
    let known = checked.context(UNUSABLE).map(|()| "they are those of this program".to_owned());
    findings.push(Finding::of("tables", known, "run `caudal migrate` as the owner of the tables"));
    if !is_usable {
        findings.extend(skipped(&["rights"], "the tables cannot be used"));
        return (findings, None);
    }
    findings.push(match usage {
        Use::Served => {
            let checked =
                within(rights(&mut db)).await.map(|()| "they suffice, and nobody changed the schema".to_owned());
            Finding::of("rights", checked, "run `caudal migrate` as the owner of the tables")
        }
        _ => Finding::skip("rights", "the sandbox serves as whatever it is given"),
    });
    let pool = PgPoolOptions::new().max_connections(1).after_connect(|db, _| Box::pin(session::fix_schema(db)));
    (findings, Some(Ledger { db, pool: pool.connect_lazy_with(options) }))
}

async fn connect(url: &str) -> Result<(PgConnectOptions, PgConnection)> {
    let servers = servers(url)?;
    let timeline = Timeline::default();
    let (options, mut db) = within(servers.wait_for_primary(&timeline)).await.context(UNREACHABLE)?;
    within(session::fix_schema(&mut db)).await.context(UNREACHABLE)?;
    Ok((options, db))
}

async fn server(db: &mut PgConnection, usage: Use<'_>) -> Vec<Finding> {
    let version = match within(session::version(db)).await {
        Ok(version) if version < session::VERSION_MIN => Finding::fail(
            "version",
            format!("Postgres {} is too old", version / 10_000),
            format!("upgrade it to {} or newer", session::VERSION_MIN / 10_000),
        ),
        version => Finding::of("version", version.map(|it| format!("Postgres {}", it / 10_000)), LOOK),
    };
    let role = match usage {
        Use::Served => Finding::of("role", within(role(db, usage)).await, LOOK),
        _ => Finding::skip("role", "the sandbox serves as whatever it is given"),
    };
    let settings =
        within(check_settings(db, usage)).await.map(|()| "commits survive a crash of the machine".to_owned());
    let order = within(check_collation(db)).await.map(|()| "as when the database was created".to_owned());
    let clock = Clock::system();
    let clock = match within(session::checked_time(db, &clock)).await {
        Ok(_) => Ok(format!("within {CLOCK_SKEW_MAX} of the database's")),
        // Its cause is the wrong clock.
        Err(error) => Err(anyhow!(error.root_cause().to_string())),
    };
    vec![
        version,
        role,
        Finding::of("durability", settings, LOOK),
        Finding::of("collation", order, LOOK),
        Finding::of("clock", clock, "synchronise this machine and the database's with NTP"),
    ]
}

async fn role(db: &mut PgConnection, usage: Use<'_>) -> Result<String> {
    check_role(db, usage).await?;
    let role = roles::current(db).await.context(UNREADABLE)?;
    Ok(format!("{} does not own the tables", role.name))
}

async fn rights(db: &mut PgConnection) -> Result<()> {
    // A failed query is not a finding about the schema.
    let plain = |error: SchemaError| match error {
        SchemaError::Database(error) => anyhow::Error::from(error),
        error => error.into(),
    };
    schema::check_rights(db).await.map_err(plain).context(UNUSABLE)?;
    schema::check_catalogue(db).await.map_err(plain).context(UNUSABLE)
}

/// Checks what all hosts share.
pub(super) async fn check(
    db: &mut PgConnection,
    pool: &PgPool,
    (settings, usage): (&Serve, Use<'_>),
    key: Option<&ChainKey>,
) -> Vec<Finding> {
    let mut findings = vec![match key {
        None => Finding::skip("bound key", "the ledger key cannot be read"),
        Some(key) => {
            let bound = within(ledger::check(pool, key, &[])).await;
            let other = "set CAUDAL_LEDGER_KEY_FILE to the file that the other hosts have";
            Finding::of("bound key", bound.map(|()| "no host has used another".to_owned()), other)
        }
    }];
    // With another key, the policy would look forged.
    let key = key.filter(|_| !findings[0].is_failure());
    match within(policy(db, usage, key)).await {
        Err(error) => {
            findings.push(Finding::of("policy", Err(error), "run `caudal policy show`"));
            findings.extend(skipped(&["rail", "replication"], "the policy cannot be used"));
        }
        Ok(policy) => findings.extend(of_policy(db, (settings, usage), &policy).await),
    }
    findings.push(match within(hosts::live(db)).await {
        Ok(live) => of_hosts(&live),
        Err(error) => Finding::fail("hosts", format!("{error:#}"), LOOK),
    });
    findings
}

async fn policy(db: &mut PgConnection, usage: Use<'_>, key: Option<&ChainKey>) -> Result<Policy> {
    if let Some(key) = key {
        ledger::check_policy(db, key).await?;
    }
    policy_of(db, usage).await
}

async fn of_policy(db: &mut PgConnection, (settings, usage): (&Serve, Use<'_>), policy: &Policy) -> Vec<Finding> {
    let rail = serve::rail_of(settings, policy);
    let opened =
        rail.as_ref().ok().map(|rail| rail::open(*rail, &settings.rail).map(|_| format!("{rail} can be used")));
    let shown = rail.map(|_| policy.lines().trim().replace('\n', " "));
    let mut findings = vec![Finding::of("policy", shown, LOOK)];
    findings.push(match opened {
        None => Finding::skip("rail", "the policy names none"),
        Some(opened) => Finding::of("rail", opened, "set the --stp settings: `caudal serve --help` lists them"),
    });
    let reached = within(durability(policy, db, usage)).await.map(|durability| match durability {
        Durability::Local => "commits wait for this server only, as the policy or Postgres says".to_owned(),
        Durability::Replicated => "commits wait for the replicas".to_owned(),
    });
    let fix = "set synchronous_standby_names in Postgres, or run `caudal policy set --durability local`";
    findings.push(Finding::of("replication", reached, fix));
    findings
}

fn of_hosts(live: &[(Host, HostStatus)]) -> Finding {
    let failed = live.iter().find_map(|(host, it)| Some((host, it.kind.as_str(), it.state.detail()?)));
    if let Some((host, kind, reason)) = failed {
        let seen = format!("{} does not serve the {kind} model that is deployed: {reason}", host.machine);
        return Finding::warn("hosts", seen, format!("run `caudal models history {kind}`, and restart that host"));
    }
    let running: BTreeSet<_> = live.iter().map(|(host, _)| host.id).collect();
    let machines: BTreeSet<_> = live.iter().map(|(host, _)| host.machine.as_str()).collect();
    let machines = machines.into_iter().collect::<Vec<_>>().join(", ");
    Finding::ok(
        "hosts",
        if running.is_empty() { "none runs".to_owned() } else { format!("{} on {machines}", running.len()) },
    )
}
