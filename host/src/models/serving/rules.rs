//! A version of the transfer rules, with what it does counted.

use std::time::Instant;

use crate::domain::rules::{Facts, Verdict};
use crate::models::observing::traffic::Traffic;
use crate::wasm::{ScoreError, TransferRules};

pub struct Rules {
    pub(crate) component: TransferRules,
    pub(crate) traffic: Traffic,
}

impl Rules {
    pub(crate) fn new(component: TransferRules) -> Self {
        Self { component, traffic: Traffic::default() }
    }

    pub(crate) fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        let start = Instant::now();
        let verdict = self.component.decide(facts);
        match &verdict {
            Ok(verdict) => self.traffic.answer(Some(verdict.class()), start.elapsed()),
            Err(error) => self.traffic.fail(error),
        }
        verdict
    }
}
