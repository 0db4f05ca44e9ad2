//! A model's card: what the owner of a version says of it, and how its facts were distributed in the training data.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use time::Date;

use super::fact::VALUE_MAX;
use super::fact::manifest::NAMES_MAX;
use crate::schema::{FieldError, Fields, Shape, record};

/// Longest name of an owner or a metric, in characters: a line on a screen.
const NAME_CHARS_MAX: usize = 100;

/// Longest of the other texts, in characters: a page.
const TEXT_CHARS_MAX: usize = 2_000;

/// Metrics, and limits: as many as people read.
const LIST_MAX: usize = 50;

/// Ends of bins: deciles have nine, and with more a bin would need more requests than a report waits for.
const ENDS_MAX: usize = 50;

/// How far shares may be from adding up to 1: they may have been rounded.
const SHARES_TOLERANCE: f64 = 0.001;

/// Decimals of a metric for people; the intervals are wider.
const DIGITS: usize = 4;

record! {
    /// What the owner of a version says of it.
    pub struct Card as "ModelCard" {
        /// Who answers for it.
        pub owner: String { chars_max: NAME_CHARS_MAX, example: "\"Risk team\"" },
        /// What it is for.
        pub purpose: String { chars_max: TEXT_CHARS_MAX, example: "\"Warns people before a fraud.\"" },
        /// What it was trained on.
        pub training_data: String { chars_max: TEXT_CHARS_MAX, example: "\"Transfers, and the frauds reported since.\"" },
        /// The days from which these data are; left out for data without dates.
        pub period: Option<Period>,
        pub metrics: Vec<Metric> { length_max: LIST_MAX },
        /// What it cannot do, and must not be used for.
        pub limits: Vec<String> {
            length_max: LIST_MAX, items: &Shape::text(TEXT_CHARS_MAX), example: "[\"Not for companies.\"]"
        },
        /// When the owner looks at it again.
        pub next_review: Date { example: "\"2027-01-31\"" },
        /// How its facts were distributed in the training data, to see how far requests drift from them.
        pub reference: Vec<Distribution> { length_max: NAMES_MAX },
    }
}

record! {
    /// The first day and the last.
    pub struct Period as "CardPeriod" {
        pub from: Date { example: "\"2026-01-01\"" },
        pub to: Date { example: "\"2026-06-30\"" },
    }
}

record! {
    /// A figure and its interval.
    pub struct Metric as "CardMetric" {
        pub name: String { chars_max: NAME_CHARS_MAX, example: "\"AUC\"" },
        pub value: f64 { example: "0.91" },
        pub low: f64 { example: "0.9" },
        pub high: f64 { example: "0.92" },
    }
}

record! {
    /// The distribution of a fact where it is known. There is a bin below each end, one for each end itself and one above
    /// the last, so that a rarely set flag does not share a bin with the rest.
    pub struct Distribution as "FactDistribution" {
        /// Its name in the HTTP API, whose unit the ends have.
        pub fact: String { chars_max: NAME_CHARS_MAX, example: "\"is_new_device\"" },
        /// Ascending.
        pub ends: Vec<f64> {
            length_min: 1, length_max: ENDS_MAX, example: "[0]",
            items: &Shape::Number { at_least: Some(-VALUE_MAX), at_most: Some(VALUE_MAX) }
        },
        /// Of the bins, two for each end and one more; they add up to 1.
        pub shares: Vec<f64> {
            length_max: 2 * ENDS_MAX + 1, items: &Shape::Number { at_least: Some(0.0), at_most: Some(1.0) },
            example: "[0, 0.9, 0.1]"
        },
    }
}

impl Card {
    /// Reads the card of a model of which these facts are watched for drift.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(fields: Fields, facts: &[&str]) -> Result<Self, Vec<FieldError>> {
        let mut fields = fields.strict();
        let card: Self = fields.read();
        let mut faults = fields.into_faults();
        if faults.is_empty() {
            card.check(facts, &mut faults);
        }
        if faults.is_empty() { Ok(card) } else { Err(faults) }
    }

    fn check(&self, facts: &[&str], faults: &mut Vec<FieldError>) {
        let mut refuse = |field: String, code, detail: String| faults.push(FieldError::new(&field, code, detail));
        if self.period.as_ref().is_some_and(|it| it.to < it.from) {
            refuse("period.to".to_owned(), "out-of-range", "must not be before period.from".to_owned());
        }
        for (at, Metric { value, low, high, .. }) in self.metrics.iter().enumerate() {
            if value < low || value > high {
                refuse(format!("metrics[{at}].value"), "out-of-range", format!("must be from {low} to {high}"));
            }
        }
        let mut seen = BTreeSet::new();
        for (at, it) in self.reference.iter().enumerate() {
            if let Some((field, code, detail)) = it.fault(facts) {
                refuse(format!("reference[{at}].{field}"), code, detail);
            } else if !seen.insert(&it.fact) {
                refuse(format!("reference[{at}].fact"), "conflict", format!("is {} again", it.fact));
            }
        }
    }

    /// For people, with the headings of the built-in models' cards.
    pub fn markdown(&self) -> String {
        let Self { owner, purpose, training_data, period, metrics, limits, next_review, reference } = self;
        let mut text = format!("Owner: {}. Next review: {next_review}.\n", line(owner));
        section(&mut text, "What it is for", [line(purpose)]);
        let period = period.as_ref().map(|Period { from, to }| format!("From {from} to {to}."));
        let facts: Vec<_> = reference.iter().map(|it| format!("`{}`", it.fact)).collect();
        let drift = (!facts.is_empty()).then(|| format!("Drift is measured from {}.", facts.join(", ")));
        section(&mut text, "Data", [Some(line(training_data)), period, drift].into_iter().flatten());
        if !metrics.is_empty() {
            text += "\n## Results\n\nWith their intervals.\n\n| metric | value |\n| --- | ----: |\n";
        }
        for Metric { name, value, low, high } in metrics {
            // A bar would end the cell.
            let name = line(name).replace('|', "/");
            let _ = writeln!(text, "| {name} | {value:.DIGITS$} ({low:.DIGITS$} to {high:.DIGITS$}) |");
        }
        if !limits.is_empty() {
            section(&mut text, "Limits", limits.iter().map(|limit| line(limit)));
        }
        text
    }
}

