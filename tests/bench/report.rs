//! The page that a run writes: what was measured, on what, and how it compares with what is wanted.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use serde_json::{Value, json};

/// Of this process.
static REPORT: LazyLock<Mutex<Report>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Report {
    facts: Vec<(&'static str, String)>,
    sections: Vec<Section>,
}

struct Section {
    name: String,
    lines: Vec<String>,
    results: Vec<Outcome>,
}

/// A result that has a target.
struct Outcome {
    title: String,
    value: f64,
    target: Target,
}

/// What a result should be. Ratios compare both sides within one run, so they mean something on other machines.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtLeast(f64),
    /// With its unit.
    AtMost(f64, &'static str),
}

impl Target {
    fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!("at least {}", short(least)),
            Self::AtMost(most, unit) => format!("at most {} {unit}", short(most)).trim_end().to_owned(),
        }
    }

    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most, _) => value <= most,
        }
    }

    /// How far the value is, 1 being the target.
    fn share(self, value: f64) -> f64 {
        match self {
            Self::AtLeast(least) => value / least,
            Self::AtMost(most, _) => most / value,
        }
    }
}

/// With two decimals, if it needs them.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Prints a line and keeps it for the page.
macro_rules! say {
    ($($text:tt)*) => { crate::report::keep(format!($($text)*)) };
}
pub(crate) use say;

#[expect(clippy::print_stdout, reason = "prints figures for the reader")]
pub(crate) fn keep(line: String) {
    println!("{line}");
    if let Some(section) = REPORT.lock().unwrap().sections.last_mut() {
        section.lines.push(line);
    }
}

pub(crate) fn fact(name: &'static str, value: String) {
    keep(format!("{name}: {value}"));
    REPORT.lock().unwrap().facts.push((name, value));
}

#[expect(clippy::print_stdout, reason = "the page has a heading instead")]
pub(crate) fn section(name: &str) {
    println!("\n== {name}");
    let section = Section { name: name.to_owned(), lines: Vec::new(), results: Vec::new() };
    REPORT.lock().unwrap().sections.push(section);
}

/// Prints a result next to its target and keeps both.
pub(crate) fn result(title: &str, value: f64, target: Target) {
    let verdict = if target.is_met(value) { "met" } else { "missed" };
    keep(format!("{title}: {value:.2} ({}: {verdict})", target.text()));
    let mut report = REPORT.lock().unwrap();
    if let Some(section) = report.sections.last_mut() {
        section.results.push(Outcome { title: title.to_owned(), value, target });
    }
}

/// Writes `report.md`, `report.json` and `report.svg`.
pub(crate) fn write(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let report = REPORT.lock().unwrap();
    for (name, text) in
        [("report.md", report.markdown()), ("report.json", report.json()), ("report.svg", report.chart())]
    {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// The first line that a program prints.
pub(crate) fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

impl Report {
    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.sections.iter().flat_map(|section| &section.results)
    }

    fn markdown(&self) -> String {
        let mut page = String::from(
            "# Caudal's performance\n\nEach comparison runs both sides in turn on one machine; figures are medians of the \
             turns. Ratios carry over to other machines, absolute figures do not. Nothing is switched off: the binary is \
             the shipped one, requests are validated, limited, counted and logged at level `info`, transfers \
             have tokens, keys, rules, a hash chain and a commit on disk. `tests/bench/host.rs` has the command that \
             starts it; what favours the other side stands at the top of its source, in `tests/bench`.\n\n",
        );
        for (name, value) in &self.facts {
            let _ = writeln!(page, "- {name}: {value}");
        }
        page +=
            "\n![How far each result is from its target](report.svg)\n\n| | result | target | |\n|---|---|---|---|\n";
        for Outcome { title, value, target } in self.outcomes() {
            let verdict = if target.is_met(*value) { "met" } else { "**missed**" };
            let _ = writeln!(page, "| {title} | {value:.2} | {} | {verdict} |", target.text());
        }
        for Section { name, lines, .. } in &self.sections {
            let _ = write!(page, "\n## {name}\n\n```\n{}\n```\n", lines.join("\n"));
        }
        page
    }

    fn json(&self) -> String {
        let facts: serde_json::Map<String, Value> =
            self.facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect();
        let results: Vec<Value> = self
            .outcomes()
            .map(|it| {
                json!({"title": it.title, "value": it.value, "target": it.target.text(), "met": it.target.is_met(it.value)})
            })
            .collect();
        serde_json::to_string_pretty(&json!({"facts": facts, "results": results})).unwrap() + "\n"
    }

    /// One bar for each result, up to twice its target; a line marks the target.
    fn chart(&self) -> String {
        const ROW: usize = 24;
        const LABELS: usize = 420;
        const TARGET: usize = 200;
        let results: Vec<_> = self.outcomes().collect();
        let (width, height) = (LABELS + 2 * TARGET + 60, ROW * results.len() + 2 * ROW);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
             font-size=\"13\" role=\"img\" aria-label=\"Results in relation to their targets\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
        );
        for (at, Outcome { title, value, target }) in results.iter().enumerate() {
            let (y, text) = (ROW + at * ROW, title.replace('&', "&amp;").replace('<', "&lt;"));
            let bar = (target.share(*value).clamp(0.0, 2.0) * TARGET as f64) as usize;
            let color = if target.is_met(*value) { "#2a6f4e" } else { "#b4542a" };
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{text}</text>\n\
                 <rect x=\"{LABELS}\" y=\"{y}\" width=\"{bar}\" height=\"16\" fill=\"{color}\"/>\n\
                 <text x=\"{}\" y=\"{}\">{value:.2}</text>\n",
                LABELS - 8,
                y + 13,
                LABELS + 2 * TARGET + 8,
                y + 13,
            );
        }
        let x = LABELS + TARGET;
        let _ = write!(
            svg,
            "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\" stroke=\"#000\" stroke-dasharray=\"4 3\"/>\n\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">target</text>\n</svg>\n",
            ROW / 2,
            height - ROW,
            ROW / 2,
        );
        svg
    }
}
