//! Steps of rollouts whose truth is known, as one host counts them and the judge sees them. The drill has 10,000 of each row,
//! and makes no allowance for chance.
#![expect(clippy::print_stdout, reason = "figures to read")]

use std::thread;

use super::evidence::{Evidence, Judgment};
use super::measure::{Failure, Measure, bucket_of_flip};
use super::witnesses::{USERS_MAX, Witnesses};
use crate::db::counts::Count;
use crate::domain::model::{Digest, ModelKind};
use crate::domain::rollout::Bounds;
use crate::scoring::Random;

const CANARY: Digest = Digest([1; 32]);
const DECISIONS_MAX: usize = 1_000_000;
const MILLION: u64 = 1_000_000;
const STEPS: usize = 40;
const DRILL: usize = 10_000;

/// Of a million users: risks that rise, fall by one level and from high to low, and failures.
type Truth = [u64; 4];

/// What became of the steps of a row.
#[derive(Debug, Default)]
struct Row {
    advanced: Vec<usize>,
    stopped: usize,
}

/// One step: the number of users after whom it ended, and whether it advanced.
fn step(truth: Truth, requests_of_user: usize, random: &mut Random) -> Option<(usize, bool)> {
    let mut witnesses = Witnesses::at(1, CANARY);
    let mut look = 1;
    for user in 1..=USERS_MAX.min(DECISIONS_MAX / requests_of_user) {
        let drawn = u64::from(random.below(MILLION as u32));
        let mut below = 0;
        let outcome = truth.iter().position(|part| {
            below += part;
            drawn < below
        });
        let flip = |was, is| (Measure::Flip, bucket_of_flip(was, is));
        let (measure, bucket) = match outcome {
            Some(0) => flip(0, 1),
            Some(1) => flip(1, 0),
            Some(2) => flip(2, 0),
            Some(_) => (Measure::Failed, Failure::Trapped as i32),
            None => flip(0, 0),
        };
        (0..requests_of_user).for_each(|_| witnesses.count(user as u64, measure, bucket));
        if user < look {
            continue;
        }
        // To look after every user would take longer and find the same: a hundredth more users hardly move a share.
        look = user + 1 + user / 100;
        let count =
            |(measure, bucket, count)| Count { kind: ModelKind::Risk, at: 1, digest: CANARY, measure, bucket, count };
        let counts = witnesses.counts().into_iter().map(count).collect();
        match Evidence::of(ModelKind::Risk, &[counts], CANARY).judge(&Bounds::default(), i64::MAX) {
            Judgment::Ready => return Some((user, true)),
            Judgment::Violated(_) => return Some((user, false)),
            Judgment::Waits(_) => {}
        }
    }
    None
}

fn row(truth: Truth, requests_of_user: usize, steps: usize) -> Row {
    let run = |half: usize| {
        let mut random = Random::new(half as u64 + 1);
        (0..steps.div_ceil(2)).filter_map(|_| step(truth, requests_of_user, &mut random)).collect::<Vec<_>>()
    };
    let ended = thread::scope(|scope| {
        let halves = [0, 1].map(|half| scope.spawn(move || run(half)));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect::<Vec<_>>()
    });
    let mut advanced: Vec<_> =
        ended.iter().filter(|(_, has_advanced)| *has_advanced).map(|(users, _)| *users).collect();
    advanced.sort_unstable();
    Row { stopped: ended.len() - advanced.len(), advanced }
}

#[test]
fn simulated_steps_keep_their_errors() {
    keep_their_errors(STEPS);
}

#[test]
#[ignore = "takes most of an hour: a drill"]
fn ten_thousand_simulated_steps_keep_their_errors() {
    keep_their_errors(DRILL);
}

fn keep_their_errors(steps: usize) {
    let at_most = |share: f64| {
        let expected = share * steps as f64;
        // Four standard deviations, so that a judge that is right hardly ever fails.
        (if steps < DRILL { expected + 4.0 * expected.sqrt() } else { expected }) as usize
    };
    // One share at its bound by itself, and all flips at a part of theirs. A failure in 200 takes longer to be told from
    // one in 100 than the steps at half the bound may.
    let alone: [(&str, Truth); 4] = [
        ("flips", [100_000, 0, 0, 0]),
        ("lowered", [0, 50_000, 0, 0]),
        ("high to low", [0, 0, 25_000, 0]),
        ("failures", [0, 0, 0, 10_000]),
    ];
    let flips: Truth = [50_000, 25_000, 25_000, 0];
    let part = |truth: Truth, percent: u64| truth.map(|it| it * percent / 100);
    for requests in [1, 20] {
        let told = |name: &str, percent: u64, row: &Row| {
            let median = row.advanced.get(row.advanced.len() / 2);
            let (advanced, stopped) = (row.advanced.len(), row.stopped);
            println!(
                "{requests:2} requests of a user, {name} at {percent}%: of {steps}, {advanced} advance, {stopped} stop; median {median:?} users"
            );
        };
        for (name, truth) in alone {
            for (percent, share) in [(100, 0.025), (125, 0.01)] {
                let row = row(part(truth, percent), requests, steps);
                told(name, percent, &row);
                assert!(row.advanced.len() <= at_most(share), "{name} at {percent}%: {row:?}");
            }
        }
        let half = row(part(flips, 50), requests, steps);
        told("all flips", 50, &half);
        assert!(half.stopped <= at_most(0.01) && half.advanced.len() >= steps - at_most(0.01), "{half:?}");
        assert!(half.advanced[half.advanced.len() / 2] <= 1_500, "{half:?}");
        let most = row(part(flips, 80), requests, steps);
        told("all flips", 80, &most);
        assert!(most.advanced.len() >= steps - at_most(0.1), "{most:?}");
        let failures = row(part(alone[3].1, 50), requests, steps);
        told("failures", 50, &failures);
        assert!(failures.stopped <= at_most(0.01) && failures.advanced.len() >= steps - at_most(0.01), "{failures:?}");
    }
}
