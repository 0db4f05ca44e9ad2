//! Chooses between the versions in service of one kind.

use std::sync::Arc;

use crate::domain::risk::CutOffs;
use crate::models::observing::trial::Trial;
use crate::models::serving::model::Model;
use crate::models::serving::split::is_in_share;
use crate::scoring::Kind;

/// The versions in service of one kind.
pub struct Route<K: Kind> {
    /// Of the deployment; 0 if nothing was deployed.
    pub epoch: i64,
    /// By which the answers of all of them are judged.
    pub cut_offs: CutOffs,
    pub champion: Arc<Model<K>>,
    /// Answers when the champion fails.
    pub fallback: Option<Arc<Model<K>>>,
    pub canary: Option<Challenger<K>>,
    pub shadows: Vec<Challenger<K>>,
}

/// A version that is compared with the champion.
pub struct Challenger<K: Kind> {
    pub model: Arc<Model<K>>,
    /// Percentage of users whom it answers, up to 99; 0 for a shadow.
    pub percent: u8,
    /// Also of a shadow, if it is a canary's first step.
    pub is_canary: bool,
    pub trial: Arc<Trial>,
}

impl<K: Kind> Challenger<K> {
    pub(crate) fn is_shadow(&self) -> bool {
        self.percent == 0
    }
}

impl<K: Kind> Route<K> {
    /// A champion without challengers.
    pub fn alone(champion: Arc<Model<K>>) -> Self {
        let cut_offs = CutOffs::DEFAULT;
        Self { epoch: 0, cut_offs, champion, fallback: None, canary: None, shadows: Vec::new() }
    }

    pub(super) fn has_challengers(&self) -> bool {
        self.canary.is_some() || !self.shadows.is_empty()
    }

    /// The canary, if it answers this user.
    pub(super) fn canary_for(&self, request: &K::Request, user: Option<&str>) -> Option<&Challenger<K>> {
        let canary = self.canary.as_ref()?;
        // Without users to go by, a canary is not withdrawn, but left out while it keeps failing.
        if canary.trial.has_failed() || canary.model.is_failing() {
            return None;
        }
        let digest = canary.model.scorer.identity().digest;
        let is_in = match user {
            Some(user) => is_in_share(digest, user, canary.percent),
            // Identical requests always get the same version.
            None => is_in_share(digest, &format!("{request:?}"), canary.percent),
        };
        is_in.then_some(canary)
    }
}
