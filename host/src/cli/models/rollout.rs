//! `caudal models rollout`: canaries whose share grows by itself, through the admin API.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use hyper::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::caution::agree;
use super::deployment::Deployment;
use super::names::resolve;
use super::registry::{kind_of, kinds};
use crate::cli::admin::{AdminApi, if_match, is_refusal};
use crate::cli::output::print;
use crate::cli::table::{print_json, table, text};
use crate::config::{Common, Rollout, RolloutOrder, StartRollout};

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
    let present = Deployment::read(api, kind).await?;
    let mut wanted = Map::new();
    wanted.insert("canary".to_owned(), json!(version));
    wanted.insert("reason".to_owned(), json!(arguments.reason));
    let mut set = |name: &str, value: Option<Value>| wanted.extend(value.map(|it| (name.to_owned(), it)));
    set("steps", (!arguments.steps.is_empty()).then(|| json!(arguments.steps)));
    set("step_decisions", arguments.step_decisions.map(|it| json!(it)));
    set("step_seconds", arguments.step_time.map(|it| json!(it.as_secs())));
    set("max_failure_percent", arguments.max_failure_percent.map(|it| json!(it)));
    set("max_flip_percent", arguments.max_flip_percent.map(|it| json!(it)));
    set("max_latency_percent", arguments.max_latency_percent.map(|it| json!(it)));
    if let Some(canary) = present.canary.as_ref().filter(|it| it.version != version) {
        let warning =
            format!("this ends the canary {}, which answers {}% of the users", canary.version, canary.percent);
        agree(&warning, "--end-canary", arguments.end_canary)?;
        set("ends_canary", Some(json!(canary.version)));
    }
    if let Some(setback) = present.setback(version) {
        agree(&setback.describe(version), "--despite-setback", arguments.despite_setback)?;
        set("despite_setback", Some(json!(version)));
    }
    let path = format!("/admin/models/{kind}/rollouts");
    let done = api.call(Method::POST, &path, &if_match(present.epoch), Some(&Value::Object(wanted))).await?.body;
    print(&format!("{version} is the canary; steps: {}", steps(&done)))?;
    print(&format!("see what it waits for with `caudal models rollout list {kind}`"))?;
    Ok(ExitCode::SUCCESS)
}

async fn list(api: &AdminApi, kind: &str, json: bool) -> Result<ExitCode> {
    let kind = kind_of(kind)?;
    let answer = api.get(&format!("/admin/models/{kind}/rollouts")).await?;
    if json {
        print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = answer["rollouts"].as_array().context("the host's answer has an unexpected format")?;
    let rows: Vec<_> = all.iter().map(row).collect();
    print(&if rows.is_empty() {
        format!("there has been no rollout of {kind} yet")
    } else {
        table(["CANARY", "STATE", "STEPS", "SINCE", "BY", "DECISIONS", "FAILED", "FLIPS", "WHY"], &rows)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn row(it: &Value) -> [String; 9] {
    let evidence = &it["evidence"];
    let why = if it["state"] == "running" && evidence["waits_for"].is_string() {
        &evidence["waits_for"]
    } else {
        &it["detail"]
    };
    [
        text(&it["canary"]),
        text(&it["state"]),
        steps(it),
        text(&it["changed_at"]),
        text(&it["changed_by"]),
        evidence["decisions"].as_i64().map_or_else(|| "-".to_owned(), |it| it.to_string()),
        share(&evidence["failures"]),
        share(&evidence["flips"]),
        text(why),
    ]
}

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
    let done = match AdminApi::new(common, admin)?.post(&path, &json!({"reason": reason})).await {
        Err(error) if is_refusal(&error, StatusCode::NOT_FOUND) => bail!("there has been no rollout of {kind} yet"),
        done => done?.body,
    };
    print(&match name {
        "abort" => format!("aborted: {} no longer answers anyone", text(&done["canary"])),
        _ => format!("{} is {}, at step {}", text(&done["canary"]), text(&done["state"]), steps(&done)),
    })?;
    Ok(ExitCode::SUCCESS)
}
