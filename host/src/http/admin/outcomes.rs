//! `/admin/outcomes`: what became of orders, with a token of scope `outcomes:write`, and how decisions compare with it.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::OutcomeRecorder;
use crate::auth::reader::Reader;
use crate::clock::CLOCK_SKEW_MAX;
use crate::db::outcomes::{self as table, Recording};
use crate::domain::outcome::{OutcomeKind, SOURCE_CHARS_MAX, Statement};
use crate::http::error::Error;
use crate::http::extract::{Parameters, read_bytes};
use crate::http::ledger::accounts::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::limits::stage::REPLAYS;
use crate::http::operation::NDJSON;
use crate::models::outcomes;
use crate::models::outcomes::report::OutcomeReport;
use crate::schema::{FieldError, Fields, TextForm, answer, request};

/// Most outcomes of one request: each has an audit record, and while they are written other changes wait. A second's work.
const LINES_MAX: usize = 10_000;

/// Largest body: room for [`LINES_MAX`] lines of 400 bytes, twice the usual.
const BODY_BYTES_MAX: usize = 4 << 20;

/// Faults after which no more are looked for: enough to show a mistake that every line has.
const FAULTS_MAX: usize = 100;

/// Days of a report: all of a year that is over at each horizon.
const DAYS_DEFAULT: u32 = 455;
const DAYS_MAX: u32 = 3_650;

request! {
    /// A line of a file of outcomes.
    pub(crate) struct OutcomeRequest {
        /// The transaction or the hold; of a refused order, what its decision is about.
        subject_id: Uuid { example: ID_EXAMPLE },
        kind: OutcomeKind { example: "\"confirmed_fraud\"" },
        /// Who says so, as a short code, such as `customer`, `operator` or `chargeback`.
        source: String { chars_max: SOURCE_CHARS_MAX, form: TextForm::Visible, example: "\"chargeback\"" },
        /// When they knew.
        known_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// How many outcomes were new.
    pub(crate) struct RecordedOutcomesJson as "RecordedOutcomes" {
        recorded: usize { example: "12" },
        /// Recorded before, or twice in the file.
        repeated: usize { example: "0" },
    }
}

request! {
    /// The decisions to report on.
    pub(crate) struct OutcomeReportQuery {
        /// How far back; a year and the longest horizon by default.
        days: Option<u32> { at_least: 1.0, at_most: DAYS_MAX as f64, example: "455" },
    }
}

fn is_ndjson(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(NDJSON)
}

/// Records all lines or none; those that are recorded already are no faults.
pub(crate) async fn record_outcomes(
    State(app): State<App>,
    recorder: OutcomeRecorder,
    request: Request,
) -> Result<Json<RecordedOutcomesJson>, Error> {
    let bytes = read_bytes(request, (is_ndjson, Error::NotNdjson), BODY_BYTES_MAX).await?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let (numbers, statements) = read(&bytes, now)?;
    let subjects: Vec<_> = statements.iter().map(|it| it.subject_id).collect();
    let unknown = table::unknown(&mut db, &subjects).await?;
    let is_unknown = |(_, it): &(&usize, &Statement)| unknown.contains(&it.subject_id);
    let nobodys = numbers.iter().zip(&statements).filter(is_unknown).take(FAULTS_MAX).map(|(number, _)| {
        let detail = "names no transaction, hold or refused order";
        FieldError::new(&format!("line {number}, subject_id"), "unknown-value", detail)
    });
    check(nobodys.collect())?;
    let by = recorder.person.name;
    let recording = Recording { first_id: app.clock.new_id(), by: &by, now };
    let recorded = table::record(&mut db, &app.key, &statements, recording).await?;
    if recorded > 0 {
        audit::done(Event::OutcomesRecorded, &by, &recorded);
    }
    Ok(Json(RecordedOutcomesJson { recorded, repeated: statements.len() - recorded }))
}

fn check(faults: Vec<FieldError>) -> Result<(), Error> {
    if faults.is_empty() { Ok(()) } else { Err(Error::validation(StatusCode::UNPROCESSABLE_ENTITY, faults)) }
}

/// The numbers of the lines, and what they say. Empty lines say nothing.
fn read(bytes: &[u8], now: OffsetDateTime) -> Result<(Vec<usize>, Vec<Statement>), Error> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.trim_ascii().is_empty());
    let (mut numbers, mut statements, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (line, number) in lines {
        if statements.len() == LINES_MAX {
            let detail = format!("The file has more than {LINES_MAX} lines");
            return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "", "too-many", &detail));
        }
        let Ok(fields) = Fields::from_json(line, StatusCode::UNPROCESSABLE_ENTITY.as_u16()) else {
            faults.push(FieldError::new(&format!("line {number}"), "wrong-type", "must be a JSON object"));
            continue;
        };
        let mut fields = fields.strict();
        let OutcomeRequest { subject_id, kind, source, known_at } = fields.read();
        if known_at > now + CLOCK_SKEW_MAX {
            fields.refuse("known_at", "out-of-range", "must not be in the future");
        }
        let found = fields.into_faults().into_iter();
        faults.extend(found.map(|it| FieldError { field: format!("line {number}, {}", it.field), ..it }));
        if faults.len() >= FAULTS_MAX {
            break;
        }
        numbers.push(number);
        statements.push(Statement { subject_id, kind, source, known_at });
    }
    check(faults)?;
    if statements.is_empty() {
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "", "required", "The file has no outcome"));
    }
    Ok((numbers, statements))
}

/// How the decisions on risks compare with what became of their orders.
pub(crate) async fn report_outcomes(
    State(app): State<App>,
    reader: Reader,
    Parameters(mut fields): Parameters,
) -> Result<Json<OutcomeReport>, Error> {
    reader.may_replay()?;
    let OutcomeReportQuery { days } = fields.read();
    fields.finish()?;
    // Like a replay it reads many decisions.
    let _turn = app.replays.try_acquire().map_err(|_| Error::Shed(REPLAYS))?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let since = now - Duration::days(days.unwrap_or(DAYS_DEFAULT).into());
    Ok(Json(outcomes::report(&mut db, since, now).await?))
}
