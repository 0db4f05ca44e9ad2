//! `/api/ledger/accounts/{id}/statement`: what happened in an account on one day, for other programs: camt.053 of
//! ISO 20022, or CSV with the columns of the page's export.

mod camt;
mod csv;
mod summary;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use time::{Date, Duration};
use uuid::Uuid;

use self::summary::Statement;
use crate::app::App;
use crate::auth::User;
use crate::clock::mexico_city_date;
use crate::db::accounts::find_account;
use crate::db::connections::{AcquireError, Connections};
use crate::db::entries::{self as table, Entry, Span};
use crate::db::holders;
use crate::domain::accessibility::Language;
use crate::domain::text_enum;
use crate::http::assistance::scores::preferred_language;
use crate::http::error::Error;
use crate::http::extract::{PAGE_LENGTH_MAX, Parameters, PathId};
use crate::http::ledger::list::patiently;
use crate::schema::{Fields, request};

/// How long after midnight entries of the day before may still appear, and their statement is not final: a batch has the
/// time at which it was decided, and its commit is tried for several seconds.
const SETTLED_AFTER: Duration = Duration::MINUTE;

pub(crate) const CAMT: &str = "application/xml";

text_enum! {
    /// The form of a statement.
    Format {
        /// camt.053.001.08.
        Camt = "camt",
        Csv = "csv",
    }
}

request! {
    /// Which statement.
    pub(crate) struct StatementQuery {
        /// A day in Mexico City. The statement of the present day has interim balances.
        date: Date { example: "\"2026-11-21\"" },
        /// Defaults to `camt`.
        format: Option<Format> { example: "\"camt\"" },
    }
}

/// A statement to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    day: Date,
    format: Format,
}

impl Format {
    fn head(self, of: &Statement) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Camt => Ok(camt::head(of)?),
            Self::Csv => csv::head(of),
        }
    }

    fn entries(self, entries: &[Entry], language: Language) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Camt => Ok(camt::entries(entries)?),
            Self::Csv => csv::entries(entries, language),
        }
    }

    fn tail(self, of: &Statement) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Camt => Ok(camt::tail()?),
            Self::Csv => csv::tail(of),
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Camt => CAMT,
            Self::Csv => "text/csv; charset=utf-8",
        }
    }
}

/// One of the user's accounts on a day, oldest entry first.
pub(crate) async fn get_statement(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    headers: HeaderMap,
    Parameters(mut fields): Parameters,
) -> Result<Response, Error> {
    let wanted = read(&app, &mut fields);
    fields.finish()?;
    let PathId(account_id) = id?;
    answer(app, &owner, account_id, wanted, &headers).await
}

pub(crate) fn read(app: &App, fields: &mut Fields) -> Wanted {
    let StatementQuery { date: day, format } = fields.read();
    if day > mexico_city_date(app.clock.now()) {
        fields.refuse("date", "out-of-range", "is in the future");
    }
    Wanted { day, format: format.unwrap_or(Format::Camt) }
}

/// Entries are fetched a page at a time. A failure after the first page breaks the connection off, so that no truncated
/// statement looks complete.
pub(crate) async fn answer(
    app: App,
    owner: &str,
    account_id: Uuid,
    Wanted { day, format }: Wanted,
    headers: &HeaderMap,
) -> Result<Response, Error> {
    let mut db = app.db.acquire().await?;
    let account = find_account(&mut db, owner, account_id).await?.ok_or(Error::NotFound)?;
    let (begin, end) = Statement::bounds(day);
    let after = table::count_before(&mut db, account_id, begin).await?;
    let span = Span { after, up_to: table::count_before(&mut db, account_id, end).await? };
    let made_at = app.clock.now();
    let statement = Statement {
        id: app.clock.new_id(),
        holder: holders::find(&mut db, owner).await?,
        day,
        made_at,
        is_final: made_at >= end + SETTLED_AFTER,
        span,
        opening: table::balance_after(&mut db, account_id, span.after).await?,
        closing: table::balance_after(&mut db, account_id, span.up_to).await?,
        account,
        language: preferred_language(headers),
    };
    let language = statement.language;
    drop(db);
    let (pool, head) = (app.db.clone(), format.head(&statement).map_err(Error::Internal)?);
    let first = page(&pool, account_id, span).await?;
    let chunks = stream::try_unfold(Some((head, first)), move |part| {
        let pool = pool.clone();
        let (id, span, tail) = (account_id, statement.span, format.tail(&statement));
        async move {
            let Some((mut chunk, entries)) = part else { return Ok(None) };
            chunk.extend(format.entries(&entries, language)?);
            let last = entries.last().map_or(span.up_to, |entry| entry.number);
            let rest = Span { after: last, ..span };
            let next = if last < span.up_to {
                Some((Vec::new(), patiently(|| page(&pool, id, rest)).await?))
            } else {
                chunk.extend(tail?);
                None
            };
            Ok::<_, anyhow::Error>(Some((Bytes::from(chunk), next)))
        }
    });
    Ok(([(header::CONTENT_TYPE, format.content_type())], Body::from_stream(chunks)).into_response())
}

/// The first entries of a span, oldest first.
async fn page(db: &Connections, account_id: Uuid, span: Span) -> Result<Vec<Entry>, AcquireError> {
    let length = i64::from(PAGE_LENGTH_MAX);
    let span = Span { up_to: span.up_to.min(span.after + length), ..span };
    let mut entries = table::list_entries(&mut *db.acquire().await?, account_id, span, length).await?;
    entries.reverse();
    Ok(entries)
}
