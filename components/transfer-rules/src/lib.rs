//! The transfer rules as a component: converts between the WIT types and [`caudal_model::rules`].
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::string::String;

use caudal_model::rules;

use bindings::exports::caudal::scoring::model;
use bindings::exports::caudal::scoring::transfer_rules::{Facts, Guest, Verdict, Violation};

caudal_guest::bindings!("../../wit", "transfer-policy");

struct Component;

impl model::Guest for Component {
    fn describe() -> model::Description {
        model::Description {
            kind: "transfer-rules".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary:
                "Refuses transfers to the same account, beyond funds or limits, too soon, or at unacknowledged risk."
                    .into(),
        }
    }
}

impl Guest for Component {
    fn decide(facts: Facts) -> Verdict {
        let verdict = rules::decide(&rules::Facts {
            amount: facts.amount,
            available: facts.available,
            day_total: facts.day_total,
            per_transfer_limit: facts.per_transfer_limit,
            per_day_limit: facts.per_day_limit,
            beneficiary_age_seconds: facts.beneficiary_age_seconds,
            cooling_seconds: facts.cooling_seconds,
            same_account: facts.same_account,
            local_hour: facts.local_hour,
            risk_level: facts.risk_level.as_deref(),
            acknowledged: facts.acknowledged,
        });
        let violation = |broken: rules::Violation| Violation { code: broken.code.into(), detail: broken.detail };
        match verdict {
            rules::Verdict::Accepted => Verdict::Accepted,
            rules::Verdict::Rejected(broken) => Verdict::Rejected(broken.into_iter().map(violation).collect()),
        }
    }

    fn transition(status: String, event: String) -> Option<String> {
        rules::transition(&status, &event).map(Into::into)
    }
}
