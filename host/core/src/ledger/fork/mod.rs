//! Executes the sealed history again, in memory: as it was decided, or from a moment on under other rules or another risk
//! model.
//!
//! Without a candidate the fork is null: it keeps the recorded batches, ids and times, runs the rules that decided, and seals
//! what it makes, which has to be what was recorded. With a candidate everything before the moment is such a null fork, and
//! what follows goes its own way: recorded commands come at their times, and meet other balances, totals and holds.
//!
//! Nobody knows what people would have done then. A command that cannot be carried out any more is dropped. A payment that
//! only the fork makes settles at once, and a hold that only the fork has expires. Who would have been asked to acknowledge a
//! risk is taken to do so, and is counted. A refused order may have come again under another key: then the fork has both.

mod books;
mod border;
mod course;
mod days;
mod difference;
mod report;
mod run;
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use time::OffsetDateTime;
use uuid::Uuid;

use super::apply::apply;
use super::batch::{Batch, Context, NoVerdict, Policy, State, Terms};
use super::chain::Seal;
use super::command::{Command, Order, Outcome, PaymentReport, ReleaseHold};
use super::tables::{Tables as _, loads};
use super::writer::Writer;
use crate::decision::{Decision, Deployed, Role, Ruling};
use crate::domain::clabe::Clabe;
use crate::domain::model::{Digest, ModelKind};
use crate::domain::money::Money;
use crate::domain::risk::{CutOffs, Level, Request, Risk};
use crate::domain::rules::{DeployedRules, Facts, RISK_ACKNOWLEDGMENT_REQUIRED, UNKNOWN_ACCOUNT, Verdict};
use crate::domain::transfer::{RailEvent, Reason, Report as RailReport, Status};
use crate::wasm::{ScoreError, TransferRules};
use books::Books;
use border::Border;
use course::{Course, recorded_course};
use days::Days;
use difference::Made;
use tally::Tally;

pub use difference::Difference;
pub use report::{Balances, Candidate, Report};
pub use run::{Keys, run};

/// A version of the transfer rules.
pub trait Rules: Send + Sync {
    /// # Errors
    /// See [`ScoreError`].
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError>;

    /// # Errors
    /// See [`ScoreError`].
    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError>;
}

type Transitions = BTreeMap<(Status, RailEvent), Option<Status>>;

/// A component, which is asked once for each transition.
pub struct LoadedRules {
    component: TransferRules,
    transitions: Mutex<Transitions>,
}

impl From<TransferRules> for LoadedRules {
    fn from(component: TransferRules) -> Self {
        Self { component, transitions: Mutex::default() }
    }
}

impl Rules for LoadedRules {
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        self.component.rule(facts)
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        let mut known = self.transitions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = known.get(&(status, event)) {
            return Ok(*next);
        }
        let next = self.component.transition(status, event)?;
        known.insert((status, event), next);
        Ok(next)
    }
}

/// The score that a risk model gives.
pub type ScoreRisk = dyn Fn(&Request) -> Result<f64, ScoreError> + Send + Sync;

/// A batch as it was recorded.
pub struct Recorded {
    pub seal: Seal,
    /// That of its chain.
    pub stripe: i16,
    /// That decided; `None` if they are not registered.
    pub rules: Option<Arc<dyn Rules>>,
}

/// What to execute, and under what.
#[derive(Default)]
pub struct Plan {
    /// From then on the candidates decide, and what they do is counted; `None` for the beginning.
    pub from: Option<OffsetDateTime>,
    /// What comes then or later is left out.
    pub until: Option<OffsetDateTime>,
    pub rules: Option<Arc<dyn Rules>>,
    pub risk: Option<Arc<ScoreRisk>>,
}

impl Plan {
    fn is_null(&self) -> bool {
        self.rules.is_none() && self.risk.is_none()
    }
}

struct Fork {
    plan: Plan,
    books: Books,
    begun: Border,
    ended: Border,
    /// Holds that nothing recorded will end, by when they expire.
    holds: BTreeSet<(OffsetDateTime, Uuid)>,
    days: Days,
    tally: Tally,
}

/// Asks the rules, and notes who would have been asked to acknowledge a risk.
struct Judged<'a> {
    rules: Option<&'a dyn Rules>,
    /// What users sent earlier on the day of an order, as it was recorded; empty in what goes its own way.
    day_totals: BTreeMap<Uuid, Money>,
    /// Those that a candidate gives.
    levels: BTreeMap<Uuid, Level>,
    is_null: bool,
    asked: Mutex<BTreeSet<Uuid>>,
    /// Whose decisions these are.
    by: Option<Deployed>,
    decisions: Mutex<BTreeMap<Uuid, Decision>>,
}

