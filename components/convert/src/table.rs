//! Decision tables: CSV whose rows become transfer rules.
//!
//! Each column but the last two is a fact, and each cell a condition on it. A row whose conditions all hold requires what its
//! last two cells say.

use caudal_ensemble::table::{Comparison, Condition, Fact, Operand, ROWS_MAX, Requirement, Row, Rules};
use csv::StringRecord;

use crate::assemble::assemble;
use crate::error::{Error, Result};
use crate::map::nearest;
use crate::{Built, Kind, Summary};

/// Maximum size of a table: a thousand rows of a thousand characters.
const TABLE_BYTES_MAX: usize = 1 << 20;
/// The last two columns.
const ANSWER: [&str; 2] = ["requirement", "parameter"];
/// The largest number: up to here, `f64` holds every whole number.
const NUMBER_MAX: i64 = 1 << 53;
/// The unit of what a `wait` takes.
const SECONDS: &str = "seconds";

/// A fact that a host can give to rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RulesFact {
    pub name: &'static str,
    pub kind: Kind,
    /// Empty if there is none.
    pub unit: &'static str,
    pub is_always_known: bool,
}

/// What a host has for rules.
#[derive(Clone, Copy, Debug)]
pub struct RulesCatalogue<'a> {
    pub facts: &'a [RulesFact],
    /// Why a transfer may be rejected.
    pub reasons: &'a [&'static str],
}

struct Reader<'a> {
    catalogue: RulesCatalogue<'a>,
    /// The facts of the columns.
    columns: Vec<RulesFact>,
    rules: Rules,
}

/// A cell with its place.
#[derive(Clone, Copy)]
struct Cell<'a> {
    line: u64,
    /// From 1.
    column: usize,
    text: &'a str,
}

/// Makes a component of a decision table, in this version.
///
/// # Errors
/// [`Error`]: the first defect, where it is, and what was expected.
pub fn build_rules(table: &[u8], version: &str, catalogue: RulesCatalogue<'_>, interpreter: &[u8]) -> Result<Built> {
    let rules = read(table, version, catalogue)?;
    let bytes = rules.write().map_err(|unfit| Error::model("", unfit.0))?;
    let component = assemble(interpreter, &bytes)?;
    let (features, nodes, bytes) = (rules.facts.len(), rules.rows.len(), bytes.len());
    Ok(Built { component, summary: Summary { format: "decision table", features, trees: 0, nodes, bytes } })
}

fn read(table: &[u8], version: &str, catalogue: RulesCatalogue<'_>) -> Result<Rules> {
    if table.len() > TABLE_BYTES_MAX {
        return Err(Error::model("", format!("{} bytes, and at most {TABLE_BYTES_MAX} are possible", table.len())));
    }
    let text = std::str::from_utf8(table).map_err(|error| {
        let line = table[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::model(format!("line {line}"), "not UTF-8; save the table as CSV in UTF-8")
    })?;
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#'));
    let mut reader = builder.from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let mut records = reader.records();
    let header = records.next().transpose().map_err(unreadable)?.unwrap_or_default();
    let mut table = Reader { catalogue, columns: Vec::new(), rules: Rules::default() };
    table.read_header(&header)?;
    for record in records {
        let record = record.map_err(unreadable)?;
        let row = table.row(&record)?;
        table.rules.rows.push(row);
    }
    let mut rules = table.rules;
    match rules.rows.len() {
        0 => return Err(Error::model("", "no row; each row below the header is a rule")),
        1..=ROWS_MAX => {}
        rows => return Err(Error::model("", format!("{rows} rows, and at most {ROWS_MAX} are possible"))),
    }
    rules.version = version.to_owned();
    rules.summary = format!("Rules from a table of {} rows.", rules.rows.len());
    Ok(rules)
}

fn unreadable(error: csv::Error) -> Error {
    let line = error.position().map_or(0, csv::Position::line);
    Error::model(format!("line {line}"), format!("not a row of CSV: {error}"))
}

fn cells(record: &StringRecord) -> Vec<Cell<'_>> {
    let line = record.position().map_or(1, csv::Position::line);
    record.iter().enumerate().map(|(at, text)| Cell { line, column: at + 1, text }).collect()
}

