//! Results and refusals on their way out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::cli::score::input::format_of;
use crate::cli::scorers::Answer;
use crate::config::RowFormat;
use crate::schema::FieldError;

/// Refused rows that are told on the terminal; a file takes them all.
const TOLD_MAX: u64 = 20;

/// A file that appears under its name only when it is whole.
struct Whole {
    file: BufWriter<File>,
    /// Where it is written.
    beside: PathBuf,
    /// Where it will be.
    path: PathBuf,
}

impl Whole {
    fn create(path: &Path) -> Result<Self> {
        // In the same folder, since a rename is atomic only within a file system.
        let mut name = path.file_name().context("a file to write needs a name")?.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&beside);
        let file = file.with_context(|| format!("cannot write beside {}", path.display()))?;
        Ok(Self { file: BufWriter::new(file), beside, path: path.to_owned() })
    }

    fn finish(mut self) -> Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.beside, &self.path).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // After a rename there is nothing of this name any more.
        let _ = fs::remove_file(&self.beside);
    }
}

enum Sink {
    File(Whole),
    Stdout(BufWriter<io::Stdout>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(whole) => whole.file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(whole) => whole.file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// Where results go.
pub(super) struct Output {
    sink: Sink,
    format: RowFormat,
}

#[derive(Serialize)]
struct Line<'a, J> {
    line: u64,
    #[serde(flatten)]
    answer: &'a J,
}

impl Output {
    /// A file, in the format that its name tells or else the input's; or standard output.
    pub(super) fn open(path: Option<&Path>, input: RowFormat, columns: &[&str]) -> Result<Self> {
        let format = path.and_then(format_of).unwrap_or(input);
        let sink = match path {
            Some(path) => Sink::File(Whole::create(path)?),
            None => Sink::Stdout(BufWriter::new(io::stdout())),
        };
        let mut output = Self { sink, format };
        if format == RowFormat::Csv {
            output.record(std::iter::once("line").chain(columns.iter().copied()))?;
        }
        Ok(output)
    }

    /// Writes one result.
    pub(super) fn write<J: Serialize>(&mut self, line: u64, answer: &Answer<J>) -> Result<()> {
        match self.format {
            RowFormat::Csv => {
                let line = line.to_string();
                self.record(std::iter::once(line.as_str()).chain(answer.columns.iter().map(String::as_str)))
            }
            RowFormat::Ndjson => {
                serde_json::to_writer(&mut self.sink, &Line { line, answer: &answer.json })?;
                Ok(self.sink.write_all(b"\n")?)
            }
        }
    }

    fn record<'a>(&mut self, values: impl Iterator<Item = &'a str>) -> Result<()> {
        // A writer of its own for each record: it holds nothing back.
        let mut writer = csv::WriterBuilder::new().buffer_capacity(1 << 10).from_writer(&mut self.sink);
        writer.write_record(values)?;
        Ok(writer.flush()?)
    }

    /// Puts the file in place.
    pub(super) fn finish(self) -> Result<()> {
        match self.sink {
            Sink::File(whole) => whole.finish(),
            Sink::Stdout(mut stdout) => Ok(stdout.flush()?),
        }
    }
}

/// Where refused rows go.
pub(super) struct Rejects {
    file: Option<Whole>,
    count: u64,
}

#[derive(Serialize)]
struct Rejected<'a> {
    line: u64,
    errors: &'a [FieldError],
}

impl Rejects {
    /// Tells them on standard error, and writes them to a file if there is one.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        Ok(Self { file: path.map(Whole::create).transpose()?, count: 0 })
    }

    /// One refused row.
    pub(super) fn add(&mut self, line: u64, errors: &[FieldError]) -> Result<()> {
        self.count += 1;
        if self.count <= TOLD_MAX {
            let told: Vec<_> = errors.iter().map(|error| format!("{} {}", error.field, error.detail)).collect();
            writeln!(io::stderr(), "line {line}: {}", told.join("; ").trim())?;
        } else if self.count == TOLD_MAX + 1 {
            let hint = if self.file.is_some() { "" } else { " (--rejects FILE keeps them all)" };
            writeln!(io::stderr(), "... more rows are refused{hint}")?;
        }
        if let Some(whole) = &mut self.file {
            serde_json::to_writer(&mut whole.file, &Rejected { line, errors })?;
            whole.file.write_all(b"\n")?;
        }
        Ok(())
    }

    /// How many there were.
    pub(super) fn finish(self) -> Result<u64> {
        let count = self.count;
        self.file.map(Whole::finish).transpose()?;
        Ok(count)
    }
}
