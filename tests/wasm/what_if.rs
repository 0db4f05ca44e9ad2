//! What candidates would have decided: exactly what a planted rule hits, and nothing with the versions that decided.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::time::Instant;

use caudal::decision::{Decision, Deployed, Role};
use caudal::domain::model::ModelKind;
use caudal::domain::money::Money;
use caudal::domain::risk::CutOffs;
use caudal::domain::rules::Facts;
use caudal::models::LoadedComponent;
use caudal::replay::what_if::{Candidates, OrderDecisions, WhatIf, decide_again};
use caudal::wasm::TransferRules;
use uuid::Uuid;

use crate::built::{component, root, runtime};
use crate::tables::{RULES, built};

/// Amount in centavos of an order that the planted rule refuses, and how many there are.
const PLANTED: i64 = 77_777;
const HITS: usize = 137;

fn load(bytes: &[u8]) -> LoadedComponent {
    LoadedComponent::load(runtime(), ModelKind::TransferRules, bytes).unwrap()
}

/// An order that the rules accept.
fn facts(amount: i64) -> Facts {
    Facts {
        amount: Money::from_minor(amount),
        available: Money::from_minor(100_000_000),
        beneficiary_age_seconds: 86_400,
        local_hour: 12,
        ..Facts::default()
    }
}

/// Decisions of these rules about so many orders. Those that the planted rule would hit are spread among them.
fn orders(rules: &TransferRules, count: usize) -> Vec<OrderDecisions> {
    let digest = rules.identity().digest;
    let by =
        Deployed { kind: ModelKind::TransferRules, digest, epoch: 1, role: Role::Champion, cut_offs: CutOffs::DEFAULT };
    let order = |at: usize| {
        let is_planted = at % (count / HITS) == 7 && at / (count / HITS) < HITS;
        let facts = facts(if is_planted { PLANTED } else { (at % 50_000 + 1) as i64 });
        let subject = Uuid::from_u128(at as u128);
        let ruling = rules.rule(&facts).unwrap();
        OrderDecisions { subject, risk: None, rules: Some(Decision::by_rules(by, subject, &facts, &ruling)) }
    };
    (0..count).map(order).collect()
}

/// `CAUDAL_WHAT_IF_ORDERS` orders (20,000).
#[test]
#[expect(clippy::print_stdout, reason = "with many orders, how long it takes is what is asked")]
fn a_planted_rule_is_reported_as_what_it_hits() {
    let count = env::var("CAUDAL_WHAT_IF_ORDERS").map_or(20_000, |count| count.parse().unwrap());
    let table = fs::read_to_string(root().join(RULES)).unwrap();
    let deployed = TransferRules::load(runtime(), &component("transfer-rules")).unwrap();
    let orders = orders(&deployed, count);
    let header = table.lines().find(|line| line.starts_with("same_account")).unwrap();
    let row = |requirement: &str, parameter: &str| {
        let cells = header.split(',').map(|column| match column {
            "amount" => format!("= {PLANTED}"),
            "requirement" => requirement.to_owned(),
            "parameter" => parameter.to_owned(),
            _ => String::new(),
        });
        table.replacen(header, &format!("{header}\n{}", cells.collect::<Vec<_>>().join(",")), 1)
    };
    let candidate = |rules| Candidates { risk: None, rules: Some(rules) };
    for (requirement, parameter, is) in [("reject", "limit-exceeded", "limit-exceeded"), ("review", "", "reviewed")] {
        let planted = candidate(load(&built(requirement, &row(requirement, parameter))));
        let started = Instant::now();
        let found = decide_again(&planted, &HashMap::new(), &orders);
        println!("{count} orders decided again in {:.1?}", started.elapsed());
        let changes: Vec<_> = found.rules.changes.iter().map(|it| (&*it.was, &*it.is, it.count)).collect();
        assert_eq!(changes, [("accepted", is, HITS as u64)]);
        assert_eq!((found.rules.changes[0].amount, found.rules.failed), (PLANTED * HITS as i64, 0));
        assert!(found.rules.changes[0].subjects.iter().all(|it| it.as_u128() % (count / HITS) as u128 == 7));
    }

    // The versions that decided, and the same rules in another form.
    for same in [component("transfer-rules"), built("unchanged", &table)] {
        let found = decide_again(&candidate(load(&same)), &HashMap::new(), &orders[..orders.len() / 10]);
        assert_eq!((found.rules.different, found.rules.failed, found.rules.decisions), (0, 0, (count / 10) as u64));
    }
    assert_eq!(decide_again(&Candidates::default(), &HashMap::new(), &orders).rules, WhatIf::default().rules);
}
