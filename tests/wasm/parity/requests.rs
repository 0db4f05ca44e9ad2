//! Requests for components and for native code, including implausible ones.

use caudal::domain::accessibility::{self as a11y, AgeRange, AppConfidence, Language};
use caudal::domain::money::Money;
use caudal::domain::{nudge, risk, rules};
use caudal_model as native;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Amounts in MXN: mostly plausible, often extreme, sometimes invalid.
fn mxn() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.0..200_000.0,
        2 => (0..100_000_000_u32).prop_map(|centavos| f64::from(centavos) / 100.0),
        2 => any::<u64>().prop_map(|bits| f64::from_bits(bits >> 1)),
        3 => select(vec![0.0, -0.0, 5e-324, f64::MIN_POSITIVE, 0.01, 1.0, 1.0_f64.next_up(), 1e300, f64::MAX]),
        1 => select(vec![-1.0, -5e-324, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..20_u32, 2 => 0..2000_u32, 1 => any::<u32>(), 1 => select(vec![0, 1, u32::MAX - 1, u32::MAX])]
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    select(all)
}

pub(super) fn risk() -> impl Strategy<Value = risk::Request> {
    let hour = prop_oneof![20 => 0..24_u8, 1 => any::<u8>()];
    let history = (count(), mxn(), mxn(), count());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (mxn(), hour, history, flags, option::of(count())).prop_map(|(amount, hour_of_day, history, flags, saved)| {
        risk::Request {
            amount,
            is_new_beneficiary: flags.0,
            hour_of_day,
            num_past_transactions: history.0,
            avg_transaction_amount: history.1,
            max_transaction_amount: history.2,
            num_transactions_to_beneficiary: history.3,
            is_new_device: flags.1,
            geolocation_changed: flags.2,
            beneficiary_saved_minutes: saved,
            ..risk::Request::default()
        }
    })
}

pub(super) fn native_risk(request: &risk::Request) -> native::risk::Request {
    native::risk::Request {
        amount: request.amount,
        is_new_beneficiary: request.is_new_beneficiary,
        hour_of_day: request.hour_of_day,
        num_past_transactions: request.num_past_transactions,
        avg_transaction_amount: request.avg_transaction_amount,
        max_transaction_amount: request.max_transaction_amount,
        num_transactions_to_beneficiary: request.num_transactions_to_beneficiary,
        is_new_device: request.is_new_device,
        geolocation_changed: request.geolocation_changed,
        beneficiary_saved_minutes: request.beneficiary_saved_minutes,
    }
}

pub(super) fn nudge() -> impl Strategy<Value = nudge::Request> {
    let known = select(vec!["login", "Amount_Confirm", "beneficiary", "AMOUNT", ""]).prop_map(str::to_owned);
    // The longest exceeds the component's first page of memory.
    let screen = prop_oneof![6 => known, 3 => any::<String>(), 1 => "[a-z]{1,9}".prop_map(|word| word.repeat(10_000))];
    let step = || prop_oneof![8 => 1..10_u32, 1 => Just(u32::MAX), 1 => count()];
    (screen, count(), count(), count(), step(), step()).prop_map(|(screen, errors, seconds, backs, total, current)| {
        nudge::Request {
            screen,
            num_validation_errors: errors,
            time_on_screen_seconds: seconds,
            num_back_navigations: backs,
            steps_total: total,
            current_step: current,
        }
    })
}

pub(super) fn native_nudge(request: &nudge::Request) -> native::nudge::Request<'_> {
    native::nudge::Request {
        screen: &request.screen,
        num_validation_errors: request.num_validation_errors,
        time_on_screen_seconds: request.time_on_screen_seconds,
        num_back_navigations: request.num_back_navigations,
        steps_total: request.steps_total,
        current_step: request.current_step,
    }
}

pub(super) fn accessibility() -> impl Strategy<Value = a11y::Request> {
    let choices = (one_of(AppConfidence::ALL), one_of(AgeRange::ALL), one_of(Language::ALL));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (choices, flags, (count(), count(), count())).prop_map(|(choices, flags, counts)| a11y::Request {
        can_read_small_text: flags.0,
        uses_screen_reader: flags.1,
        feels_confident_with_apps: choices.0,
        age_range: choices.1,
        avg_time_per_screen_seconds: counts.0,
        total_validation_errors: counts.1,
        requested_help_count: counts.2,
        behaviour_observed: flags.2,
        language: choices.2,
    })
}

pub(super) fn native_accessibility(request: &a11y::Request) -> native::accessibility::Request {
    use native::accessibility as model;
    model::Request {
        can_read_small_text: request.can_read_small_text,
        uses_screen_reader: request.uses_screen_reader,
        feels_confident_with_apps: match request.feels_confident_with_apps {
            AppConfidence::Low => model::AppConfidence::Low,
            AppConfidence::Medium => model::AppConfidence::Medium,
            AppConfidence::High => model::AppConfidence::High,
        },
        age_range: match request.age_range {
            AgeRange::From18To30 => model::AgeRange::From18To30,
            AgeRange::From31To50 => model::AgeRange::From31To50,
            AgeRange::From51To60 => model::AgeRange::From51To60,
            AgeRange::Over60 => model::AgeRange::Over60,
        },
        avg_time_per_screen_seconds: request.avg_time_per_screen_seconds,
        total_validation_errors: request.total_validation_errors,
        requested_help_count: request.requested_help_count,
        behaviour_observed: request.behaviour_observed,
        language: match request.language {
            Language::Spanish => model::Language::EsMx,
            Language::English => model::Language::En,
        },
    }
}

fn money() -> impl Strategy<Value = Money> {
    let centavos = prop_oneof![
        6 => 0..2_000_000_i64,
        2 => any::<i64>(),
        2 => select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, 99, 100, 99_999, 100_000, i64::MAX - 1, i64::MAX]),
    ];
    centavos.prop_map(Money::from_minor)
}

fn seconds() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..200_u64, 2 => 0..100_000_u64, 1 => any::<u64>(), 1 => select(vec![0, 59, 60, 61, u64::MAX])]
}

pub(super) fn facts() -> impl Strategy<Value = rules::Facts> {
    let limits = (option::of(money()), option::of(money()));
    let level = option::of(one_of(risk::Level::ALL));
    let flags = (any::<bool>(), any::<bool>());
    ((money(), money(), money()), limits, (seconds(), seconds()), flags, (0..24_u8, level)).prop_map(
        |(sums, limits, waits, flags, (local_hour, risk_level))| rules::Facts {
            amount: sums.0,
            available: sums.1,
            day_total: sums.2,
            per_transfer_limit: limits.0,
            per_day_limit: limits.1,
            beneficiary_age_seconds: waits.0,
            cooling_seconds: waits.1,
            same_account: flags.0,
            local_hour,
            risk_level,
            acknowledged: flags.1,
        },
    )
}

pub(super) fn native_facts(facts: &rules::Facts) -> native::rules::Facts<'_> {
    native::rules::Facts {
        amount: facts.amount.minor(),
        available: facts.available.minor(),
        day_total: facts.day_total.minor(),
        per_transfer_limit: facts.per_transfer_limit.map(Money::minor),
        per_day_limit: facts.per_day_limit.map(Money::minor),
        beneficiary_age_seconds: facts.beneficiary_age_seconds,
        cooling_seconds: facts.cooling_seconds,
        same_account: facts.same_account,
        local_hour: facts.local_hour,
        risk_level: facts.risk_level.map(risk::Level::as_str),
        acknowledged: facts.acknowledged,
    }
}
