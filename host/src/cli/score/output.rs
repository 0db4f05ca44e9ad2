//! Writes responses and rejected rows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::cli::score::input::format_of;
use crate::config::RowFormat;
use crate::schema::FieldError;
use crate::scoring::Kind;

/// Most rejected rows to print.
const SHOWN_MAX: u64 = 20;

/// A file that appears under its name only once it is complete. A device or a pipe keeps its name, and is written
/// directly.
struct OutputFile {
    file: BufWriter<File>,
    draft: Option<Draft>,
}

struct Draft {
    path: PathBuf,
    target: PathBuf,
}

impl OutputFile {
    fn create(path: &Path) -> Result<Self> {
        if fs::metadata(path).is_ok_and(|it| !it.is_file()) {
            let file = OpenOptions::new().write(true).open(path);
            let file = file.with_context(|| format!("cannot write {}", path.display()))?;
            return Ok(Self { file: BufWriter::new(file), draft: None });
        }
        // A link stays, and its target is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // In the same folder, because a rename is atomic only within a file system.
        let mut name = target.file_name().context("the path of an output file needs a file name")?.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let draft = Draft { path: target.with_file_name(name), target };
        let file = OpenOptions::new().write(true).create_new(true).open(&draft.path);
        let file = file.with_context(|| format!("cannot create a file beside {}", draft.target.display()))?;
        Ok(Self { file: BufWriter::new(file), draft: Some(draft) })
    }

    fn finish(mut self) -> Result<()> {
        self.file.flush()?;
        let Some(Draft { path, target }) = &self.draft else { return Ok(()) };
        self.file.get_ref().sync_all()?;
        fs::rename(path, target).with_context(|| format!("cannot write {}", target.display()))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Fails after the rename, when there is nothing to remove.
        let _ = fs::remove_file(&self.path);
    }
}

enum Sink {
    File(OutputFile),
    Stdout(BufWriter<io::Stdout>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

pub(super) struct Output {
    sink: Sink,
    pub(super) format: RowFormat,
}

impl Output {
    /// A file, in the format of its extension or else of the input, or standard output.
    pub(super) fn open(path: Option<&Path>, input: RowFormat, columns: &[&str]) -> Result<Self> {
        let format = path.and_then(format_of).unwrap_or(input);
        let mut sink = match path {
            Some(path) => Sink::File(OutputFile::create(path)?),
            None => Sink::Stdout(BufWriter::new(io::stdout())),
        };
        if format == RowFormat::Csv {
            let mut header = csv::Writer::from_writer(&mut sink);
            header.write_record(std::iter::once(&"line").chain(columns))?;
            header.flush()?;
        }
        Ok(Self { sink, format })
    }

    pub(super) fn write(&mut self, text: &[u8]) -> Result<()> {
        Ok(self.sink.write_all(text)?)
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.sink {
            Sink::File(file) => file.finish(),
            Sink::Stdout(mut stdout) => Ok(stdout.flush()?),
        }
    }
}

/// Responses as they are written, one on a line.
pub(super) enum Lines {
    Csv(Box<csv::Writer<Vec<u8>>>),
    Ndjson(Vec<u8>),
}

#[derive(Serialize)]
struct Line<'a, R> {
    line: u64,
    #[serde(flatten)]
    response: &'a R,
}

impl Lines {
    pub(super) fn new(format: RowFormat) -> Self {
        match format {
            RowFormat::Csv => Self::Csv(Box::new(csv::Writer::from_writer(Vec::new()))),
            RowFormat::Ndjson => Self::Ndjson(Vec::new()),
        }
    }

    pub(super) fn add<K: Kind>(&mut self, line: u64, response: &K::Response) -> Result<()> {
        match self {
            Self::Csv(writer) => {
                writer.write_field(line.to_string())?;
                Ok(writer.write_record(K::columns(response).iter().map(|text| text.as_bytes()))?)
            }
            Self::Ndjson(text) => {
                serde_json::to_writer(&mut *text, &Line { line, response })?;
                text.push(b'\n');
                Ok(())
            }
        }
    }

    pub(super) fn finish(self) -> Result<Vec<u8>> {
        match self {
            Self::Csv(writer) => writer.into_inner().context("cannot write CSV"),
            Self::Ndjson(text) => Ok(text),
        }
    }
}

pub(super) struct Rejects {
    file: Option<OutputFile>,
    count: u64,
}

#[derive(Serialize)]
struct Rejected<'a> {
    line: u64,
    errors: &'a [FieldError],
}

impl Rejects {
    /// Reports rejected rows on standard error, and writes them to a file if there is one.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        Ok(Self { file: path.map(OutputFile::create).transpose()?, count: 0 })
    }

    pub(super) fn add(&mut self, line: u64, errors: &[FieldError]) -> Result<()> {
        self.count += 1;
        if self.count <= SHOWN_MAX {
            let faults: Vec<_> = errors.iter().map(|error| format!("{} {}", error.field, error.detail)).collect();
            writeln!(io::stderr(), "line {line}: {}", faults.join("; ").trim())?;
        } else if self.count == SHOWN_MAX + 1 {
            let hint = if self.file.is_some() { "" } else { " (--rejects FILE records all of them)" };
            writeln!(io::stderr(), "... more rows were rejected{hint}")?;
        }
        if let Some(OutputFile { file, .. }) = &mut self.file {
            serde_json::to_writer(&mut *file, &Rejected { line, errors })?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The number of rejected rows.
    pub(super) fn finish(self) -> Result<u64> {
        let count = self.count;
        self.file.map(OutputFile::finish).transpose()?;
        Ok(count)
    }
}
