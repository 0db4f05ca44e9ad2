//! Compares the orders of an operating day with the rail's list of them: when the day is over, and when an operator asks.
//!
//! What the rail alone knows, it is asked about again, order by order, as after a notice. Only a person decides on a
//! difference that this cannot settle: it becomes a case.

mod comparison;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures_util::future::join_all;
use sha2::{Digest as _, Sha256};
use time::Date;
use tokio::time::timeout;
use uuid::{Builder, Uuid};

use self::comparison::Comparison;
use super::calendar::{finished_date, operating_date, operating_dates};
use super::courier::{Courier, REPLY_TIME_MAX};
use super::{Incoming, IncomingStatus, OrderKey, Page};
use crate::db::reconciliations::difference::{Difference, Direction, Remedy};
use crate::db::reconciliations::{self, Due, Waiting};
use crate::db::session::{checked_time, within};
use crate::domain::transfer::RailName;

/// Pause between two looks for comparisons that are due.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long a comparison is claimed. One of a million orders takes less than a minute; if its host fails, it is made again
/// after this time.
const CLAIM: Duration = Duration::from_secs(600);

/// When a comparison is abandoned, so that it never ends after its claim.
const WORK_TIME_MAX: Duration = Duration::from_secs(540);

/// How far back days are requested that no host requested in time. After a longer outage an operator does.
const DAYS_BACK: time::Duration = time::Duration::days(30);

/// Longest wait for a page of the rail's list.
const PAGE_TIME_MAX: Duration = Duration::from_secs(60);

/// Inquiries at a time: as many as those of notices.
const REQUESTS: usize = 16;

impl Courier {
    pub(super) async fn reconcile(&self) {
        let mut every = tokio::time::interval(LOOK_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut requested = None;
        loop {
            every.tick().await;
            let due = match self.claim_due_day(&mut requested).await {
                Ok(Some(due)) => due,
                Ok(None) => continue,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot look for days to reconcile");
                    continue;
                }
            };
            let date = due.operating_date;
            let made = timeout(WORK_TIME_MAX, self.compare(&due)).await.context("it took too long");
            if let Err(error) = made.flatten() {
                tracing::error!(error = format!("{error:#}"), %date, "a day was not reconciled; will retry in ten minutes");
            }
        }
    }

    /// Requests the days that are over, once this host starts and after each, and claims one that is due.
    async fn claim_due_day(&self, requested: &mut Option<Date>) -> Result<Option<Due>, sqlx::Error> {
        let mut last = None;
        let claim = async |db: &mut sqlx::PgConnection| {
            let now = checked_time(db, &self.clock).await?;
            let date = finished_date(now);
            // The simulated rail has no days. What was there before the ledger is not the ledger's.
            let since = reconciliations::ledger_since(db).await?.map(operating_date);
            if self.name == RailName::Stp && *requested != Some(date) {
                let days = operating_dates(now - DAYS_BACK, now, usize::MAX).into_iter();
                for day in days.filter(|day| *day <= date && since.is_some_and(|since| since < *day)) {
                    let id = id_of(&format!("caudal day 1|{}|{day}", self.name));
                    reconciliations::request(db, id, (self.name, day), None, now).await?;
                }
            }
            last = Some(date);
            let Waiting { due_since, cases } = reconciliations::measure(db, self.name).await?;
            self.metrics.payment_cases.set(cases);
            self.metrics.reconciliation_due.set(due_since.map_or(0, time::OffsetDateTime::unix_timestamp));
            reconciliations::claim(db, self.name, (self.clock.fixed_at(), CLAIM)).await
        };
        let due = async { within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await };
        let due = self.barrier.confirmed(due).await?;
        *requested = last;
        Ok(due)
    }

