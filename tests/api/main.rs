//! The HTTP contract, against real Postgres and the real components.
//!
//! Each test gets its own database and calls the routers in process. A refused request must not change a row of
//! any table.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod account_numbers;
mod accounts;
mod admin;
mod altered;
mod amounts;
mod analytics;
mod answer;
mod approvals;
mod assistance;
mod assistance_limits;
mod beneficiaries;
mod bulk;
mod cards;
mod client;
mod concurrency;
mod connections;
mod contract_2;
mod customers;
mod cut_offs;
mod dpop;
mod enforcement;
mod entries;
mod events;
mod evidence;
mod feed;
#[path = "../fixtures.rs"]
mod fixtures;
mod foreign;
mod freezing;
mod golden;
mod harness;
mod holds;
mod hostile;
mod hosts;
mod idempotency;
mod identity;
mod incoming;
mod incoming_drill;
mod isolation;
mod limits;
mod listeners;
mod lists;
mod log;
mod model_approvals;
mod monitoring;
mod occurrences;
mod on_us;
mod operators;
mod outcomes;
mod pages;
mod payee_checks;
mod payee_edits;
mod payments;
mod profile;
mod protocol;
mod provider;
mod published;
mod queries;
mod rails;
#[path = "../random.rs"]
mod random;
mod rates;
mod receipts;
mod recent;
mod reconciliation;
mod remittance;
mod replay;
mod reviews;
mod risk_context;
mod roles;
mod rollback;
mod rollout;
mod rollout_start;
mod rollouts;
mod rules;
mod schedules;
mod scopes;
mod served;
mod setbacks;
mod shedding;
mod signing;
mod sinks;
#[path = "../rail/stand_in.rs"]
mod stand_in;
mod statements;
mod stp;
mod stp_faults;
mod stp_hand;
#[path = "../rail/stub.rs"]
#[expect(dead_code, reason = "the tests of the rail use the rest")]
mod stub;
mod swap;
mod tls;
mod tokens;
mod traffic;
mod transactions;
mod turns;
