//! A hostile component cannot affect others. Each limit of `host/core/src/wasm/limits.rs` is reached once, and the same
//! scorer answers afterwards.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use caudal::domain::nudge::{Assessment, Request};
use caudal::scoring::{Nudge, Scorer};
use caudal::wasm::{Runtime, ScoreError};

use crate::built::{hostile, runtime, with_causes};

/// Upper bound for a deadline of 10 ms on a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(2);

/// Bytes of memory of one instance.
const MEMORY_BYTES_MAX: u64 = 16 << 20;

/// Bytes of a page, the unit in which memory grows.
const PAGE_BYTES: u64 = 64 << 10;

/// More than the slots of the pool, so that a leaked slot is detected.
const MORE_THAN_SLOTS: usize = 200;

fn scorer() -> &'static Scorer<Nudge> {
    static SCORER: OnceLock<Scorer<Nudge>> = OnceLock::new();
    SCORER.get_or_init(|| Scorer::<Nudge>::load(runtime(), &hostile()).unwrap())
}

/// Triggers the behaviour that `screen` names.
fn ask(screen: &str) -> Result<Assessment, ScoreError> {
    ask_of(scorer(), screen)
}

fn ask_of(scorer: &Scorer<Nudge>, screen: &str) -> Result<Assessment, ScoreError> {
    scorer.assess(&Request {
        screen: screen.to_owned(),
        num_validation_errors: 0,
        time_on_screen_seconds: 0,
        num_back_navigations: 0,
        steps_total: 1,
        current_step: 1,
    })
}

#[track_caller]
fn assert_answers() {
    assert_eq!(ask("login").unwrap().difficulty_score, 0.1);
}

/// The error of a misbehaviour other than a loop, and its text with causes.
#[track_caller]
fn failure(screen: &str) -> (ScoreError, String) {
    let error = ask(screen).unwrap_err();
    let text = with_causes(&error);
    assert_answers();
    (error, text)
}

#[track_caller]
fn assert_trapped(screen: &str, cause: &str) {
    let (error, text) = failure(screen);
    assert!(matches!(error, ScoreError::Trapped(_)), "{screen}: {text}");
    assert!(text.contains(cause), "{screen} trapped for another reason: {text}");
}

#[test]
fn an_endless_loop_ends_at_the_deadline() {
    let start = Instant::now();
    let answer = ask("loop");
    let took = start.elapsed();
    assert!(matches!(answer, Err(ScoreError::TimedOut)), "{answer:?}");
    assert!(took >= Duration::from_millis(5) && took < SOON, "it took {took:?}");
    assert_answers();
}

#[test]
fn a_trap_ends_its_own_decision_only() {
    assert_trapped("trap", "unreachable");
}

#[test]
fn endless_recursion_ends_with_the_stack() {
    assert_trapped("recurse", "call stack exhausted");
}

#[test]
fn a_stack_in_the_components_own_memory_ends_before_its_data() {
    assert_trapped("spill", "out of bounds memory access");
}

#[test]
fn memory_grows_up_to_sixteen_megabytes_and_no_page_further() {
    assert_trapped("grow", &format!("growing memory to {} bytes", MEMORY_BYTES_MAX + PAGE_BYTES));
}

#[test]
fn an_enormous_answer_is_not_lifted() {
    assert_trapped("huge", "fuel");
}

#[test]
fn answers_that_no_correct_model_gives_are_not_used() {
    for (screen, complaint) in [
        ("nan", "the difficulty is not a number from 0 to 1"),
        ("range", "the difficulty is not a number from 0 to 1"),
        ("mismatch", "the nudge type does not fit the difficulty"),
        ("unknown-reason", "the reason does not fit the nudge type"),
    ] {
        let (error, text) = failure(screen);
        assert!(matches!(error, ScoreError::BadAnswer(_)), "{screen}: {text}");
        assert_eq!(text, format!("the model's answer is not usable: {complaint}"), "{screen}");
    }
}

#[test]
fn a_refusal_of_good_input_names_field_and_code() {
    let (error, text) = failure("invalid");
    let ScoreError::Refused { field, code } = error else { panic!("{text}") };
    assert_eq!((field.as_str(), code.as_str()), ("screen", "out-of-range"));
}

#[test]
fn nothing_survives_a_decision() {
    for call in 0..1000 {
        let answer = ask("count").unwrap();
        assert_eq!(answer.difficulty_score, 0.001, "call {call} saw memory of an earlier one");
    }
}

#[test]
fn others_are_answered_while_one_loops() {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let looping = scope.spawn(|| {
            let mut ended = 0;
            while !done.load(Relaxed) || ended == 0 {
                let answer = ask("loop");
                assert!(matches!(answer, Err(ScoreError::TimedOut)), "{answer:?}");
                ended += 1;
            }
            ended
        });
        let start = Instant::now();
        // While the other thread is in a loop of 10 ms, and then in the next ones.
        while start.elapsed() < Duration::from_millis(200) {
            assert_answers();
        }
        done.store(true, Relaxed);
        assert!(looping.join().unwrap() > 0);
    });
}

#[test]
fn failures_give_their_slots_back() {
    for screen in ["trap", "grow", "recurse", "spill", "huge", "nan", "invalid"] {
        for call in 0..MORE_THAN_SLOTS {
            let error = ask(screen).unwrap_err();
            assert!(!matches!(error, ScoreError::Busy), "call {call} of {screen}: {}", with_causes(&error));
        }
        assert_answers();
    }
}

#[test]
fn loops_give_their_slots_back() {
    for call in 0..MORE_THAN_SLOTS {
        let answer = ask("loop");
        assert!(matches!(answer, Err(ScoreError::TimedOut)), "call {call}: {answer:?}");
    }
    assert_answers();
}

#[test]
fn thousands_of_decisions_in_a_row_find_a_slot() {
    for _ in 0..5000 {
        assert_answers();
    }
}

/// How this many simultaneous loops end in a pool of their own, and whether that pool still works.
fn crowd(size: usize) -> Vec<Result<Assessment, ScoreError>> {
    let own = Runtime::new().unwrap();
    let scorer = Scorer::<Nudge>::load(&own, &hostile()).unwrap();
    // All at once, however long it takes to start their threads; spinning, because sleeping threads are
    // woken one after the other.
    let there = AtomicUsize::new(0);
    let call = || {
        there.fetch_add(1, Relaxed);
        while there.load(Relaxed) < size {
            thread::yield_now();
        }
        ask_of(&scorer, "loop")
    };
    let outcomes = thread::scope(|scope| {
        let calls: Vec<_> = (0..size).map(|_| scope.spawn(call)).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(ask_of(&scorer, "login").unwrap().difficulty_score, 0.1);
    outcomes
}

#[test]
fn a_hundred_instances_live_at_the_same_moment() {
    for outcome in crowd(100) {
        assert!(matches!(outcome, Err(ScoreError::TimedOut)), "{outcome:?}");
    }
}

#[test]
fn a_crowd_larger_than_the_pool_is_refused_and_breaks_nothing() {
    // How many live at the same moment is up to the machine's scheduler: try until there are too many.
    for _ in 0..20 {
        let outcomes = crowd(400);
        let known = |outcome: &Result<_, _>| matches!(outcome, Err(ScoreError::TimedOut | ScoreError::Busy));
        assert!(outcomes.iter().all(known), "{outcomes:?}");
        if outcomes.iter().any(|outcome| matches!(outcome, Err(ScoreError::Busy))) {
            return;
        }
    }
    panic!("no call was ever refused");
}
