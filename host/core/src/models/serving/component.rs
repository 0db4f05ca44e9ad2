//! A loaded component of any kind.

use std::any::Any;
use std::sync::Arc;

use crate::domain::model::{ModelKind, PolicyClass};
use crate::models::observing::tally::Tally;
use crate::models::observing::trial::Trial;
use crate::models::publishing::published::Source;
use crate::models::serving::model::Model;
use crate::scoring::answers::{answers_of, answers_of_rules};
use crate::scoring::{Kind, Scorer, Visitor, with_kind};
use crate::wasm::{Identity, LoadError, Runtime, TransferRules};

/// A loaded component; cheap to clone.
#[derive(Clone)]
pub enum LoadedComponent {
    Scorer(Arc<dyn AnyModel>),
    Rules(Arc<Rules>),
}

/// A version of the transfer rules.
pub struct Rules {
    pub(crate) component: TransferRules,
    pub(crate) tally: Tally,
}

/// Transfer rules that are compared with those in service and decide nothing.
pub(crate) struct RulesShadow {
    pub(crate) rules: Arc<Rules>,
    pub(crate) trial: Trial,
}

/// A [`Model`] of any kind.
pub trait AnyModel: Any + Send + Sync {
    fn identity(&self) -> &Identity;
    fn tally(&self) -> &Tally;
    fn answers(&self) -> Result<String, String>;
}

impl<K: Kind> AnyModel for Model<K> {
    fn identity(&self) -> &Identity {
        self.scorer.identity()
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn answers(&self) -> Result<String, String> {
        answers_of::<K>(&self.scorer)
    }
}

impl LoadedComponent {
    /// Compiles a component of a kind. Takes tens of milliseconds.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(runtime: &Runtime, kind: ModelKind, bytes: &[u8]) -> Result<Self, LoadError> {
        struct Load<'a>(&'a Runtime, &'a [u8]);
        impl Visitor for Load<'_> {
            type Output = Result<LoadedComponent, LoadError>;

            fn visit<K: Kind>(self) -> Self::Output {
                let scorer = Scorer::<K>::load(self.0, self.1)?;
                // Pages only get components that need no language runtime.
                let is_portable = scorer.identity().class == PolicyClass::Pure;
                let source = is_portable.then(|| Arc::new(Source::new(K::KIND, self.1)));
                Ok(LoadedComponent::Scorer(Arc::new(Model::<K>::new(scorer, source))))
            }
        }
        let rules = || {
            Ok(Self::Rules(Arc::new(Rules {
                component: TransferRules::load(runtime, bytes)?,
                tally: Tally::default(),
            })))
        };
        with_kind(kind, Load(runtime, bytes)).unwrap_or_else(rules)
    }

    pub fn identity(&self) -> &Identity {
        match self {
            Self::Scorer(model) => model.identity(),
            Self::Rules(rules) => rules.component.identity(),
        }
    }

    /// What it answers to the cases of its kind, in short. Takes a millisecond, or some for a language runtime.
    ///
    /// # Errors
    /// When it does not answer one.
    pub(crate) fn answers(&self) -> Result<String, String> {
        match self {
            Self::Scorer(model) => model.answers(),
            Self::Rules(rules) => answers_of_rules(&rules.component),
        }
    }

    /// What it did since that was last stored.
    pub(crate) fn tally(&self) -> &Tally {
        match self {
            Self::Scorer(model) => model.tally(),
            Self::Rules(rules) => &rules.tally,
        }
    }

    /// The model, if it is of kind `K`.
    pub(crate) fn model<K: Kind>(&self) -> Option<Arc<Model<K>>> {
        let Self::Scorer(model) = self else { return None };
        let model: Arc<dyn Any + Send + Sync> = Arc::<dyn AnyModel>::clone(model);
        model.downcast().ok()
    }
}
