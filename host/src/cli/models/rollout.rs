//! `caudal models rollout`: canaries whose share grows by itself, through the admin API.

use std::process::ExitCode;

use anyhow::Result;
use hyper::Method;
use serde_json::{Value, json};

use super::deployment::digest_of_file;
use super::names::resolve;
use super::registry::{kind_of, kinds};
use crate::cli::admin::{AdminApi, found, if_match};
use crate::cli::output::print;
use crate::cli::table::{Column, print_list, text};
use crate::config::{Common, Rollout, RolloutOrder, StartRollout};
use crate::http::admin::deployment::PresentJson;

pub(super) async fn run(common: &Common, rollout: &Rollout) -> Result<ExitCode> {
    match rollout {
        Rollout::Start(arguments) => start(&AdminApi::new(common, &arguments.admin)?, arguments).await,
        Rollout::List { kind, json, admin } => list(&AdminApi::new(common, admin)?, kind, *json).await,
        Rollout::Pause(it) => order(common, it, "pause").await,
        Rollout::Resume(it) => order(common, it, "resume").await,
        Rollout::Abort(it) => order(common, it, "abort").await,
    }
}

async fn start(api: &AdminApi, arguments: &StartRollout) -> Result<ExitCode> {
    let kinds = kinds(api).await?;
    let (kind, version) = resolve(&kinds, &arguments.version)?;
    let present = PresentJson::read(api, kind).await?;
    let steps_wanted = Some(&arguments.steps).filter(|it| !it.is_empty());
    // Null is as if it was left out: the host's default.
    let mut wanted = json!({
        "canary": version,
        "reason": arguments.reason,
        "steps": steps_wanted,
        "step_decisions": arguments.step_decisions,
        "step_seconds": arguments.step_time.map(|it| it.as_secs()),
        "max_failure_percent": arguments.max_failure_percent,
        "max_flip_percent": arguments.max_flip_percent,
        "max_fuel_percent": arguments.max_fuel_percent,
        "on_violation": arguments.on_violation,
        "fork_report": digest_of_file(arguments.fork_report.as_deref())?,
    });
    present.confirm_end(&[Some(version)], arguments.end_canary, &mut wanted)?;
    present.confirm_setback(version, arguments.despite_setback, &mut wanted)?;
    let path = format!("/admin/models/{kind}/rollouts");
    let answer = api.call(Method::POST, &path, &if_match(present.now.0.epoch), Some(&wanted)).await?;
    let Some(done) = answer.done()? else { return Ok(ExitCode::SUCCESS) };
    print(&format!("{version} is the canary; steps: {}", steps(&done)))?;
    print(&format!("see what it waits for with `caudal models rollout list {kind}`"))?;
    Ok(ExitCode::SUCCESS)
}

async fn list(api: &AdminApi, kind: &str, json: bool) -> Result<ExitCode> {
    let kind = kind_of(kind)?;
    let answer = api.get(&format!("/admin/models/{kind}/rollouts")).await?;
    print_list(&answer, ("rollouts", &format!("there has been no rollout of {kind} yet")), COLUMNS, json)
}

const COLUMNS: &[Column<Value>] = &[
    ("CANARY", |it| text(&it["canary"])),
    ("STATE", |it| text(&it["state"])),
    ("STEPS", steps),
    ("SINCE", |it| text(&it["changed_at"])),
    ("BY", |it| text(&it["changed_by"])),
    ("DECISIONS", |it| text(&it["evidence"]["decisions"])),
    ("FAILED", |it| share(&it["evidence"]["failures"])),
    ("FLIPS", |it| share(&it["evidence"]["flips"])),
    ("WHY", |it| {
        let waits_for = &it["evidence"]["waits_for"];
        text(if it["state"] == "running" && waits_for.is_string() { waits_for } else { &it["detail"] })
    }),
];

/// `5, [25], 100%`: the present step in brackets.
fn steps(it: &Value) -> String {
    let present = it["step"].as_u64();
    let steps = it["steps"].as_array().into_iter().flatten().zip(0..);
    let steps = steps.map(|(step, at)| if Some(at) == present { format!("[{step}]") } else { step.to_string() });
    format!("{}%", steps.collect::<Vec<_>>().join(", "))
}

/// With its interval: `1.2% (0.6–2.4%)`.
fn share(it: &Value) -> String {
    let percent = |name: &str| it[name].as_f64().map(|share| share * 100.0);
    match (percent("share"), percent("low"), percent("high")) {
        (Some(share), Some(low), Some(high)) => format!("{share:.1}% ({low:.1}–{high:.1}%)"),
        _ => "-".to_owned(),
    }
}

async fn order(common: &Common, order: &RolloutOrder, name: &str) -> Result<ExitCode> {
    let RolloutOrder { kind, reason, admin } = order;
    let kind = kind_of(kind)?;
    let path = format!("/admin/models/{kind}/rollouts/{name}");
    let done = AdminApi::new(common, admin)?.post(&path, &json!({"reason": reason})).await;
    let done = found(done, || format!("there has been no rollout of {kind} yet"))?.body;
    print(&match name {
        "abort" => format!("aborted: {} no longer answers anyone", text(&done["canary"])),
        _ => format!("{} is {}, at step {}", text(&done["canary"]), text(&done["state"]), steps(&done)),
    })?;
    Ok(ExitCode::SUCCESS)
}