/// A text without the ends of lines, which would mean something in Markdown.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn section(text: &mut String, title: &str, items: impl IntoIterator<Item = String>) {
    let _ = write!(text, "\n## {title}\n\n");
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
}

impl Distribution {
    /// The field that is wrong, a code and why, if it is to be one of these facts.
    pub fn fault(&self, facts: &[&str]) -> Option<(&'static str, &'static str, String)> {
        let Self { fact, ends, shares } = self;
        let (bins, sum) = (2 * ends.len() + 1, shares.iter().sum::<f64>());
        if facts.is_empty() {
            return Some(("fact", "not-allowed", "is not watched: nothing is, of models of this kind".to_owned()));
        }
        if !facts.contains(&&**fact) {
            return Some(("fact", "unknown-value", format!("must be one of {}", facts.join(", "))));
        }
        if !ends.is_sorted_by(|one, other| one < other) {
            return Some(("ends", "wrong-format", "must ascend".to_owned()));
        }
        if shares.len() != bins {
            return Some(("shares", "wrong-format", format!("must have {bins} items: two for each end, and one more")));
        }
        let is_whole = (sum - 1.0).abs() <= SHARES_TOLERANCE;
        (!is_whole).then(|| ("shares", "out-of-range", format!("must add up to 1, not to {sum:.DIGITS$}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: [&str; 2] = ["amount", "is_new_device"];
    const GOOD: &str = r#"{
        "owner": "Risk", "purpose": "Warns.\n# Soon", "training_data": "Transfers.", "next_review": "2027-01-31",
        "period": {"from": "2026-01-01", "to": "2026-06-30"}, "limits": ["Not for companies."],
        "metrics": [{"name": "AU|C", "value": 0.91, "low": 0.9, "high": 0.92}],
        "reference": [{"fact": "amount", "ends": [10, 20.5], "shares": [0.1, 0, 0.4, 0, 0.5]}]
    }"#;

    fn read(text: &str) -> Result<Card, Vec<String>> {
        let faults = |all: Vec<FieldError>| all.into_iter().map(|it| format!("{} {}", it.field, it.code)).collect();
        Card::read(Fields::from_json(text, 422).unwrap(), &FACTS).map_err(faults)
    }

    #[test]
    fn a_card_is_written_as_it_was_read_and_shown_to_people() {
        let card = read(GOOD).unwrap();
        assert_eq!(read(&serde_json::to_string(&card).unwrap()), Ok(card.clone()));
        let expected = "Owner: Risk. Next review: 2027-01-31.\n\n## What it is for\n\n- Warns. # Soon\n\n## Data\n\n\
            - Transfers.\n- From 2026-01-01 to 2026-06-30.\n- Drift is measured from `amount`.\n\n## Results\n\n\
            With their intervals.\n\n| metric | value |\n| --- | ----: |\n| AU/C | 0.9100 (0.9000 to 0.9200) |\n\n\
            ## Limits\n\n- Not for companies.\n";
        assert_eq!(card.markdown(), expected);
    }

    #[test]
    fn what_is_wrong_with_a_card_is_named() {
        let twice = r#"5]}, {"fact": "amount", "ends": [1], "shares": [0, 1, 0]}]"#;
        for (was, is, fault) in [
            ("\"Risk\"", "\" \"", "owner blank"),
            ("\"limits\"", "\"limit\"", "limit unknown-field"),
            ("2027-01-31", "soon", "next_review unknown-value"),
            ("2026-06-30", "2025-12-31", "period.to out-of-range"),
            ("0.91", "0.93", "metrics[0].value out-of-range"),
            ("amount", "shoe_size", "reference[0].fact unknown-value"),
            ("[10, 20.5]", "[10, 10]", "reference[0].ends wrong-format"),
            ("[10, 20.5]", "[10]", "reference[0].shares wrong-format"),
            ("[10, 20.5]", "[]", "reference[0].ends too-short"),
            ("[0.1,", "[0.2,", "reference[0].shares out-of-range"),
            ("[0.1,", "[-0.1,", "reference[0].shares out-of-range"),
            ("5]}]", twice, "reference[1].fact conflict"),
        ] {
            let faults = read(&GOOD.replacen(was, is, 1)).unwrap_err();
            assert!(faults.iter().any(|it| it == fault), "{was} as {is}: {faults:?}");
        }
        // Rounded shares, and what may be left out.
        assert!(read(&GOOD.replace("0.4", "0.3996")).is_ok());
        assert!(read(&GOOD.replace(r#""period": {"from": "2026-01-01", "to": "2026-06-30"}, "#, "")).is_ok());
    }
}
