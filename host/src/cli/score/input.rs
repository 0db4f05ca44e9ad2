//! Reads the rows of a file as fields of a request, with the line that each starts on.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail};

use crate::config::RowFormat;
use crate::http::limits::BODY_BYTES_MAX;
use crate::schema::{Columns, FieldError, Fields};

/// Bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// One row, or what is wrong with it.
pub(super) struct Row {
    /// From 1.
    pub(super) line: u64,
    pub(super) fields: Result<Fields, Vec<FieldError>>,
}

/// Rows that are scored together.
pub(super) struct Batch {
    pub(super) rows: Vec<Row>,
    /// Bytes of the input that were read for it and those before it.
    pub(super) read: u64,
}

/// A file of rows.
pub(super) struct Input {
    rows: Rows,
    pub(super) format: RowFormat,
    /// `None` unless the input is a regular file.
    pub(super) bytes: Option<u64>,
    read: Arc<AtomicU64>,
}

enum Rows {
    Ndjson { reader: BufReader<Counted>, line: u64 },
    Csv { reader: csv::Reader<Counted>, columns: Columns, record: csv::StringRecord },
}

/// A reader that counts its bytes.
struct Counted {
    from: Box<dyn Read>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.from.read(buffer)?;
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// The format that a file's extension implies.
pub(super) fn format_of(path: &Path) -> Option<RowFormat> {
    match path.extension()?.to_str()? {
        "ndjson" | "jsonl" => Some(RowFormat::Ndjson),
        "csv" => Some(RowFormat::Csv),
        _ => None,
    }
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &Path, format: Option<RowFormat>) -> Result<Self> {
        let Some(format) = format.or_else(|| format_of(path)) else {
            bail!("the name of {} does not end in .ndjson or .csv: set --format", path.display());
        };
        let read = Arc::new(AtomicU64::new(0));
        let (from, bytes): (Box<dyn Read>, _) = if path == Path::new("-") {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            let bytes = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
            (Box::new(file), bytes)
        };
        let from = Counted { from, read: read.clone() };
        let rows = match format {
            RowFormat::Ndjson => Rows::Ndjson { reader: BufReader::with_capacity(BUFFER_BYTES, from), line: 0 },
            RowFormat::Csv => {
                let mut reader =
                    csv::ReaderBuilder::new().flexible(true).buffer_capacity(BUFFER_BYTES).from_reader(from);
                let header = reader.headers().context("the first line must name the columns")?;
                let columns = Columns::new(header.iter().map(|name| name.trim_start_matches('\u{feff}').trim()));
                Rows::Csv { reader, columns, record: csv::StringRecord::new() }
            }
        };
        Ok(Self { rows, format, bytes, read })
    }

    /// The columns that a CSV header names.
    pub(super) fn columns(&self) -> Option<&Columns> {
        match &self.rows {
            Rows::Ndjson { .. } => None,
            Rows::Csv { columns, .. } => Some(columns),
        }
    }

    /// The next rows, at most this many; `None` at the end.
    pub(super) fn next_batch(&mut self, rows_max: usize) -> Result<Option<Batch>> {
        let mut rows = Vec::with_capacity(rows_max);
        while rows.len() < rows_max
            && let Some(row) = self.next_row()?
        {
            rows.push(row);
        }
        let read = self.read.load(Ordering::Relaxed);
        Ok((!rows.is_empty()).then_some(Batch { rows, read }))
    }

    /// The next row, or `None` at the end. Skips blank lines.
    fn next_row(&mut self) -> Result<Option<Row>> {
        match &mut self.rows {
            Rows::Ndjson { reader, line } => next_object(reader, line).context("cannot read the input"),
            Rows::Csv { reader, columns, record } => {
                next_record(reader, columns, record).context("cannot read the input")
            }
        }
    }
}

/// What is wrong with a row as a whole.
fn fault(code: &'static str, detail: impl Into<String>) -> Vec<FieldError> {
    vec![FieldError { field: String::new(), code: code.into(), detail: detail.into() }]
}

fn next_object(reader: &mut impl BufRead, line: &mut u64) -> io::Result<Option<Row>> {
    loop {
        // One byte over the limit tells an overlong line from one of the maximum length.
        let mut text = Vec::new();
        let limit = BODY_BYTES_MAX as u64 + 1;
        if reader.by_ref().take(limit).read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        *line += 1;
        if text.len() > BODY_BYTES_MAX && !text.ends_with(b"\n") {
            reader.skip_until(b'\n')?;
            let detail = format!("the line is longer than {BODY_BYTES_MAX} bytes");
            return Ok(Some(Row { line: *line, fields: Err(fault("too-long", detail)) }));
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let fields = Fields::from_row(text);
        let fields = fields.map_err(|error| fault("malformed-json", format!("the line is not a JSON object: {error}")));
        return Ok(Some(Row { line: *line, fields }));
    }
}

/// Empty values count as absent. `TRUE`, as spreadsheets write it, counts as `true`.
fn next_record(
    reader: &mut csv::Reader<Counted>,
    columns: &Columns,
    record: &mut csv::StringRecord,
) -> Result<Option<Row>> {
    let line = reader.position().line();
    match reader.read_record(record) {
        Ok(false) => return Ok(None),
        Ok(true) => {}
        Err(error) if error.is_io_error() => return Err(error.into()),
        Err(error) => return Ok(Some(Row { line, fields: Err(fault("malformed-csv", error.to_string())) })),
    }
    let line = record.position().map_or(line, csv::Position::line);
    if record.len() != columns.count() {
        let detail = format!("the row has {} values, the header {}", record.len(), columns.count());
        return Ok(Some(Row { line, fields: Err(fault("malformed-csv", detail)) }));
    }
    let values = record.iter().map(|text| Some(value(text)).filter(|text| !text.is_empty()));
    Ok(Some(Row { line, fields: Ok(Fields::from_columns(columns, values)) }))
}

fn value(text: &str) -> &str {
    match text.trim() {
        yes if yes.eq_ignore_ascii_case("true") => "true",
        no if no.eq_ignore_ascii_case("false") => "false",
        text => text,
    }
}
