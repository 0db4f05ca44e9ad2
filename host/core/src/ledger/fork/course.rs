//! What became of a command, on record and in the fork.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::domain::money::Money;
use crate::domain::rules::Violation;
use crate::ledger::command::{Command, Outcome};
use crate::ledger::rows::{Rows, rejection_from_json};

/// The code of why it was not carried out; `None` if it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Course(Option<String>);

impl Course {
    fn refused(code: &str) -> Self {
        Self(Some(code.to_owned()))
    }

    fn rejected(violations: &[Violation]) -> Self {
        Self(violations.first().map(|it| it.code.clone()))
    }

    pub(super) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Rejected { violations, .. } => Self::rejected(violations),
            Outcome::Refused(refusal) => Self::refused(refusal.code()),
            Outcome::NumberTaken => Self::refused("number-taken"),
            Outcome::IdTaken => Self::refused("id-taken"),
            Outcome::HoldNotDue => Self::refused("hold-not-due"),
            Outcome::TransferNotFound => Self::refused("no-such-transfer"),
            Outcome::StatusUnchanged(_) | Outcome::Frozen { changed: false, .. } => Self::refused("unchanged"),
            Outcome::Received { is_new: false, .. } => Self::refused("known"),
            Outcome::Opened(_)
            | Outcome::Funded(_)
            | Outcome::Sent { .. }
            | Outcome::Held { .. }
            | Outcome::Released(_)
            | Outcome::Frozen { .. }
            | Outcome::StatusChanged(_)
            | Outcome::Returned
            | Outcome::Received { .. }
            | Outcome::Recovered(_) => Self(None),
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn is(&self, code: &str) -> bool {
        self.0.as_deref() == Some(code)
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("done"))
    }
}

impl Serialize for Course {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Only orders are recorded when they are refused.
pub(super) fn recorded_course(command: &Command, rows: &Rows) -> Course {
    let refusal = || {
        let order = command.order()?;
        let name = (&order.owner, order.key.as_ref()?);
        let key = rows.keys.binary_search_by(|row| (&row.owner, &row.key).cmp(&name)).ok()?;
        rejection_from_json(rows.keys[key].rejection.as_ref()?).ok()
    };
    refusal().map_or(Course(None), |violations| Course::rejected(&violations))
}

pub(super) fn kind(command: &Command) -> &'static str {
    match command {
        Command::Open(_) => "open",
        Command::Fund(_) => "fund",
        Command::Transfer(_) => "transfer",
        Command::Report(_) => "report",
        Command::Receive(_) => "receive",
        Command::Hold(_) => "hold",
        Command::Release(_) => "release",
        Command::Freeze(_) => "freeze",
        Command::Recover(_) => "recover",
    }
}

/// Of the command itself; of a report, its transfer says it.
pub(super) fn amount(command: &Command) -> Money {
    match command {
        Command::Open(open) => open.opening_credit,
        Command::Fund(fund) => fund.amount,
        Command::Receive(receive) => receive.order.amount,
        Command::Recover(recover) => recover.amount,
        _ => command.order().map_or(Money::ZERO, |order| order.amount),
    }
}

/// Names the first command that did not take its recorded course.
pub(super) fn first_change(commands: &[Command], courses: &[(Course, Course)]) -> Option<String> {
    let at = courses.iter().position(|(recorded, forked)| recorded != forked)?;
    let (kind, (recorded, forked)) = (kind(&commands[at]), &courses[at]);
    Some(format!("command {} of {}, {kind}: recorded as {recorded}, now {forked}", at + 1, commands.len()))
}
