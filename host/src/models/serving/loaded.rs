//! One loaded component of any kind, and what is deployed of a kind once it is loaded.

use std::collections::HashMap;
use std::sync::Arc;

use crate::db::deployments::Deployment;
use crate::domain::model::{Digest, ModelKind, PolicyClass};
use crate::models::Registry;
use crate::models::observing::watch::Watch;
use crate::models::publishing::published::Source;
use crate::models::serving::route::{Canary, Route, Shadow};
use crate::models::serving::scorer::Scorer;
use crate::models::serving::served::Served;
use crate::wasm::{AccessibilityScorer, Identity, LoadError, NudgeScorer, RiskScorer, Runtime, TransferRules};

/// A loaded component; cheap to clone.
#[derive(Clone)]
pub enum Loaded {
    /// Risk scorer.
    Risk(Arc<Served<RiskScorer>>),
    /// Nudge scorer.
    Nudge(Arc<Served<NudgeScorer>>),
    /// Accessibility recommender.
    Accessibility(Arc<Served<AccessibilityScorer>>),
    /// Transfer rules.
    Rules(Arc<TransferRules>),
}

impl Loaded {
    /// Compiles a component of a kind; takes tens of milliseconds.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn new(runtime: &Runtime, kind: ModelKind, bytes: &[u8]) -> Result<Self, LoadError> {
        // What brings a language's runtime stays here.
        let source =
            |identity: &Identity| (identity.class == PolicyClass::Pure).then(|| Arc::new(Source::new(kind, bytes)));
        macro_rules! served {
            ($kind:ident, $scorer:ty) => {{
                let scorer = <$scorer>::load(runtime, bytes)?;
                let source = source(scorer.identity());
                Self::$kind(Served::new(scorer, source).into())
            }};
        }
        Ok(match kind {
            ModelKind::Risk => served!(Risk, RiskScorer),
            ModelKind::Nudge => served!(Nudge, NudgeScorer),
            ModelKind::Accessibility => served!(Accessibility, AccessibilityScorer),
            ModelKind::TransferRules => Self::Rules(TransferRules::load(runtime, bytes)?.into()),
        })
    }

    /// Who it is.
    pub fn identity(&self) -> &Identity {
        match self {
            Self::Risk(served) => served.scorer.identity(),
            Self::Nudge(served) => served.scorer.identity(),
            Self::Accessibility(served) => served.scorer.identity(),
            Self::Rules(rules) => rules.identity(),
        }
    }
}

impl Registry {
    /// The champions.
    pub fn loaded(&self) -> impl Iterator<Item = Loaded> {
        [
            self.risk.as_ref().map(|route| Loaded::Risk(Arc::clone(&route.champion))),
            self.nudge.as_ref().map(|route| Loaded::Nudge(Arc::clone(&route.champion))),
            self.accessibility.as_ref().map(|route| Loaded::Accessibility(Arc::clone(&route.champion))),
            self.rules.clone().map(Loaded::Rules),
        ]
        .into_iter()
        .flatten()
    }

    /// Puts a deployment into service, with what is loaded of it. False when its champion is not.
    pub(crate) fn deploy(&mut self, deployment: &Deployment, loaded: &HashMap<Digest, Loaded>) -> bool {
        match deployment.kind {
            ModelKind::Risk => put(&mut self.risk, deployment, loaded),
            ModelKind::Nudge => put(&mut self.nudge, deployment, loaded),
            ModelKind::Accessibility => put(&mut self.accessibility, deployment, loaded),
            ModelKind::TransferRules => {
                // Rules that nobody deployed decide on nothing: what cannot be loaded is a 503.
                self.rules = match loaded.get(&deployment.champion) {
                    Some(Loaded::Rules(rules)) => Some(Arc::clone(rules)),
                    _ => None,
                };
                self.rules.is_some()
            }
        }
    }
}

fn put<S: Scorer>(slot: &mut Option<Arc<Route<S>>>, deployment: &Deployment, loaded: &HashMap<Digest, Loaded>) -> bool {
    let served = |digest: &Digest| loaded.get(digest).cloned().and_then(S::take);
    let Some(champion) = served(&deployment.champion) else { return false };
    let canary = deployment.canary.and_then(|canary| {
        let watch = Arc::new(Watch::with_limit(canary.max_flip_percent));
        Some(Canary { served: served(&canary.digest)?, percent: canary.percent, watch })
    });
    let shadows = deployment.shadows.iter().filter_map(served).map(|served| Shadow { served, watch: Arc::default() });
    let previous = served(&deployment.previous).filter(|_| deployment.stands_in);
    let route = Route { epoch: deployment.epoch, champion, previous, canary, shadows: shadows.collect() };
    *slot = Some(Arc::new(route));
    true
}
