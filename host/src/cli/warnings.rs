//! `caudal warnings`: which variant of the page's warnings keeps customers from sending.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::json;
use time::Duration;

use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::cli::table::{print_json, table};
use crate::clock::Clock;
use crate::config::{Common, Warnings};
use crate::db::warnings::{Outcome, outcomes};

/// The normal distribution's 97.5 % point: 95 % of such intervals hold the true share.
const DEVIATIONS: f64 = 1.959_964;

pub(super) async fn run(common: &Common, warnings: Warnings) -> Result<ExitCode> {
    let since = Clock::system().now() - Duration::days(warnings.days.into());
    let database = Database::open(common, Use::Shared).await?;
    let read = async { outcomes(&mut *database.pool.acquire().await?, since).await }.await;
    database.close().await?;
    let found = read.context("cannot read the events")?;
    if warnings.json {
        print_json(&found.iter().map(to_json).collect::<serde_json::Value>())?
    } else {
        print(&shown(&found))?
    }
    Ok(ExitCode::SUCCESS)
}

/// Wilson's interval of a share, which is honest about few customers and about none who did it.
fn interval(part: i64, whole: i64) -> [f64; 2] {
    let (part, whole) = (part as f64, (whole as f64).max(1.0));
    let (share, square) = (part / whole, DEVIATIONS * DEVIATIONS);
    let middle = share + square / (2.0 * whole);
    let half = DEVIATIONS * (share * (1.0 - share) / whole + square / (4.0 * whole * whole)).sqrt();
    [middle - half, middle + half].map(|end| (end / (1.0 + square / whole)).clamp(0.0, 1.0))
}

fn percent(part: i64, whole: i64) -> String {
    let [low, high] = interval(part, whole).map(|end| 100.0 * end);
    format!("{part} ({low:.0} to {high:.0} %)")
}

fn to_json(outcome: &Outcome) -> serde_json::Value {
    let Outcome { variant, customers, shown, kept, stopped, regretted } = outcome;
    let share = |part: i64| json!({"customers": part, "interval95": interval(part, *customers)});
    json!({
        "variant": variant, "customers": customers, "warnings": shown,
        "sentNothing": share(*kept), "choseNotTo": share(*stopped), "regretted": share(*regretted),
    })
}

fn shown(found: &[Outcome]) -> String {
    if found.is_empty() {
        return "no customer who consented to analytics was warned".to_owned();
    }
    let row = |it: &Outcome| {
        let share = |part| percent(part, it.customers);
        let counts = [it.customers, it.shown].map(|count| count.to_string());
        let [customers, warnings] = counts;
        [it.variant.clone(), customers, warnings, share(it.kept), share(it.stopped), share(it.regretted)]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let heads = ["VARIANT", "CUSTOMERS", "WARNINGS", "SENT NOTHING", "CHOSE NOT TO", "SENT, THEN SOUGHT HELP"];
    format!("{}\n95 % intervals, by Wilson; every customer counts once", table(heads, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_wilsons() {
        // Newcombe, Statistics in Medicine 17 (1998), table I.
        for (part, whole, want) in [
            (81, 263, [0.2553, 0.3662]),
            (15, 148, [0.0624, 0.1605]),
            (0, 20, [0.0, 0.1611]),
            (1, 29, [0.0061, 0.1718]),
        ] {
            for (found, want) in interval(part, whole).into_iter().zip(want) {
                assert!((found - want).abs() < 0.000_1, "{part}/{whole}: {found} is not {want}");
            }
        }
        assert_eq!(interval(0, 0)[0], 0.0);
    }

    #[test]
    fn a_table_has_counts_and_intervals() {
        let one =
            Outcome { variant: "a/b".to_owned(), customers: 263, shown: 300, kept: 81, stopped: 15, regretted: 0 };
        let text = shown(&[one]);
        assert!(text.contains("a/b      263        300       81 (26 to 37 %)  15 (3 to 9 %)  0 (0 to 1 %)"), "{text}");
        assert!(shown(&[]).starts_with("no customer"));
    }
}
