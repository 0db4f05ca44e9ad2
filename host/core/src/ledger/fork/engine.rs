//! Executes one batch after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use time::OffsetDateTime;
use uuid::Uuid;

use super::books::Books;
use super::border::{self, Border};
use super::course::{self, Course, recorded_course};
use super::days::Days;
use super::difference::Made;
use super::judged::{Judged, deployed};
use super::plan::{Plan, Recorded, Rules};
use super::recent::Recent;
use super::tally::Tally;
use crate::decision::Decision;
use crate::domain::clabe::Clabe;
use crate::domain::model::ModelKind;
use crate::domain::risk::{Level, Risk};
use crate::domain::rules::UNKNOWN_ACCOUNT;
use crate::domain::transfer::{Reason, Report as RailReport, Status};
use crate::ledger::batch::{Context, State, Terms};
use crate::ledger::command::{Command, Outcome, PaymentReport, ReleaseHold};
use crate::ledger::tables::{Tables as _, loads};
use crate::ledger::writer::Writer;

pub(super) struct Fork {
    plan: Plan,
    pub(super) books: Books,
    begun: Border,
    ended: Border,
    /// Holds that nothing recorded will end, by when they expire.
    holds: BTreeSet<(OffsetDateTime, Uuid)>,
    days: Days,
    recent: Recent,
    pub(super) tally: Tally,
}

impl Fork {
    pub(super) fn new(plan: Plan) -> Self {
        let begun = plan.from.map_or(Border::Crossed, Border::at);
        let ended = plan.until.map_or(Border::Never, Border::at);
        let (books, holds, days, recent, tally) = Default::default();
        Self { plan, books, begun, ended, holds, days, recent, tally }
    }

    /// Executes a batch, in the order of moments. Returns what is to be as recorded: nothing of what is left out or went its
    /// own way.
    ///
    /// # Errors
    /// Why it cannot be executed.
    pub(super) fn execute(&mut self, recorded: &Recorded) -> Result<Option<Made>, String> {
        let header = &recorded.seal.header;
        let (terms, decided) = match recorded.seal.decided() {
            Some(decided) => decided,
            // Of a tombstone.
            None if header.commands.is_empty() => (Terms::default(), Vec::new()),
            None => return Err("its commands do not belong to its rows".to_owned()),
        };
        let kept = recorded.seal.decisions().ok_or("its decisions cannot be read")?;
        let (mut commands, read): (Vec<_>, Vec<_>) = decided.into_iter().map(|it| (it.command, it.read)).unzip();
        let touched = border::touched(recorded, &commands);
        if self.ended.is_crossed(header.created_at, &touched) {
            return Ok(None);
        }
        let is_counted = self.begun.is_crossed(header.created_at, &touched);
        let is_null = self.plan.is_null() || !is_counted;
        let rules = self.plan.rules.as_ref().filter(|_| !is_null).or(recorded.rules.as_ref()).cloned();
        if rules.is_none() && commands.iter().any(|command| command.order().is_some()) {
            return Err(format!("the rules that decided it are not registered: {}", hex::encode(&header.rules.digest)));
        }
        let context = Context { now: header.created_at, stripe: recorded.stripe, terms };
        let (chain_id, next_seq, head, holder) = (header.chain_id, header.seq, header.prev_hash, Uuid::nil());
        let writer = Writer { chain_id, stripe: recorded.stripe, next_seq, head, holder };
        let mut judged = Judged::new(rules.as_deref(), is_null);
        if is_null {
            judged.by = Some(deployed(&header.rules)?);
            commands.iter_mut().for_each(|command| command.rest_on(&kept));
            let orders = commands.iter().map(Command::order).zip(&read);
            let orders = orders.filter_map(|(order, read)| Some((order?.transfer_id, read.as_ref()?.day_total)));
            judged.day_totals = orders.collect();
        } else {
            let reviewed = recorded.seal.rows.transfers.iter().filter(|it| it.reviewed);
            judged.reviewed = reviewed.map(|it| it.transfer_id).collect();
        }
        self.books.begin(recorded.stripe, &commands, &read);
        if !is_null {
            judged.levels = self.levels(&kept, &commands, context.now);
            self.expire(&writer, &context, rules.as_deref());
        }
        let mut state = self.state(&commands, &writer, &context);
        if !is_null {
            self.days.complete(&mut state, &commands, &read, (&self.books, &context));
        }
        forget_unissued(&mut state, recorded, &commands);
        let (mut batch, outcomes) = judged.apply(&mut state, &commands, &context);
        batch.keep(std::mem::take(judged.decisions.get_mut().unwrap_or_else(PoisonError::into_inner)));
        batch.rules = header.rules.clone();
        for (order, read) in batch.commands.iter_mut().filter_map(|it| Some((it.command.order()?, it.read.as_mut()?))) {
            read.day_total = judged.day_totals.get(&order.transfer_id).copied().unwrap_or(read.day_total);
        }
        self.books.write(&batch);
        let courses = commands.iter().zip(&outcomes);
        let courses: Vec<_> =
            courses.map(|(it, outcome)| (recorded_course(it, &recorded.seal.rows), Course::of(outcome))).collect();
        self.tally.add(recorded, (&commands, &courses), &judged, (&self.books, &context), is_counted);
        if is_null {
            return Ok(Some(Made { batch, context, writer, changed: course::first_change(&commands, &courses) }));
        }
        self.days.note(recorded, &commands, &courses, (&self.books, &context));
        self.recent.note(recorded, &commands, (&outcomes, &courses), (&self.books, &context));
        self.conclude(&commands, &outcomes, &courses, (&writer, &context), rules.as_deref());
        Ok(None)
    }

