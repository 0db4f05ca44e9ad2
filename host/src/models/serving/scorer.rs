//! What the three scorers have in common: how they are asked, and how two of them are compared.

use std::fmt::Debug;
use std::sync::Arc;

use crate::domain::model::ModelKind;
use crate::domain::{accessibility, nudge, risk};
use crate::models::serving::loaded::Loaded;
use crate::models::serving::served::Served;
use crate::models::{Identity, ScoreError};
use crate::wasm::{AccessibilityScorer, NudgeScorer, RiskScorer};

/// A scorer of any kind.
pub trait Scorer: Send + Sync + Sized + 'static {
    /// What for.
    const KIND: ModelKind;
    /// The verdicts between which two models may differ.
    const CLASSES: &'static [&'static str];
    /// Whether an answer says so much of a person that answers are not counted: then the classes are
    /// `same` and `other`.
    const IS_PRIVATE: bool = false;
    /// What it is asked.
    type Request: Clone + Debug + Send + Sync + 'static;
    /// What it answers.
    type Assessment: Clone + Send + Sync + 'static;

    /// Asks it.
    ///
    /// # Errors
    /// See [`ScoreError`].
    fn assess(&self, request: &Self::Request) -> Result<Self::Assessment, ScoreError>;

    /// Who it is.
    fn identity(&self) -> &Identity;

    /// The verdict's place among [`Self::CLASSES`].
    fn class_of(assessment: &Self::Assessment) -> usize;

    /// The figure behind the verdict, 0 to 1.
    fn score_of(assessment: &Self::Assessment) -> f64;

    /// The facts of a request whose distribution is watched, by the names of the HTTP API.
    fn facts(request: &Self::Request) -> Vec<(&'static str, f64)>;

    /// One of this kind, if it is.
    fn take(loaded: Loaded) -> Option<Arc<Served<Self>>>;
}

macro_rules! calls {
    ($domain:ident, $variant:ident) => {
        const KIND: ModelKind = ModelKind::$variant;
        type Request = $domain::Request;
        type Assessment = $domain::Assessment;

        fn assess(&self, request: &Self::Request) -> Result<Self::Assessment, ScoreError> {
            self.assess(request)
        }

        fn identity(&self) -> &Identity {
            self.identity()
        }

        fn take(loaded: Loaded) -> Option<Arc<Served<Self>>> {
            if let Loaded::$variant(served) = loaded { Some(served) } else { None }
        }
    };
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Scorer for RiskScorer {
    calls!(risk, Risk);

    const CLASSES: &'static [&'static str] = risk::Level::TEXTS;

    fn class_of(assessment: &risk::Assessment) -> usize {
        assessment.level as usize
    }

    fn score_of(assessment: &risk::Assessment) -> f64 {
        assessment.score
    }

    fn facts(request: &risk::Request) -> Vec<(&'static str, f64)> {
        vec![
            ("amount", request.amount),
            ("is_new_beneficiary", flag(request.is_new_beneficiary)),
            ("hour_of_day", f64::from(request.hour_of_day)),
            ("num_past_transactions", f64::from(request.num_past_transactions)),
            ("avg_transaction_amount", request.avg_transaction_amount),
            ("max_transaction_amount", request.max_transaction_amount),
            ("num_transactions_to_beneficiary", f64::from(request.num_transactions_to_beneficiary)),
            ("is_new_device", flag(request.is_new_device)),
            ("geolocation_changed", flag(request.geolocation_changed)),
        ]
    }
}

impl Scorer for NudgeScorer {
    calls!(nudge, Nudge);

    const CLASSES: &'static [&'static str] = nudge::NudgeType::TEXTS;

    fn class_of(assessment: &nudge::Assessment) -> usize {
        assessment.nudge_type as usize
    }

    fn score_of(assessment: &nudge::Assessment) -> f64 {
        assessment.difficulty_score
    }

    fn facts(request: &nudge::Request) -> Vec<(&'static str, f64)> {
        vec![
            ("num_validation_errors", f64::from(request.num_validation_errors)),
            ("time_on_screen_seconds", f64::from(request.time_on_screen_seconds)),
            ("num_back_navigations", f64::from(request.num_back_navigations)),
            ("steps_total", f64::from(request.steps_total)),
            ("current_step", f64::from(request.current_step)),
        ]
    }
}

impl Scorer for AccessibilityScorer {
    calls!(accessibility, Accessibility);

    const CLASSES: &'static [&'static str] = &["same", "other"];
    const IS_PRIVATE: bool = true;

    fn class_of(assessment: &accessibility::Assessment) -> usize {
        assessment.profile.theme as usize
    }

    fn score_of(assessment: &accessibility::Assessment) -> f64 {
        assessment.confidence
    }

    /// None: what a person can see or hear is not counted, not even in sums.
    fn facts(_: &accessibility::Request) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
