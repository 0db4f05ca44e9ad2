//! The kinds of scorers: one file for each, and one list of them.
//!
//! [`Kind`] covers everything that is specific to a kind. Code that only knows a kind at run time goes
//! through [`with_kind`].

mod accessibility;
mod kind;
mod nudge;
mod random;
mod risk;
mod rules;

use crate::domain::model::ModelKind;
use crate::wasm::{self, Compiled, Identity, LoadError, Runtime, ScoreError};

pub use accessibility::Accessibility;
pub use kind::{Envelope, Kind, Scored, Scorer};
pub use nudge::Nudge;
pub use random::Random;
pub use risk::Risk;
pub(crate) use risk::{RiskJson, RiskRequestJson};
pub(crate) use rules::{RulesRequest, RulesResponse};

/// Code that runs for a kind known only at run time.
pub(crate) trait Visitor {
    type Output;

    fn visit<K: Kind>(self) -> Self::Output;
}

macro_rules! kinds {
    ($($kind:ident: $scorer:ident),+ $(,)?) => {
        /// Runs `visitor` for a kind; `None` for transfer rules, which do not score.
        pub(crate) fn with_kind<V: Visitor>(kind: ModelKind, visitor: V) -> Option<V::Output> {
            match kind {
                $(ModelKind::$kind => Some(visitor.visit::<$kind>()),)+
                ModelKind::TransferRules => None,
            }
        }

        /// Every kind that scores.
        pub const KINDS: &[ModelKind] = &[$(ModelKind::$kind),+];

        $(
            impl Scorer for wasm::$scorer {
                type Request = <$kind as Kind>::Request;
                type Assessment = <$kind as Kind>::Assessment;

                fn load(runtime: &Runtime, bytes: &[u8]) -> Result<Self, LoadError> {
                    Self::load(runtime, bytes)
                }

                fn link(compiled: &Compiled) -> Result<Self, LoadError> {
                    Self::link(compiled)
                }

                fn identity(&self) -> &Identity {
                    self.identity()
                }

                fn assess(&self, request: &Self::Request) -> Result<Self::Assessment, ScoreError> {
                    self.assess(request)
                }

                fn assess_batch(
                    &self,
                    requests: &[Self::Request],
                ) -> Result<Vec<Result<Self::Assessment, ScoreError>>, ScoreError> {
                    self.assess_batch(requests)
                }
            }
        )+
    };
}

kinds! {
    Risk: RiskScorer,
    Nudge: NudgeScorer,
    Accessibility: AccessibilityScorer,
}
