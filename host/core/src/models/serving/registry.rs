//! The versions in service, by kind.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::db::deployments::Deployment;
use crate::decision::{Deployed, Role, Ruling};
use crate::domain::model::{Digest, ModelKind, is_older};
use crate::domain::risk::CutOffs;
use crate::domain::rules::{DeployedRules, Facts};
use crate::domain::transfer::{RailEvent, Status};
use crate::models::observing::trial::Trial;
use crate::models::publishing::published::Source;
use crate::models::serving::component::{LoadedComponent, Rules, RulesShadow};
use crate::models::serving::embedded::Embedded;
use crate::models::serving::model::Model;
use crate::models::serving::route::{Challenger, Route};
use crate::scoring::{Kind, Visitor, with_kind};
use crate::wasm::{Identity, LoadError, Runtime, ScoreError};

/// The versions in service at one moment. Calls for a kind without one fail with [`ScoreError::Missing`].
#[derive(Clone, Default)]
pub struct Registry {
    routes: BTreeMap<ModelKind, Arc<dyn AnyRoute>>,
    pub(super) rules: Option<Arc<Rules>>,
    pub(super) rules_shadows: Arc<[RulesShadow]>,
    /// Of their deployment; 0 before there is one.
    pub(super) rules_epoch: i64,
}

/// A canary to withdraw.
pub(crate) struct FailedCanary {
    pub(crate) kind: ModelKind,
    pub(crate) epoch: i64,
    pub(crate) reason: String,
}

/// A component that does not load.
#[derive(Debug, thiserror::Error)]
#[error("the {kind} component does not load")]
pub struct ComponentError {
    kind: ModelKind,
    source: LoadError,
}

/// An `Arc<Route<K>>` of any kind.
trait AnyRoute: Any + Send + Sync {
    fn identity(&self) -> &Identity;
    fn champion(&self) -> LoadedComponent;
    fn cut_offs(&self) -> CutOffs;
    fn epoch(&self) -> i64;
    fn source(&self) -> Option<Arc<Source>>;
    fn failed_canary(&self) -> Option<FailedCanary>;
}

impl<K: Kind> AnyRoute for Arc<Route<K>> {
    fn identity(&self) -> &Identity {
        self.champion.scorer.identity()
    }

    fn champion(&self) -> LoadedComponent {
        LoadedComponent::Scorer(self.champion.clone())
    }

    fn cut_offs(&self) -> CutOffs {
        self.cut_offs
    }

    fn epoch(&self) -> i64 {
        self.epoch
    }

    fn source(&self) -> Option<Arc<Source>> {
        self.champion.source.clone()
    }

    fn failed_canary(&self) -> Option<FailedCanary> {
        let reason = self.canary.as_ref()?.trial.reason()?.to_owned();
        Some(FailedCanary { kind: K::KIND, epoch: self.epoch, reason })
    }
}

impl Registry {
    /// With the default components of this program.
    ///
    /// # Errors
    /// When one of them does not load.
    pub fn embedded(runtime: &Runtime) -> Result<Self, ComponentError> {
        Self::load(runtime, Embedded::ALL.into_iter().filter(|it| it.by_default).map(|it| (it.kind, it.bytes)))
    }

    /// With these components as champions.
    ///
    /// # Errors
    /// When one of them does not load.
    pub fn load<'a>(
        runtime: &Runtime,
        components: impl IntoIterator<Item = (ModelKind, &'a [u8])>,
    ) -> Result<Self, ComponentError> {
        components.into_iter().try_fold(Self::default(), |registry, (kind, bytes)| {
            let component = LoadedComponent::load(runtime, kind, bytes);
            Ok(registry.with(component.map_err(|source| ComponentError { kind, source })?))
        })
    }

    /// This registry with another champion, and without challengers of its kind.
    #[must_use]
    pub fn with(mut self, component: LoadedComponent) -> Self {
        struct Alone(LoadedComponent);
        impl Visitor for Alone {
            type Output = Option<Arc<dyn AnyRoute>>;

            fn visit<K: Kind>(self) -> Self::Output {
                Some(Arc::new(Arc::new(Route::<K>::alone(self.0.model()?))))
            }
        }
        let kind = component.identity().kind;
        match component {
            LoadedComponent::Rules(rules) => (self.rules, self.rules_shadows) = (Some(rules), Arc::default()),
            scorer @ LoadedComponent::Scorer(_) => {
                self.routes.extend(with_kind(kind, Alone(scorer)).flatten().map(|route| (kind, route)));
            }
        }
        self
    }

    /// This registry without a component of a kind.
    #[must_use]
    pub fn without(mut self, kind: ModelKind) -> Self {
        match kind {
            ModelKind::TransferRules => self.rules = None,
            kind => drop(self.routes.remove(&kind)),
        }
        self
    }

