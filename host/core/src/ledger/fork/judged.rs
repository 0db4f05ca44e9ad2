//! The verdicts of a fork.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use super::plan::Rules;
use crate::decision::{Decision, Deployed, Role, Ruling};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::money::Money;
use crate::domain::risk::{CutOffs, Level, Risk};
use crate::domain::rules::{DeployedRules, Facts, RISK_ACKNOWLEDGMENT_REQUIRED, Verdict};
use crate::ledger::apply::apply;
use crate::ledger::batch::{Batch, Context, NoVerdict, Policy, State};
use crate::ledger::command::{Command, Order, Outcome};

/// Asks the rules, and notes who would have been asked to acknowledge a risk.
pub(super) struct Judged<'a> {
    rules: Option<&'a dyn Rules>,
    /// What users sent earlier on the day of an order, as it was recorded; empty in what goes its own way.
    pub(super) day_totals: BTreeMap<Uuid, Money>,
    /// Those that a candidate gives.
    pub(super) levels: BTreeMap<Uuid, Level>,
    is_null: bool,
    /// Orders that a person decided on, on record. What only a candidate wants to be reviewed is released.
    pub(super) reviewed: BTreeSet<Uuid>,
    asked: Mutex<BTreeSet<Uuid>>,
    /// Whose decisions these are.
    pub(super) by: Option<Deployed>,
    pub(super) decisions: Mutex<BTreeMap<Uuid, Decision>>,
}

/// Nobody but the champion decides on transfers.
pub(super) fn deployed(rules: &DeployedRules) -> Result<Deployed, String> {
    let digest = match &rules.digest[..] {
        // Only a tombstone and what is no order do without.
        [] => [0; 32],
        digest => digest.try_into().map_err(|_| "the digest of its rules is none")?,
    };
    let (kind, cut_offs) = (ModelKind::TransferRules, CutOffs::DEFAULT);
    Ok(Deployed { kind, digest: Digest(digest), epoch: rules.epoch, role: Role::Champion, cut_offs })
}

impl<'a> Judged<'a> {
    pub(super) fn new(rules: Option<&'a dyn Rules>, is_null: bool) -> Self {
        let (day_totals, levels, reviewed, asked, by, decisions) = Default::default();
        Self { rules, day_totals, levels, is_null, reviewed, asked, by, decisions }
    }

    pub(super) fn apply(&self, state: &mut State, commands: &[Command], context: &Context) -> (Batch, Vec<Outcome>) {
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
            let verdict = match ruling.verdict {
                Verdict::Rejected(it)
                    if !self.is_null && it.iter().any(|it| it.code == RISK_ACKNOWLEDGMENT_REQUIRED) =>
                {
                    self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
                    self.ask(&Facts { acknowledged: true, ..facts })?.verdict
                }
                verdict => verdict,
            };
            Ok(match verdict {
                Verdict::Reviewed if !self.is_null && !self.reviewed.contains(&id) => Verdict::Accepted,
                verdict => verdict,
            })
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

    pub(super) fn is_asked(&self, order: &Order) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).contains(&order.transfer_id)
    }
}
