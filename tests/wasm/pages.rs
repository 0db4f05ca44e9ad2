//! A decision fits in the one page of memory with which its instance starts. Growing works, but every
//! decision would have to clear more than a page.

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, ResourceLimiter, Store};

use crate::built::component;

mod risk {
    wasmtime::component::bindgen!({ path: "../wit", world: "risk-scorer" });
}
mod nudge {
    wasmtime::component::bindgen!({ path: "../wit", world: "nudge-scorer" });
}
mod accessibility {
    wasmtime::component::bindgen!({ path: "../wit", world: "accessibility-scorer" });
}

const PAGE: usize = 64 << 10;

/// Maximum memory of an instance.
struct Peak(usize);

impl ResourceLimiter for Peak {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.0 = self.0.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

/// Maximum memory of a call in its own instance.
fn peak<T>(name: &str, call: impl Fn(&mut Store<Peak>, &Component, &Linker<Peak>) -> T) -> (usize, T) {
    // As in the host: no collector is compiled in.
    let engine = Engine::new(Config::new().gc_support(false)).unwrap();
    let component = Component::from_binary(&engine, &component(name)).unwrap();
    let mut store = Store::new(&engine, Peak(0));
    store.limiter(|peak| peak);
    let answer = call(&mut store, &component, &Linker::new(&engine));
    (store.data().0, answer)
}

#[test]
fn a_transfer_with_every_factor_fits_one_page() {
    use risk::exports::caudal::scoring::risk::Request;
    let request = Request {
        amount: 9000.0,
        is_new_beneficiary: true,
        hour_of_day: 3,
        num_past_transactions: 1,
        avg_transaction_amount: 100.0,
        max_transaction_amount: 200.0,
        num_transactions_to_beneficiary: 0,
        is_new_device: true,
        geolocation_changed: true,
        beneficiary_saved_minutes: Some(2000),
    };
    for name in ["risk", "risk-1"] {
        let (bytes, answer) = peak(name, |store, component, linker| {
            let scorer = risk::RiskScorer::instantiate(&mut *store, component, linker).unwrap();
            scorer.caudal_scoring_risk().call_assess(store, request).unwrap().unwrap()
        });
        assert_eq!(answer.factors.len(), 6);
        assert_eq!(bytes, PAGE, "{name}");
    }
    // The rows of a batch stay in memory until its end, so memory has to grow.
    let (bytes, answers) = peak("risk", |store, component, linker| {
        let scorer = risk::RiskScorer::instantiate(&mut *store, component, linker).unwrap();
        scorer.caudal_scoring_risk().call_assess_batch(store, &vec![request; 256]).unwrap()
    });
    assert_eq!(answers.len(), 256);
    assert!(bytes > PAGE && bytes < 4 << 20, "{bytes} bytes for a batch");
}

#[test]
fn a_visit_to_the_longest_screen_fits_one_page() {
    use nudge::exports::caudal::scoring::nudge::Request;
    let request = Request {
        // 64 characters of four bytes each, the maximum of the API.
        screen: "🦀".repeat(64),
        num_validation_errors: u32::MAX,
        time_on_screen_seconds: u32::MAX,
        num_back_navigations: u32::MAX,
        steps_total: u32::MAX,
        current_step: 1,
    };
    let (bytes, _) = peak("nudge", |store, component, linker| {
        let scorer = nudge::NudgeScorer::instantiate(&mut *store, component, linker).unwrap();
        scorer.caudal_scoring_nudge().call_assess(store, &request).unwrap().unwrap()
    });
    assert_eq!(bytes, PAGE);
}

#[test]
fn the_longest_explanation_fits_one_page() {
    use accessibility::exports::caudal::scoring::accessibility::{AgeRange, AppConfidence, Language, Request};
    let request = Request {
        can_read_small_text: true,
        uses_screen_reader: false,
        feels_confident_with_apps: AppConfidence::Low,
        age_range: AgeRange::Over60,
        avg_time_per_screen_seconds: 500,
        total_validation_errors: 9,
        requested_help_count: 9,
        behaviour_observed: true,
        language: Language::EsMx,
    };
    let (bytes, answer) = peak("accessibility", |store, component, linker| {
        let scorer = accessibility::AccessibilityScorer::instantiate(&mut *store, component, linker).unwrap();
        scorer.caudal_scoring_accessibility().call_assess(store, request).unwrap().unwrap()
    });
    assert!(answer.explanation.len() >= 5, "{:?}", answer.explanation);
    assert_eq!(bytes, PAGE);
}
