//! A statement for spreadsheets, with the columns and words of `web/bank/statement-export.js`, which a test compares.

use anyhow::Context as _;
use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};

use super::summary::Statement;
use crate::clock::{mexico_city_at, mexico_city_date};
use crate::db::entries::Entry;
use crate::domain::accessibility::Language;
use crate::domain::money::Money;
use crate::domain::text::is_invisible;
use crate::http::ledger::entries::kind_of;

/// Without it Excel takes UTF-8 for an older encoding and garbles accents.
const BOM: &str = "\u{feff}";

type Row = [String; 9];

/// Texts by the names that the page has for them: Spanish, English.
const WORDS: &[(&str, &str, &str)] = &[
    ("export.date", "Fecha", "Date"),
    ("export.time", "Hora (Ciudad de México)", "Time (Mexico City)"),
    ("export.name", "Movimiento", "Transaction"),
    ("export.concept", "Concepto de pago", "Payment description"),
    ("export.numeric", "Referencia numérica", "Numeric reference"),
    ("export.state", "Estado", "Status"),
    ("export.reference", "Clave de rastreo", "Tracking key"),
    ("export.amount", "Monto (MXN)", "Amount (MXN)"),
    ("export.balance", "Saldo (MXN)", "Balance (MXN)"),
    ("paper.opening", "Saldo inicial", "Opening balance"),
    ("paper.closing", "Saldo final", "Closing balance"),
    ("history.unnamed", "Sin nombre", "No name"),
    ("entry.opening", "Depósito de apertura", "Opening deposit"),
    ("entry.funding", "Depósito del banco", "Deposit from the bank"),
    ("entry.deposit", "Transferencia recibida", "Transfer received"),
    ("entry.received", "Transferencia de {name}", "Transfer from {name}"),
    ("entry.reversal", "Transferencia recibida y después devuelta", "Incoming transfer reversed"),
    ("entry.transfer", "{name}", "{name}"),
    ("entry.refund", "Reintegro por transferencia no completada: {name}", "Money back, transfer not completed: {name}"),
    ("entry.return", "Devolución: {name}", "Returned: {name}"),
    ("status.completed", "Completada", "Completed"),
    ("status.pending", "En proceso", "In progress"),
    ("status.failed", "No se completó", "Not completed"),
    ("status.returned", "Devuelta", "Returned"),
];

fn word(name: &str, language: Language) -> &'static str {
    WORDS.iter().find(|(known, ..)| *known == name).map_or("", |(_, spanish, english)| match language {
        Language::Spanish => spanish,
        Language::English => english,
    })
}

pub(super) fn head(of: &Statement) -> anyhow::Result<Vec<u8>> {
    let heads = std::array::from_fn(|at| word(WORDS[at].0, of.language).to_owned());
    let rows = write([heads, balance("paper.opening", of, of.opening)])?;
    Ok([BOM.as_bytes(), &rows].concat())
}

pub(super) fn entries(entries: &[Entry], language: Language) -> anyhow::Result<Vec<u8>> {
    write(entries.iter().map(|entry| row(entry, language)))
}

pub(super) fn tail(of: &Statement) -> anyhow::Result<Vec<u8>> {
    write([balance("paper.closing", of, of.closing)])
}

fn write(rows: impl IntoIterator<Item = Row>) -> anyhow::Result<Vec<u8>> {
    let mut writer: Writer<Vec<u8>> =
        WriterBuilder::new().quote_style(QuoteStyle::NonNumeric).terminator(Terminator::CRLF).from_writer(Vec::new());
    rows.into_iter().try_for_each(|row| writer.write_record(row))?;
    writer.into_inner().context("cannot write a statement")
}

fn balance(name: &str, of: &Statement, balance: Money) -> Row {
    let mut row = Row::default();
    row[0] = of.day.to_string();
    row[2] = word(name, of.language).to_owned();
    row[8] = balance.to_string();
    row
}

fn row(entry: &Entry, language: Language) -> Row {
    let name = entry.payer.as_ref().map_or(&entry.beneficiary_name, |payer| &payer.name);
    let name = name.as_deref().unwrap_or(word("history.unnamed", language));
    let day = mexico_city_date(entry.created_at);
    // Mexico City's, whose day began at midnight.
    let of_day = time::Time::MIDNIGHT + (entry.created_at - mexico_city_at(day, 0));
    let (hour, minute, second) = of_day.as_hms();
    [
        day.to_string(),
        format!("{hour:02}:{minute:02}:{second:02}"),
        neutral(&word(&format!("entry.{}", kind_of(entry)), language).replace("{name}", name)),
        neutral(entry.remittance.concept.as_deref().unwrap_or_default()),
        entry.remittance.reference.map(|reference| reference.to_string()).unwrap_or_default(),
        entry.outcome.as_ref().map(|it| word(&format!("status.{it}"), language)).unwrap_or_default().to_owned(),
        entry.spei_reference.clone().unwrap_or_default(),
        entry.delta.to_string(),
        entry.balance_after.to_string(),
    ]
}

/// Spreadsheets run a text as a formula by how it starts. An apostrophe makes what follows it text; `web/bank/csv.js` does
/// the same.
fn neutral(text: &str) -> String {
    let line = text.replace(|it: char| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}'), " ");
    let is_ignored = |it: char| it.is_whitespace() || it.is_control() || is_invisible(it) || "\"'`´‘’“”".contains(it);
    let is_formula = |text: &str| text.starts_with(['=', '+', '-', '@', '\u{2212}', '＝', '＋', '－', '＠']);
    let is_risky = is_formula(text.trim_start_matches(is_ignored)) || text.starts_with(['\t', '\r', '\n']);
    let mut neutral = if is_risky { "'".to_owned() } else { String::new() };
    // The same after what another spreadsheet takes for the end of a cell.
    let mut is_cell = false;
    for (at, character) in line.char_indices() {
        if is_cell && is_formula(&line[at..]) {
            neutral.push('\'');
        }
        is_cell = ",;|:".contains(character) || is_cell && (character.is_whitespace() || "\"'".contains(character));
        neutral.push(character);
    }
    neutral
}