    fn state(&self, commands: &[Command], writer: &Writer, context: &Context) -> State {
        let mut state = State::default();
        loads().iter().for_each(|load| load(&self.books, commands, writer, context, &mut state));
        state
    }

    /// Carries out what follows from the fork alone, and is not on record.
    fn follow(&mut self, commands: &[Command], writer: &Writer, context: &Context, rules: Option<&dyn Rules>) {
        if !commands.is_empty() {
            let mut state = self.state(commands, writer, context);
            let (batch, _) = Judged::new(rules, true).apply(&mut state, commands, context);
            self.books.write(&batch);
        }
    }

    /// Settles payments that only the fork makes, and remembers the holds that nothing recorded ends.
    fn conclude(
        &mut self,
        commands: &[Command],
        outcomes: &[Outcome],
        courses: &[(Course, Course)],
        (writer, context): (&Writer, &Context),
        rules: Option<&dyn Rules>,
    ) {
        let mut settled = Vec::new();
        for ((command, outcome), (recorded, forked)) in commands.iter().zip(outcomes).zip(courses) {
            match outcome {
                Outcome::Sent { transfer, .. } if recorded.is_refused() && transfer.status == Status::Pending => {
                    settled.push(Command::Report(PaymentReport {
                        transfer_id: transfer.transfer_id,
                        account_id: transfer.from_account_id,
                        payee_account_id: None,
                        report: RailReport::Settled,
                        reason: None,
                        return_id: Uuid::nil(),
                        by_hand: None,
                    }));
                }
                Outcome::Held { hold, .. } if recorded.is_refused() => {
                    self.holds.insert((hold.expires_at, hold.hold_id));
                }
                _ if forked.is_refused() && !recorded.is_refused() => {
                    let hold = command.hold_id().and_then(|id| self.books.hold(id));
                    self.holds.extend(hold.map(|it| (it.hold.expires_at, it.hold.hold_id)));
                }
                _ => {}
            }
        }
        self.follow(&settled, writer, context, rules);
    }

    fn expire(&mut self, writer: &Writer, context: &Context, rules: Option<&dyn Rules>) {
        let mut due = Vec::new();
        while let Some(first) = self.holds.first().copied().filter(|(expires_at, _)| *expires_at <= context.now) {
            self.holds.remove(&first);
            let release = |account_id| ReleaseHold { hold_id: first.1, account_id, owner: None };
            due.extend(self.books.hold(first.1).map(|it| Command::Release(release(it.hold.account_id))));
        }
        self.follow(&due, writer, context, rules);
    }

    /// What the candidate says to the facts, by the cut-offs that were in force.
    fn levels(&mut self, kept: &[Decision], commands: &[Command], now: OffsetDateTime) -> BTreeMap<Uuid, Level> {
        let Some(score) = &self.plan.risk else { return BTreeMap::new() };
        let mut levels = BTreeMap::new();
        for order in commands.iter().filter_map(Command::order) {
            let Risk::Assessed { level: before, .. } = order.risk else { continue };
            let on_risk = kept.iter().filter(|it| it.by.kind == ModelKind::Risk && it.is_own());
            let on_risk = on_risk.into_iter().find(|it| it.subject == order.transfer_id);
            let score = on_risk.and_then(|it| {
                Some((it.by.cut_offs, score(&self.recent.ask(it.request(), order, &self.books, now)).ok()?))
            });
            let Some((cut_offs, score)) = score else {
                self.tally.unscored += 1;
                continue;
            };
            let level = cut_offs.level(score);
            levels.insert(order.transfer_id, level);
            self.tally.leveled(before, level, order.amount);
        }
        levels
    }
}

/// An order does not rest on an account that nobody has yet, so in the order of moments that may have been opened before.
fn forget_unissued(state: &mut State, recorded: &Recorded, commands: &[Command]) {
    let rows = &recorded.seal.rows;
    for command in commands {
        let number = match command {
            Command::Receive(receive) => {
                let status = rows.statuses.iter().find(|it| it.transfer_id == receive.order.transfer_id());
                let reason = status.and_then(|it| it.reason.as_deref()).and_then(Reason::parse);
                Some(&receive.order.payee_number).filter(|_| reason == Some(Reason::NO_SUCH_ACCOUNT))
            }
            Command::Transfer(order) if recorded_course(command, rows).is(UNKNOWN_ACCOUNT) => {
                state.payees.get(&order.to_beneficiary_id).map(|payee| &payee.number)
            }
            _ => None,
        };
        if let Some(number) = number.and_then(|number| Clabe::read(number)) {
            state.issued.remove(&number);
        }
    }
}
