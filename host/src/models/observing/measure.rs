//! What is counted of challengers, and into which buckets.

use std::fmt;
use std::time::Duration;

use crate::wasm::ScoreError;

/// Parts into which scores from 0 to 1 fall.
pub(crate) const SCORE_BUCKETS: usize = 20;

/// Score differences are told apart to a thousandth.
pub(crate) const DIFFERENCE_UNIT: f64 = 0.001;

/// Buckets for each doubling of a time: an answer's time is known to a fifth.
const TIME_BUCKETS_PER_OCTAVE: f64 = 4.0;

/// More classes than any kind has: how a pair of them becomes one number.
const CLASSES_MAX: usize = 16;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Measure {
    /// Requests that were compared, of the champion.
    Observed,
    /// Requests that were not compared because too many waited, of the champion.
    Dropped,
    /// Failures instead of an answer, by [`Failure`].
    Failed,
    /// Classes of both answers.
    Flip,
    /// The challenger's score less the champion's.
    Difference,
    /// Scores of the champion where both answered.
    ChampionScore,
    /// Scores of the challenger where both answered.
    ChallengerScore,
    /// Times of the champion where both answered.
    ChampionTime,
    /// Times of the challenger where both answered.
    ChallengerTime,
    /// A fact of the requests, of the champion.
    Fact(&'static str),
}

/// How the counts of facts begin.
pub(crate) const FACT: &str = "fact:";

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Observed => "observed",
            Self::Dropped => "dropped",
            Self::Failed => "failed",
            Self::Flip => "flip",
            Self::Difference => "difference",
            Self::ChampionScore => "champion-score",
            Self::ChallengerScore => "challenger-score",
            Self::ChampionTime => "champion-time",
            Self::ChallengerTime => "challenger-time",
            Self::Fact(name) => return write!(f, "{FACT}{name}"),
        })
    }
}

/// How a challenger can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It trapped or hit a limit.
    Trapped,
    /// The deadline passed.
    TimedOut,
    /// Its answer was not usable, or it refused what the host had accepted.
    BadAnswer,
}

impl Failure {
    /// All, with their names.
    pub(crate) const ALL: [(Self, &'static str); 3] =
        [(Self::Trapped, "trapped"), (Self::TimedOut, "timed_out"), (Self::BadAnswer, "bad_answer")];

    /// None when it was not the model's fault.
    pub(crate) fn of(error: &ScoreError) -> Option<Self> {
        match error {
            ScoreError::TimedOut => Some(Self::TimedOut),
            ScoreError::Trapped(_) | ScoreError::Panicked => Some(Self::Trapped),
            ScoreError::BadAnswer(_) | ScoreError::Refused { .. } => Some(Self::BadAnswer),
            ScoreError::Missing | ScoreError::Busy | ScoreError::Failing => None,
        }
    }
}

pub(crate) fn bucket_of_score(score: f64) -> i32 {
    // Checked to be from 0 to 1.
    ((score * SCORE_BUCKETS as f64) as usize).min(SCORE_BUCKETS - 1) as i32
}

pub(crate) fn bucket_of_difference(difference: f64) -> i32 {
    (difference / DIFFERENCE_UNIT).round() as i32
}

pub(crate) fn bucket_of_flip(champion: usize, challenger: usize) -> i32 {
    (champion * CLASSES_MAX + challenger) as i32
}

/// The classes behind a bucket.
pub(crate) fn classes_of_flip(bucket: i32) -> (usize, usize) {
    let bucket = usize::try_from(bucket).unwrap_or_default();
    (bucket / CLASSES_MAX, bucket % CLASSES_MAX)
}

pub(crate) fn bucket_of_time(time: Duration) -> i32 {
    let micros = time.as_secs_f64() * 1e6;
    (micros.max(1.0).log2() * TIME_BUCKETS_PER_OCTAVE) as i32
}

/// The middle of a bucket in microseconds.
pub(crate) fn time_of_bucket(bucket: i32) -> f64 {
    ((f64::from(bucket) + 0.5) / TIME_BUCKETS_PER_OCTAVE).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_all_scores_and_say_what_is_in_them() {
        assert_eq!([0.0, 0.049, 0.05, 0.999, 1.0].map(bucket_of_score), [0, 0, 1, 19, 19]);
        assert_eq!([-1.0, -0.0004, 0.25, 1.0].map(bucket_of_difference), [-1000, 0, 250, 1000]);
        assert_eq!(classes_of_flip(bucket_of_flip(2, 1)), (2, 1));
        for micros in [1_u64, 7, 12, 950, 20_000] {
            let time = time_of_bucket(bucket_of_time(Duration::from_micros(micros)));
            let off = time / micros as f64;
            assert!((0.8..1.25).contains(&off), "{micros}: {time}");
        }
        assert_eq!(bucket_of_time(Duration::ZERO), 0);
    }
}
