//! `caudal warnings`: which variant of the page's warnings keeps customers from sending, and who sees which.

use std::process::ExitCode;

use anyhow::Result;
use hyper::Method;
use serde_json::{Value, json};

use crate::cli::admin::{AdminApi, if_match};
use crate::cli::output::print;
use crate::cli::table::{print_json, table, text};
use crate::config::{Common, Warnings};

pub(super) async fn run(common: &Common, warnings: Warnings) -> Result<ExitCode> {
    let Warnings { days, shares, experiment, reason, json, admin } = warnings;
    let api = AdminApi::new(common, &admin)?;
    if !shares.is_empty() {
        let variants: Vec<_> =
            shares.iter().map(|(variant, percent)| json!({"variant": variant, "percent": percent})).collect();
        let change = json!({"experiment": experiment, "reason": reason, "variants": variants});
        let seen = api.get("/admin/warnings?days=1").await?["change"].as_i64().unwrap_or_default();
        api.call(Method::PUT, "/admin/warnings", &if_match(seen), Some(&change)).await?;
    }
    let answer = api.get(&format!("/admin/warnings?days={days}")).await?;
    if json {
        print_json(&answer)?
    } else {
        print(&shown(&answer))?
    }
    Ok(ExitCode::SUCCESS)
}

/// A share of customers with its interval.
fn share(it: &Value) -> String {
    let [low, high] = ["low", "high"].map(|end| 100.0 * it[end].as_f64().unwrap_or_default());
    format!("{} ({low:.0} to {high:.0}%)", it["count"])
}

fn shown(answer: &Value) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let present = &answer["present"];
    let portion = |it: &Value| format!("{} {}%", text(&it["variant"]), it["percent"]);
    let portions: Vec<_> = list(&present["variants"]).iter().map(portion).collect();
    let now = format!("now: {}, {}", text(&present["experiment"]), portions.join(", "));
    let rows: Vec<_> = list(&answer["outcomes"])
        .iter()
        .map(|it| {
            let [nothing, chosen, helped] =
                ["sent_nothing", "chose_not_to", "sought_help"].map(|name| share(&it[name]));
            [text(&it["variant"]), it["customers"].to_string(), it["warnings"].to_string(), nothing, chosen, helped]
        })
        .collect();
    if rows.is_empty() {
        return format!("no customer who consented to analytics was warned\n{now}");
    }
    let heads = ["VARIANT", "CUSTOMERS", "WARNINGS", "SENT NOTHING", "CHOSE NOT TO", "SENT, THEN SOUGHT HELP"];
    format!("{}\n95% intervals; each customer is counted once per variant\n{now}", table(heads, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_counts_and_intervals() {
        let share = |count: i64, low: f64, high: f64| json!({"count": count, "low": low, "high": high});
        let outcome = json!({
            "variant": "a/b", "customers": 263, "warnings": 300, "sent_nothing": share(81, 0.2553, 0.3662),
            "chose_not_to": share(15, 0.0348, 0.0918), "sought_help": share(0, 0.0, 0.0144),
        });
        let present = json!({"experiment": "a", "variants": [{"variant": "b", "percent": 100}]});
        let found = shown(&json!({"present": present, "outcomes": [outcome]}));
        assert!(found.contains("a/b      263        300       81 (26 to 37%)  15 (3 to 9%)  0 (0 to 1%)"), "{found}");
        assert!(found.ends_with("now: a, b 100%"), "{found}");
        assert!(shown(&json!({"present": present, "outcomes": []})).starts_with("no customer"));
    }
}
