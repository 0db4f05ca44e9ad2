//! Occurrences of schedules: each is sent as its owner would send it, and what became of it is recorded.
//!
//! Its idempotency key is that of the schedule and the date, so that it is sent once, however often it is tried and
//! on whichever host.

use time::{Date, Duration, OffsetDateTime};

use crate::app::App;
use crate::clock::{mexico_city_at, mexico_city_date};
use crate::db::connections::AcquireError;
use crate::db::schedules::{changes, claims};
use crate::domain::order::{Circumstances, TransferRequest};
use crate::domain::schedule::{HOUR, LATE_MAX, Occurrence, Outcome, Schedule, Status, WAITING_MAX};
use crate::domain::transfer::Transfer;
use crate::orders::{self, Answer, Draft, NotMade, Remedy};
use crate::schema::Flat;

/// How long an attempt has a schedule for itself, so that nothing is sent after its owner has read that it is skipped. A
/// request may take 60 s to ask the ledger, and the ledger may commit 95 s later what nobody waits for any longer: after
/// 15 s in the queue and twice 40 s without a primary, before its turn and in it. The rest is for clocks that differ
/// between hosts.
pub(crate) const CLAIM: Duration = Duration::seconds(180);

/// Delay before a retry after a transient failure.
const RETRY_EVERY: Duration = Duration::minutes(2);

/// What became of an attempt, as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Finished(Outcome),
    NeedsConfirmation,
    Retrying,
    Tampered,
}

impl Attempt {
    fn as_str(self) -> &'static str {
        match self {
            Self::Finished(outcome) => outcome.as_str(),
            Self::NeedsConfirmation => "waiting",
            Self::Retrying => "postponed",
            Self::Tampered => "forged",
        }
    }

    pub(crate) fn count(self, app: &App) {
        app.models.metrics().scheduled_transfers.of([self.as_str()]).inc();
    }
}

/// The latest date whose occurrences may be sent.
pub(crate) fn latest_date(now: OffsetDateTime) -> Date {
    mexico_city_date(now - Duration::hours(HOUR.into()))
}

/// From when on an occurrence of that date is no longer sent.
pub(crate) fn late_from(date: Date) -> OffsetDateTime {
    mexico_city_at(date, HOUR) + LATE_MAX
}

/// Sends the occurrence of a date, or repeats the ledger's answer to it.
pub(crate) async fn send(
    app: &App,
    schedule: &Schedule,
    date: Date,
    circumstances: Circumstances,
    acknowledgment_token: Option<String>,
) -> Answer<Transfer> {
    let request = TransferRequest { circumstances: Flat(circumstances), ..schedule.request.clone() };
    let draft = Draft { key: Some(schedule.key(date)), request, acknowledgment_token, hold_id: None, device: None };
    orders::send(app, &schedule.owner, draft).await
}

/// Records what became of a claimed occurrence.
pub(crate) async fn record(
    app: &App,
    schedule: &Schedule,
    date: Date,
    result: &Result<Transfer, NotMade>,
) -> Result<Attempt, AcquireError> {
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let (outcome, transfer_id, problem) = match result.as_ref().map_err(NotMade::remedy) {
        Ok(transfer) => (Outcome::Sent, Some(transfer.transfer_id), None),
        Err(Remedy::None(code)) => (Outcome::Refused, None, Some(code.to_owned())),
        Err(Remedy::Acknowledgment) => {
            changes::wait(&mut db, &app.key, schedule, now + WAITING_MAX, now).await?;
            return Ok(Attempt::NeedsConfirmation);
        }
        Err(remedy @ (Remedy::Patience | Remedy::Inquiry)) => {
            tracing::warn!(schedule_id = %schedule.schedule_id, ?result, "an occurrence could not be sent; will retry");
            // Unless it may have been sent, its owner may cancel meanwhile.
            claims::postpone(&mut db, schedule, now + RETRY_EVERY, remedy == Remedy::Inquiry).await?;
            return Ok(Attempt::Retrying);
        }
    };
    let over = Occurrence { date, outcome, transfer_id, problem, recorded_at: now };
    changes::record(&mut db, &app.key, schedule, over, now).await?;
    Ok(Attempt::Finished(outcome))
}

/// What a host does about a claimed schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Send(Date),
    /// Nothing is sent any more. The outcome is that of an occurrence that was not sent before, and the time from which
    /// it is; `None` to leave it as it is.
    Close(Date, Option<(Outcome, OffsetDateTime)>),
}

/// `None` if nothing is left to do.
pub(crate) fn step(schedule: &Schedule, now: OffsetDateTime) -> Option<Step> {
    let date = schedule.next_date?;
    Some(match schedule.waiting_until {
        _ if schedule.status != Status::Active => Step::Close(date, None),
        Some(until) => Step::Close(date, (until <= now).then_some((Outcome::Lapsed, until))),
        None if late_from(date) <= now => Step::Close(date, Some((Outcome::Missed, late_from(date)))),
        None => Step::Send(date),
    })
}
