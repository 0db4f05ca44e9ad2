//! The kinds of scorers, one file each.
//!
//! [`Kind`] covers everything that is specific to a kind. Code that only knows a kind at run time uses
//! `with_kind`.

mod accessibility;
pub(crate) mod answers;
pub(crate) mod cases;
pub(crate) mod facts;
mod kind;
mod nudge;
mod random;
mod risk;

use crate::domain::model::ModelKind;

pub use accessibility::Accessibility;
pub use kind::{Envelope, Kind, Scored, Scorer};
pub use nudge::Nudge;
pub use random::Random;
pub use risk::Risk;
pub use risk::{RiskAnswer, RiskRequest};

/// Code that runs for a kind known only at run time.
pub trait Visitor {
    type Output;

    fn visit<K: Kind>(self) -> Self::Output;
}

/// The score among what is monitored for drift.
pub const SCORE: &str = "score";

/// The features of a kind's requests that are monitored for drift, and the score; none of transfer rules, nor of kinds whose
/// answers are private.
pub fn monitored(kind: ModelKind) -> Vec<&'static str> {
    struct Monitored;
    impl Visitor for Monitored {
        type Output = Vec<&'static str>;

        fn visit<K: Kind>(self) -> Self::Output {
            let mut monitored = K::monitored();
            monitored.extend((!monitored.is_empty()).then_some(SCORE));
            monitored
        }
    }
    with_kind(kind, Monitored).unwrap_or_default()
}

macro_rules! kinds {
    ($($kind:ident),+) => {
        /// Runs `visitor` for a kind; `None` for transfer rules, which do not score.
        pub fn with_kind<V: Visitor>(kind: ModelKind, visitor: V) -> Option<V::Output> {
            match kind {
                $(ModelKind::$kind => Some(visitor.visit::<$kind>()),)+
                ModelKind::TransferRules => None,
            }
        }
    };
}

kinds!(Risk, Nudge, Accessibility);
