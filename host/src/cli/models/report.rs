//! `caudal models report`: how challengers compare with the champion, for a terminal.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cli::admin::{AdminApi, found};
use crate::cli::output::print;
use crate::cli::table::print_json;
use crate::domain::model::ModelKind;
use crate::models::observing::report::{Challenger, Feature, PSI_REQUESTS_MIN, Report, Share};

/// Length of a histogram's longest bar, in characters.
const BAR_CHARS: usize = 24;

pub(super) async fn run(api: &AdminApi, kind: ModelKind, epoch: Option<i64>, json: bool) -> Result<ExitCode> {
    let query = epoch.map(|epoch| format!("?epoch={epoch}")).unwrap_or_default();
    let answer = api.get(&format!("/admin/models/{kind}/report{query}")).await;
    let answer = found(answer, || format!("there is no such change of {kind}"))?;
    if json {
        print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let report: Report = serde_json::from_value(answer).context("the host's answer has an unexpected format")?;
    let Report { epoch, champion, observed, dropped, .. } = &report;
    let since = report.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
    let mut lines = vec![
        format!("{kind}, change {epoch}{since}: {champion} and its challengers"),
        format!("{observed} requests observed, {dropped} dropped because the queue was full"),
    ];
    if report.challengers.is_empty() {
        lines.push("no challengers: deploy with --canary or --shadow".to_owned());
    }
    for challenger in &report.challengers {
        let why = why_none(challenger, *observed);
        show(challenger, why.as_deref(), &mut lines);
    }
    if !report.features.is_empty() {
        lines.extend([String::new(), "requests compared with the training data (PSI)".to_owned()]);
        let feature = |it: &Feature| format!("  {:34}{}", it.feature, index(it.psi, *observed));
        lines.extend(report.features.iter().map(feature));
    }
    print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A population stability index over so many requests, and its conventional interpretation.
fn index(psi: Option<f64>, requests: i64) -> String {
    let Some(psi) = psi else { return format!("too few requests: {requests} of {PSI_REQUESTS_MIN}") };
    let word = match psi {
        ..0.1 => "none",
        0.1..=0.25 => "moderate",
        _ => "major",
    };
    format!("{psi:.3} {word}")
}

/// With figures, unless there are none for the reason `why`.
fn show(challenger: &Challenger, why: Option<&str>, lines: &mut Vec<String>) {
    let Challenger { version, role, compared, failed, classes, flips, difference, latency_us, scores, .. } = challenger;
    let share = challenger.percent.map(|percent| format!(", {percent}% of the users")).unwrap_or_default();
    let failures = failed.iter().map(|(how, count)| format!("{count} {}", how.replace('_', " ")));
    lines.extend([String::new(), format!("{version}: {role}{share}")]);
    if let Some(reason) = &challenger.withdrawn {
        lines.push(format!("  {reason}"));
    }
    if let Some(why) = why {
        lines.push(format!("  {why}"));
        return;
    }
    let Share { low, high, .. } = challenger.flip;
    lines.extend([
        format!("  {compared} compared; failed: {}", failures.collect::<Vec<_>>().join(", ")),
        format!(
            "  {:.2}% ({:.2}–{:.2}%) in another class (rows: champion, columns: this version)",
            challenger.flip_share * 100.0,
            low * 100.0,
            high * 100.0,
        ),
        format!("    {:22}{}", "", classes.iter().map(|class| format!("{class:>12.12}")).collect::<String>()),
    ]);
    for (class, row) in classes.iter().zip(flips) {
        lines.push(format!("    {class:22.22}{}", row.iter().map(|count| format!("{count:>12}")).collect::<String>()));
    }
    lines.extend([
        format!(
            "  score: mean {:+.4}; difference median {:.3}, p99 {:.3}, largest {:.3}; PSI {}",
            difference.mean,
            difference.p50,
            difference.p99,
            difference.largest,
            index(challenger.score_psi, *compared)
        ),
        format!(
            "  time: median {} µs, p99 {} µs; champion {} µs and {} µs",
            latency_us.challenger.p50, latency_us.challenger.p99, latency_us.champion.p50, latency_us.champion.p99
        ),
        format!("  {:11}{:BAR_CHARS$}  this version", "score", "champion"),
    ]);
    let most = scores.champion.iter().chain(&scores.challenger).max().copied().unwrap_or_default().max(1);
    for ((edges, was), is) in scores.edges.windows(2).zip(&scores.champion).zip(&scores.challenger) {
        let (was, is) = (bar(*was, most), bar(*is, most));
        lines.push(format!("  {:.2}-{:.2}  {was:BAR_CHARS$}  {is}", edges[0], edges[1]).trim_end().to_owned());
    }
}

/// Why nothing was compared.
fn why_none(challenger: &Challenger, observed: i64) -> Option<String> {
    if challenger.compared > 0 {
        return None;
    }
    let failed: i64 = challenger.failed.values().sum();
    Some(match challenger.percent {
        _ if failed > 0 => format!("nothing was compared: it failed on each of the {failed} requests that it got"),
        _ if observed == 0 => {
            "nothing was compared: no request has arrived since this deployment went into service".to_owned()
        }
        Some(percent) => format!(
            "nothing was compared: none of the {observed} requests belongs to its {percent}%. A request is assigned by its \
             `user_id`, or by its content if it has none, so repeating one always reaches the same version"
        ),
        None => "nothing was compared: no host that loaded it got a request".to_owned(),
    })
}

/// Its length is relative to the largest count. A count above zero is never invisible.
fn bar(count: i64, most: i64) -> String {
    let chars = usize::try_from(count * BAR_CHARS as i64 / most).unwrap_or_default();
    "#".repeat(if count > 0 { chars.max(1) } else { 0 })
}