impl Fork {
    fn new(plan: Plan) -> Self {
        let begun = plan.from.map_or(Border::Crossed, Border::at);
        let ended = plan.until.map_or(Border::Never, Border::at);
        let (books, holds, days, tally) = Default::default();
        Self { plan, books, begun, ended, holds, days, tally }
    }

    /// Executes a batch, in the order of moments. Returns what is to be as recorded: nothing of what is left out or went its
    /// own way.
    ///
    /// # Errors
    /// Why it cannot be executed.
    fn execute(&mut self, recorded: &Recorded) -> Result<Option<Made>, String> {
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
            judged.levels = self.levels(&kept, &commands);
        }
        self.books.begin(recorded.stripe, &commands, &read);
        if !is_null {
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

    /// What the candidate says to the facts that were kept, by the cut-offs that were in force.
    fn levels(&mut self, kept: &[Decision], commands: &[Command]) -> BTreeMap<Uuid, Level> {
        let Some(score) = &self.plan.risk else { return BTreeMap::new() };
        let mut levels = BTreeMap::new();
        for order in commands.iter().filter_map(Command::order) {
            let Risk::Assessed { level: before, .. } = order.risk else { continue };
            let on_risk = kept.iter().filter(|it| it.by.kind == ModelKind::Risk);
            let on_risk = on_risk.into_iter().find(|it| it.subject == order.transfer_id);
            let score = on_risk.and_then(|it| Some((it.by.cut_offs, score(&it.request()).ok()?)));
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

/// Nobody but the champion decides on transfers.
fn deployed(rules: &DeployedRules) -> Result<Deployed, String> {
    let digest = match &rules.digest[..] {
        // Only a tombstone and what is no order do without.
        [] => [0; 32],
        digest => digest.try_into().map_err(|_| "the digest of its rules is none")?,
    };
    let (kind, cut_offs) = (ModelKind::TransferRules, CutOffs::DEFAULT);
    Ok(Deployed { kind, digest: Digest(digest), epoch: rules.epoch, role: Role::Champion, cut_offs })
}

impl<'a> Judged<'a> {
    fn new(rules: Option<&'a dyn Rules>, is_null: bool) -> Self {
        let (day_totals, levels, asked, by, decisions) = Default::default();
        Self { rules, day_totals, levels, is_null, asked, by, decisions }
    }

    fn apply(&self, state: &mut State, commands: &[Command], context: &Context) -> (Batch, Vec<Outcome>) {
        let risks = commands.iter().filter_map(Command::order).map(|it| (it.transfer_id, it.risk));
        let risks: BTreeMap<_, _> = risks.collect();
        let decide = |_: &str, id: Uuid, facts: &Facts| {
            let mut facts = facts.clone();
            facts.day_total = self.day_totals.get(&id).copied().unwrap_or(facts.day_total);
            if let (Some(level), Some(Risk::Assessed { level: before, .. })) = (self.levels.get(&id), risks.get(&id)) {
                facts.risk_level = Some(*level);
                facts.acknowledged &= level <= before;
            }
            let ruling = self.ask(&facts)?;
            if let Some(by) = self.by {
                let decision = Decision::by_rules(by, id, &facts, &ruling);
                self.decisions.lock().unwrap_or_else(PoisonError::into_inner).insert(id, decision);
            }
            match ruling.verdict {
                Verdict::Rejected(it)
                    if !self.is_null && it.iter().any(|it| it.code == RISK_ACKNOWLEDGMENT_REQUIRED) =>
                {
                    self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
                    Ok(self.ask(&Facts { acknowledged: true, ..facts })?.verdict)
                }
                verdict => Ok(verdict),
            }
        };
        let transition = |status, event| {
            let next = self.rules.and_then(|rules| rules.transition(status, event).ok());
            next.ok_or(NoVerdict)
        };
        apply(state, commands, context, &Policy { decide: &decide, transition: &transition })
    }

    fn ask(&self, facts: &Facts) -> Result<Ruling, NoVerdict> {
        self.rules.and_then(|rules| rules.rule(facts).ok()).ok_or(NoVerdict)
    }

    fn is_asked(&self, order: &Order) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).contains(&order.transfer_id)
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