impl Cell<'_> {
    fn error(self, problem: impl Into<String>) -> Error {
        Error::model(format!("line {}, column {}", self.line, self.column), problem)
    }

    fn with(self, text: &str) -> Cell<'_> {
        Cell { text: text.trim(), ..self }
    }
}

impl Reader<'_> {
    fn read_header(&mut self, header: &StringRecord) -> Result<()> {
        let cells = cells(header);
        let Some((facts, _)) =
            cells.split_last_chunk().filter(|(_, last)| last.map(|cell: Cell<'_>| cell.text) == ANSWER)
        else {
            let line = header.position().map_or(1, csv::Position::line);
            let problem = "the header names facts, and then requirement and parameter, as in \
                           amount,available,requirement,parameter";
            return Err(Error::model(format!("line {line}, column {}", header.len().max(1)), problem));
        };
        self.columns = facts.iter().map(|cell| self.fact(*cell)).collect::<Result<_>>()?;
        Ok(())
    }

    fn row(&mut self, record: &StringRecord) -> Result<Row> {
        let expected = self.columns.len() + ANSWER.len();
        let mut cells = cells(record);
        if cells.len() != expected {
            let last = Cell { line: record.position().map_or(1, csv::Position::line), column: cells.len(), text: "" };
            return Err(last.error(format!("{} cells, and the header has {expected}", cells.len())));
        }
        let answer = cells.split_off(self.columns.len());
        let mut conditions = Vec::new();
        for (at, cell) in cells.into_iter().enumerate() {
            self.add_conditions(self.columns[at], cell, &mut conditions)?;
        }
        let (requirement, parameter) = self.requirement(answer[0], answer[1])?;
        Ok(Row { requirement, parameter, conditions })
    }

    fn add_conditions(&mut self, column: RulesFact, cell: Cell<'_>, conditions: &mut Vec<Condition>) -> Result<()> {
        if cell.text.is_empty() {
            return Ok(());
        }
        let fact = self.position(column);
        let mut add = |comparison, operand| conditions.push(Condition { fact, comparison, operand });
        if let Some((from, to)) = cell.text.split_once("..") {
            let (from, to) = (self.operand(cell.with(from), column.unit)?, self.operand(cell.with(to), column.unit)?);
            if [from, to].iter().all(|it| it.plus.or(it.minus).is_none()) && from.number > to.number {
                return Err(
                    cell.error(format!("{} is more than {}, so no value is between them", from.number, to.number))
                );
            }
            add(Comparison::AtLeast, from);
            add(Comparison::AtMost, to);
            return Ok(());
        }
        let comparison = Comparison::ALL.iter().find_map(|(sign, it)| Some((*it, cell.text.strip_prefix(sign)?)));
        match comparison {
            Some((Comparison::Unknown, "")) if column.is_always_known => {
                Err(cell.error(format!("{} is known for every transfer, so this row would never apply", column.name)))
            }
            Some((Comparison::Unknown, "")) => {
                add(Comparison::Unknown, Operand::default());
                Ok(())
            }
            Some((comparison, operand)) if comparison != Comparison::Unknown => {
                add(comparison, self.operand(cell.with(operand), column.unit)?);
                Ok(())
            }
            _ => Err(cell.error(format!(
                "\"{}\" is no condition; leave the cell empty, or write >=, >, =, < or <= and a number or fact, as in \
                 \"> per_day_limit - day_total\", a range such as 10..20, or unknown",
                shown(cell.text)
            ))),
        }
    }

    fn requirement(&mut self, code: Cell<'_>, parameter: Cell<'_>) -> Result<(Requirement, Operand)> {
        let requirement = Requirement::ALL.iter().find(|(name, _)| *name == code.text).ok_or_else(|| {
            code.error(format!("\"{}\" is no requirement; write reject, acknowledge, wait or review", shown(code.text)))
        })?;
        let parameter = match requirement.1 {
            Requirement::Reject => {
                let known = self.catalogue.reasons.iter().find(|reason| **reason == parameter.text);
                let reason = known.ok_or_else(|| {
                    let reasons = &self.catalogue.reasons;
                    let advice = nearest(parameter.text, reasons.iter().copied());
                    let advice = advice.unwrap_or_else(|| format!("there are {}", reasons.join(", ")));
                    parameter.error(format!("\"{}\" is no reason to reject: {advice}", shown(parameter.text)))
                })?;
                let reasons = &mut self.rules.reasons;
                let at = reasons.iter().position(|it| it == reason).unwrap_or_else(|| {
                    reasons.push((*reason).to_owned());
                    reasons.len() - 1
                });
                Operand { number: at as f64, ..Operand::default() }
            }
            Requirement::Acknowledge | Requirement::Review if parameter.text.is_empty() => Operand::default(),
            Requirement::Acknowledge | Requirement::Review => {
                return Err(parameter.error(format!("{} has no parameter; leave the cell empty", code.text)));
            }
            Requirement::Wait => {
                let seconds = self.operand(parameter, SECONDS)?;
                let facts = [seconds.plus, seconds.minus].into_iter().flatten();
                let mut unknown =
                    facts.filter_map(|fact| self.rules.facts.get(usize::from(fact))).filter(|it| !it.required);
                if let Some(fact) = unknown.next() {
                    return Err(parameter.error(format!("{} is not known for every transfer", fact.name)));
                }
                if seconds.plus.or(seconds.minus).is_none() && seconds.number < 1.0 {
                    return Err(parameter.error("a wait is at least 1 second"));
                }
                seconds
            }
        };
        Ok((requirement.1, parameter))
    }

    /// A number or a fact, and what is subtracted from it. Facts have the given unit.
    fn operand(&mut self, cell: Cell<'_>, unit: &str) -> Result<Operand> {
        let mut operand = Operand::default();
        let (first, second) = match cell.text.char_indices().skip(1).find(|(_, char)| *char == '-') {
            Some((at, _)) => (cell.with(&cell.text[..at]), Some(cell.with(&cell.text[at + 1..]))),
            None => (cell, None),
        };
        for (term, sign) in [(Some(first), 1.0), (second, -1.0)] {
            let Some(term) = term else { continue };
            if term.text.starts_with(|char: char| char.is_ascii_alphabetic()) {
                let fact = self.fact(term)?;
                if fact.unit != unit {
                    let named =
                        |unit: &str| if unit.is_empty() { "no unit".to_owned() } else { format!("the unit {unit}") };
                    let problem = format!("{} has {}, and {} is needed here", fact.name, named(fact.unit), named(unit));
                    return Err(cell.error(problem));
                }
                let place = if sign > 0.0 { &mut operand.plus } else { &mut operand.minus };
                *place = Some(self.position(fact));
                continue;
            }
            let number = term.text.parse::<i64>().ok().filter(|it| it.unsigned_abs() <= NUMBER_MAX.unsigned_abs());
            let number = number.ok_or_else(|| {
                let of_money = if unit == "centavos" { "; amounts are in centavos" } else { "" };
                cell.error(format!("\"{}\" is neither a whole number nor a fact{of_money}", shown(term.text)))
            })?;
            operand.number += sign * number as f64;
        }
        Ok(operand)
    }

    fn fact(&self, cell: Cell<'_>) -> Result<RulesFact> {
        self.catalogue.facts.iter().find(|fact| fact.name == cell.text).copied().ok_or_else(|| {
            let advice = nearest(cell.text, self.catalogue.facts.iter().map(|fact| fact.name));
            let advice = advice.unwrap_or_else(|| "`caudal models facts` lists them".to_owned());
            cell.error(format!("there is no fact \"{}\": {advice}", shown(cell.text)))
        })
    }

    /// Where its value is passed.
    fn position(&mut self, fact: RulesFact) -> u8 {
        let RulesFact { name, kind, unit, is_always_known: required } = fact;
        let facts = &mut self.rules.facts;
        let at = facts.iter().position(|known| known.name == name).unwrap_or_else(|| {
            facts.push(Fact { name: name.to_owned(), kind, unit: unit.to_owned(), required });
            facts.len() - 1
        });
        at as u8
    }
}

/// Text from a table, short enough for an error.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}
