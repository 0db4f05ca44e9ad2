//! Measures of challengers, and their buckets.

use std::fmt;
use std::time::Duration;

use crate::wasm::ScoreError;

/// Buckets of a score from 0 to 1.
pub(crate) const SCORE_BUCKETS: usize = 20;

/// Resolution of score differences.
pub(crate) const DIFFERENCE_UNIT: f64 = 0.001;

/// Buckets per doubling of a time; a time is accurate to within 20 %.
const TIME_BUCKETS_PER_OCTAVE: f64 = 4.0;

/// More classes than any kind has, to encode a pair of them as one number.
const CLASSES_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Answers of a version; those of each class, and their times.
    Answered,
    Class,
    Time,
    /// Failures of a version, by [`Failure`].
    Failed,
    /// Answers that were compared with the champion's, and those of another class.
    Compared,
    Flipped,
    /// Requests looked at, compared or not; stored under the champion.
    Observed,
    /// Requests dropped because the queue was full; counted for the champion.
    Dropped,
    /// Classes of both answers.
    Flip,
    /// The challenger's score minus the champion's.
    Difference,
    /// Scores of the champion where both answered.
    ChampionScore,
    /// Scores of the challenger where both answered.
    ChallengerScore,
    /// Times of the champion where both answered.
    ChampionTime,
    /// Times of the challenger where both answered.
    ChallengerTime,
    /// A feature of the requests, and which bins it is counted in; for the champion.
    Feature(&'static str, u32),
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "answered",
            Self::Class => "class",
            Self::Time => "time",
            Self::Failed => "failed",
            Self::Compared => "compared",
            Self::Flipped => "flipped",
            Self::Observed => "observed",
            Self::Dropped => "dropped",
            Self::Flip => "flip",
            Self::Difference => "difference",
            Self::ChampionScore => "champion-score",
            Self::ChallengerScore => "challenger-score",
            Self::ChampionTime => "champion-time",
            Self::ChallengerTime => "challenger-time",
            Self::Feature(name, bins) => return write!(f, "fact:{name}:{bins:08x}"),
        })
    }
}

crate::domain::text_enum! {
    Failure {
        /// It trapped or hit a limit.
        Trapped = "trapped",
        /// The deadline passed.
        TimedOut = "timed_out",
        /// The answer was unusable, or the component refused a valid request.
        BadAnswer = "bad_answer",
    }
}

impl Failure {
    /// `None` if the model is not at fault.
    pub(crate) fn of(error: &ScoreError) -> Option<Self> {
        match error {
            ScoreError::TimedOut => Some(Self::TimedOut),
            ScoreError::Trapped(_) | ScoreError::Panicked => Some(Self::Trapped),
            ScoreError::BadAnswer(_) | ScoreError::Refused { .. } => Some(Self::BadAnswer),
            ScoreError::Missing | ScoreError::Busy | ScoreError::Failing | ScoreError::Abstained(_) => None,
        }
    }
}

pub(crate) fn bucket_of_score(score: f64) -> i32 {
    // A checked score is from 0 to 1.
    ((score * SCORE_BUCKETS as f64) as usize).min(SCORE_BUCKETS - 1) as i32
}

pub(crate) fn bucket_of_difference(difference: f64) -> i32 {
    (difference / DIFFERENCE_UNIT).round() as i32
}

pub(crate) fn bucket_of_flip(champion: usize, challenger: usize) -> i32 {
    (champion * CLASSES_MAX + challenger) as i32
}

/// The classes that a bucket encodes.
pub(crate) fn classes_of_flip(bucket: i32) -> (usize, usize) {
    let bucket = usize::try_from(bucket).unwrap_or_default();
    (bucket / CLASSES_MAX, bucket % CLASSES_MAX)
}

pub(crate) fn bucket_of_time(time: Duration) -> i32 {
    let micros = time.as_secs_f64() * 1e6;
    (micros.max(1.0).log2() * TIME_BUCKETS_PER_OCTAVE) as i32
}

/// The middle of a bucket, in microseconds.
pub fn time_of_bucket(bucket: i32) -> f64 {
    ((f64::from(bucket) + 0.5) / TIME_BUCKETS_PER_OCTAVE).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_every_value_and_can_be_decoded() {
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
