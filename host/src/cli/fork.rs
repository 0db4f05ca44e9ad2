//! `caudal fork`: executes the ledger's history again, as it was or under other rules or another risk model.

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sqlx::{PgConnection, PgPool};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::cli::candidate::bytes_of;
use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::cli::table::{Column, table, text};
use crate::cli::verify::keyring;
use crate::config::{Common, Fork};
use crate::db::components;
use crate::decision::Ruling;
use crate::domain::model::Digest;
use crate::domain::money::Money;
use crate::domain::rules::Facts;
use crate::domain::transfer::{RailEvent, Status};
use crate::ledger::chain::Keyring;
use crate::ledger::fork::{Candidate, Keys, Plan, Recorded, Report, Rules, run as execute};
use crate::ledger::store::{History, Postgres};
use crate::models::Embedded;
use crate::scoring::{Risk, Scorer};
use crate::wasm::{Identity, Runtime, ScoreError, TransferRules, digest_of};

/// Batches are handed over in chunks of so many rows, and so many chunks wait: reading goes on while the last ones are
/// executed, within some ten megabytes.
const CHUNK_ROWS: usize = 10_000;
const CHUNKS_WAITING: usize = 2;

const UNREADABLE: &str = "cannot read the ledger";

/// A component, which is asked once for each transition.
struct LoadedRules {
    component: TransferRules,
    transitions: Mutex<BTreeMap<(Status, RailEvent), Option<Status>>>,
}

impl From<TransferRules> for LoadedRules {
    fn from(component: TransferRules) -> Self {
        Self { component, transitions: Mutex::default() }
    }
}

impl Rules for LoadedRules {
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        self.component.rule(facts)
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        let mut known = self.transitions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = known.get(&(status, event)) {
            return Ok(*next);
        }
        let next = self.component.transition(status, event)?;
        known.insert((status, event), next);
        Ok(next)
    }
}