    async fn compare(&self, due: &Due) -> anyhow::Result<()> {
        let (date, rail) = (due.operating_date, self.name);
        let mut comparison = Comparison::default();
        let mut db = self.db.acquire().await?;
        reconciliations::each_order(&mut db, rail, date, |line| comparison.expect(&line)).await?;
        drop(db);
        for direction in [Direction::Sent, Direction::Received] {
            for page in 0.. {
                let list = timeout(PAGE_TIME_MAX, self.rail.list(date, direction, page)).await;
                let Page { lines, is_last } = list.context("the rail did not answer in time")??;
                ensure!(is_last || !lines.is_empty(), "the rail's list has an empty page that is not its last");
                lines.into_iter().try_for_each(|line| comparison.compare(line, direction))?;
                if is_last {
                    break;
                }
            }
        }
        let mut db = self.db.acquire().await?;
        let found = reconciliations::find_orders(&mut db, rail, &comparison.strays(), &[]).await?;
        let (counts, mut differences) = comparison.finish(&found);
        let ids: Vec<Uuid> = differences.iter().filter_map(|it| it.transaction_id).collect();
        let orders = reconciliations::find_orders(&mut db, rail, &[], &ids).await?;
        let orders: BTreeMap<_, _> = orders.into_iter().map(|order| (order.transfer_id, order)).collect();
        for difference in &mut differences {
            if let Some(order) = difference.transaction_id.and_then(|id| orders.get(&id)) {
                difference.tracking_key.clone_from(&order.tracking_key);
                difference.institution = order.institution;
                difference.here.as_mut().into_iter().for_each(|here| here.payee_number.clone_from(&order.payee_number));
            }
        }
        // A pooled connection is not held while inquiries wait for others.
        drop(db);
        // Before the report: if this host fails, the next one asks again.
        let open = differences.iter().enumerate().filter(|(_, it)| it.remedy == Remedy::Inquiry);
        let open: Vec<usize> = open.map(|(place, _)| place).collect();
        for places in open.chunks(REQUESTS) {
            let settled = join_all(places.iter().map(|place| self.settle(&differences[*place], date))).await;
            for (place, is_settled) in places.iter().zip(settled) {
                if !is_settled? {
                    differences[*place].remedy = Remedy::Decision;
                }
            }
        }
        let open = differences.iter().filter(|it| it.remedy == Remedy::Decision);
        let cases: Vec<_> = open.map(|it| (case_id(rail, date, it), it)).collect();
        tracing::info!(%date, ?counts, cases = cases.len(), "a day was reconciled with the rail");
        let finish = async {
            let mut db = self.db.acquire().await?;
            let report = (&counts, &differences[..], &cases[..]);
            reconciliations::finish(&mut db, &self.key, (rail, due), report, self.clock.now()).await
        };
        ensure!(self.barrier.confirmed(finish).await?, "its claim is over");
        Ok(())
    }

    /// Does what a notice would have done: makes an inquiry about a payment due, or asks about an order to this bank and
    /// enters it. False if the rail does not confirm that order.
    async fn settle(&self, it: &Difference, operating_date: Date) -> Result<bool, sqlx::Error> {
        let tracking_key = it.tracking_key.clone();
        let Some(institution) = it.institution else {
            self.notice(&tracking_key).await?;
            return Ok(true);
        };
        let key = OrderKey { tracking_key, operating_date, institution };
        match timeout(self.work_time(), self.rail.find_incoming(&key)).await {
            Ok(Ok(Some(Incoming { order, status: IncomingStatus::Received }))) => Ok(self.receive(order).await),
            Ok(Ok(Some(Incoming { status: IncomingStatus::Returned(_), .. }))) => Ok(true),
            _ => {
                tracing::warn!(tracking_key = key.tracking_key, "the rail lists an order and does not confirm it");
                Ok(false)
            }
        }
    }
}

/// A difference that is found again is the same case.
fn case_id(rail: RailName, date: Date, it: &Difference) -> Uuid {
    let Difference { direction, finding, tracking_key, institution, there, .. } = it;
    id_of(&format!("caudal case 1|{rail}|{date}|{direction:?}|{finding:?}|{tracking_key}|{institution:?}|{there:?}"))
}

pub(super) fn id_of(text: &str) -> Uuid {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(text)[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}