    /// The versions in service of one kind.
    pub fn route<K: Kind>(&self) -> Option<&Arc<Route<K>>> {
        let route: &dyn Any = &**self.routes.get(&K::KIND)?;
        route.downcast_ref()
    }

    /// The champion of a kind.
    pub fn identity(&self, kind: ModelKind) -> Option<&Identity> {
        match kind {
            ModelKind::TransferRules => self.rules.as_deref().map(|rules| rules.component.identity()),
            kind => self.routes.get(&kind).map(|route| route.identity()),
        }
    }

    /// By which the answers of a kind are judged.
    pub fn cut_offs(&self, kind: ModelKind) -> CutOffs {
        self.routes.get(&kind).map_or(CutOffs::DEFAULT, |route| route.cut_offs())
    }

    /// The champions.
    pub fn champions(&self) -> impl Iterator<Item = LoadedComponent> {
        let rules = self.rules.clone().map(LoadedComponent::Rules);
        self.routes.values().map(|route| route.champion()).chain(rules)
    }

    /// The champion of a kind, for publication. Rules are not published.
    pub(crate) fn source(&self, kind: ModelKind) -> Option<Arc<Source>> {
        self.routes.get(&kind)?.source()
    }

    pub(crate) fn failed_canaries(&self) -> impl Iterator<Item = FailedCanary> {
        self.routes.values().filter_map(|route| route.failed_canary())
    }

    /// Puts a deployment into service with those of its components that are loaded. Returns whether its
    /// champion is.
    pub(crate) fn deploy(&mut self, deployment: &Deployment, components: &HashMap<Digest, LoadedComponent>) -> bool {
        struct Deploy<'a>(&'a Deployment, &'a HashMap<Digest, LoadedComponent>);
        impl Visitor for Deploy<'_> {
            type Output = Option<Arc<dyn AnyRoute>>;

            fn visit<K: Kind>(self) -> Self::Output {
                Some(Arc::new(Arc::new(route::<K>(self.0, self.1)?)))
            }
        }
        match with_kind(deployment.kind, Deploy(deployment, components)) {
            Some(route) => {
                let is_loaded = route.is_some();
                self.routes.extend(route.map(|route| (deployment.kind, route)));
                is_loaded
            }
            None => {
                let rules = |version| match components.get(version) {
                    Some(LoadedComponent::Rules(rules)) => Some(Arc::clone(rules)),
                    _ => None,
                };
                self.rules_epoch = deployment.epoch;
                // Only deployed rules may decide: while they are not loaded, requests get a 503.
                self.rules = rules(&deployment.champion);
                let shadows = deployment.shadows.iter().filter_map(rules);
                self.rules_shadows = shadows.map(|rules| RulesShadow { rules, trial: Trial::default() }).collect();
                self.rules.is_some()
            }
        }
    }

    /// The champion of a kind as it is deployed.
    pub(crate) fn deployed(&self, kind: ModelKind) -> Option<Deployed> {
        let digest = self.identity(kind)?.digest;
        let epoch = self.routes.get(&kind).map_or(self.rules_epoch, |route| route.epoch());
        Some(Deployed { kind, digest, epoch, role: Role::Champion, cut_offs: self.cut_offs(kind) })
    }

    /// The transfer rules in service.
    pub fn rules(&self) -> DeployedRules {
        let digest = self.rules.as_deref().map(|rules| rules.component.identity().digest.0.to_vec());
        digest.map_or_else(DeployedRules::default, |digest| DeployedRules { digest, epoch: self.rules_epoch })
    }

    /// Decides on a transfer. There is no fallback.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        self.rules.as_deref().ok_or(ScoreError::Missing)?.component.rule(facts)
    }

    /// The status of a transfer after an event of its rail.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        self.rules.as_deref().ok_or(ScoreError::Missing)?.component.transition(status, event)
    }
}

/// The route of a deployment, if its champion is loaded.
fn route<K: Kind>(deployment: &Deployment, components: &HashMap<Digest, LoadedComponent>) -> Option<Route<K>> {
    let model = |digest: &Digest| components.get(digest)?.model::<K>();
    let minimum = deployment.minimum_release.as_deref();
    let is_retired =
        |it: &Arc<Model<K>>| minimum.is_some_and(|minimum| is_older(it.scorer.identity().version.as_str(), minimum));
    let challenger = |version, percent, is_canary| {
        Some(Challenger { model: model(version)?, percent, is_canary, trial: Arc::<Trial>::default() })
    };
    let canary = deployment.canary.as_ref().and_then(|it| challenger(&it.version, it.percent, true));
    let shadows = deployment.shadows.iter().filter_map(|version| challenger(version, 0, false));
    Some(Route {
        epoch: deployment.epoch,
        cut_offs: deployment.cut_offs,
        champion: model(&deployment.champion)?,
        fallback: deployment.fallback().as_ref().and_then(model).filter(|it| !is_retired(it)),
        canary,
        shadows: shadows.collect(),
    })
}