pub(super) async fn run(common: &Common, fork: Fork) -> Result<ExitCode> {
    let keys = keyring(common, &fork.retired_ledger_key_file)?;
    let database = Database::open(common, Use::Read).await?;
    let report = report(&database.pool, keys, &fork).await;
    database.close().await?;
    let report = report?;
    let json = serde_json::to_string(&report)?;
    if fork.json {
        print(&json)?;
    } else {
        print_report(&report, &json)?;
    }
    Ok(if report.is_proven { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn report(pool: &PgPool, ring: Keyring, fork: &Fork) -> Result<Report> {
    Postgres::check(pool, ring.present()).await.context("cannot fork the ledger")?;
    let mut db = pool.acquire().await.context(UNREADABLE)?;
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    let (mut rules, mut risk) = (None, None);
    let mut plan = Plan { from: fork.from, until: fork.to, ..Plan::default() };
    if let Some(name) = &fork.rules {
        let component = TransferRules::load(&runtime, &bytes_of(&mut db, name).await?);
        let component = component.with_context(|| format!("{name} cannot decide"))?;
        rules = Some(candidate(component.identity()));
        plan.rules = Some(Arc::new(LoadedRules::from(component)));
    }
    if let Some(name) = &fork.risk {
        let scorer = Scorer::<Risk>::load(&runtime, &bytes_of(&mut db, name).await?);
        let scorer = scorer.with_context(|| format!("{name} cannot score"))?;
        risk = Some(candidate(scorer.identity()));
        plan.risk = Some(Arc::new(move |request| Ok(scorer.assess(request)?.score)));
    }
    let mut history = History::begin(&mut db, fork.to).await.context(UNREADABLE)?;
    let keys = Keys { ring, closed: std::mem::take(&mut history.closed) };
    let (sender, mut chunks) = mpsc::channel(CHUNKS_WAITING);
    let executing = spawn_blocking(move || execute(plan, &keys, std::iter::from_fn(|| chunks.blocking_recv())));
    let read = read(&mut db, history, runtime, sender).await;
    let mut report = executing.await.context("the fork panicked")?;
    read?;
    (report.rules, report.risk) = (rules, risk);
    Ok(report)
}

fn candidate(identity: &Identity) -> Candidate {
    Candidate { version: identity.version.to_string(), sha256: identity.digest.to_string() }
}

/// Hands over every batch with the rules that decided it, until the end or until nobody wants more.
async fn read(
    db: &mut PgConnection,
    mut history: History,
    runtime: Runtime,
    sender: mpsc::Sender<Vec<Recorded>>,
) -> Result<()> {
    let mut versions: HashMap<Vec<u8>, Option<Arc<dyn Rules>>> = HashMap::new();
    let (mut chunk, mut rows) = (Vec::new(), 0);
    while let Some((seal, stripe)) = history.next(db).await.context(UNREADABLE)? {
        let digest = &seal.header.rules.digest;
        if !versions.contains_key(digest) {
            versions.insert(digest.clone(), load(db, &runtime, digest).await?);
        }
        let rules = versions[digest].clone();
        rows += 1 + seal.header.counts.entries.unsigned_abs() as usize;
        chunk.push(Recorded { seal, stripe, rules });
        if rows >= CHUNK_ROWS {
            rows = 0;
            if sender.send(std::mem::take(&mut chunk)).await.is_err() {
                return Ok(());
            }
        }
    }
    // It may have ended before.
    let _ = sender.send(chunk).await;
    Ok(())
}

/// The rules with this digest. Those of this program may never have been registered.
async fn load(db: &mut PgConnection, runtime: &Runtime, digest: &[u8]) -> Result<Option<Arc<dyn Rules>>> {
    let Ok(digest) = digest.try_into().map(Digest) else { return Ok(None) };
    let embedded = Embedded::ALL.into_iter().map(|it| it.bytes).find(|bytes| digest_of(bytes) == digest);
    let bytes = match embedded {
        Some(bytes) => Some(bytes.to_vec()),
        None => components::bytes_of(db, digest).await.context("cannot read the rules that decided")?,
    };
    let load = |bytes: Vec<u8>| {
        let rules = TransferRules::load(runtime, &bytes).with_context(|| format!("the rules {digest} do not load"))?;
        Ok(Arc::new(LoadedRules::from(rules)) as Arc<dyn Rules>)
    };
    bytes.map(load).transpose()
}

fn print_report(report: &Report, json: &str) -> Result<()> {
    let Report { executed, counted, balances, .. } = report;
    print(&format!("executed: batches {}, commands {}", executed.batches, executed.commands))?;
    if report.unproven > 0 {
        print(&format!(
            "  note    without a retired key, the hashes of {} batches were not compared",
            report.unproven
        ))?;
    }
    if let Some(first) = &report.first_difference {
        print(&format!("first difference: batch {} of chain {}: {}", first.seq, first.chain_id, first.what))?;
    }
    if !report.is_proven {
        return print("the history is NOT what its commands make: run `caudal verify`");
    }
    if report.rules.is_none() && report.risk.is_none() {
        print("every batch is as it was recorded")?;
    } else {
        print(&format!("counted: batches {}, commands {}", counted.batches, counted.commands))?;
        let found: Value = serde_json::from_str(json)?;
        for (list, columns) in [("changes", CHANGES), ("risk_levels", LEVELS), ("money", MONEY)] {
            let rows = found[list].as_array().map(Vec::as_slice).unwrap_or_default();
            if !rows.is_empty() {
                print(&format!("\n{}", table(columns, rows)))?;
            }
        }
        let (asked, pesos) = (report.would_have_been_asked, |minor| Money::from_minor(minor).to_string());
        print(&format!("\nwould have been asked: {} orders of {}", asked.count, pesos(asked.amount)))?;
        print(&format!("without a kept decision on their risk: {} orders", report.unscored))?;
        print(&format!(
            "accounts with another balance: {} of {}; more {}, less {}",
            balances.differ,
            balances.accounts,
            pesos(balances.higher),
            pesos(balances.lower)
        ))?;
    }
    print(&format!("SHA-256 of the report: {}", hex::encode(Sha256::digest(format!("{json}\n")))))
}

const COUNT: Column<Value> = ("COUNT", |it| text(&it["count"]));
const AMOUNT: Column<Value> = ("AMOUNT", |it| Money::from_minor(it["amount"].as_i64().unwrap_or_default()).to_string());
const RECORDED: Column<Value> = ("RECORDED", |it| text(&it["recorded"]));
const FORKED: Column<Value> = ("FORKED", |it| text(&it["forked"]));
const CHANGES: &[Column<Value>] = &[("COMMAND", |it| text(&it["command"])), RECORDED, FORKED, COUNT, AMOUNT];
const LEVELS: &[Column<Value>] = &[RECORDED, FORKED, COUNT, AMOUNT];
const MONEY: &[Column<Value>] = &[
    ("ORDER", |it| text(&it["order"])),
    ("PAYEE", |it| text(&it["payee"])),
    ("PESOS", |it| text(&it["amounts"])),
    RECORDED,
    FORKED,
    COUNT,
    AMOUNT,
];
