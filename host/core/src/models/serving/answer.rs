//! Picks the version that answers: the champion, a canary for some users, or the previous version if the
//! champion fails. Challengers are compared afterwards.

use std::sync::Arc;
use std::time::Duration;

use crate::decision::{Deployed, Role};
use crate::domain::fact::explanation::Explanation;
use crate::metrics::Metrics;
use crate::models::observing::observer::{Observation, Observer};
use crate::models::observing::users::{hash_of, hash_of_somebody};
use crate::models::serving::model::Model;
use crate::models::serving::route::Route;
use crate::scoring::{Kind, Scored};
use crate::wasm::ScoreError;

/// Who asks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asker<'a> {
    /// Decides whether the canary answers.
    pub user: Option<&'a str>,
    /// Whether the decision counts as evidence for rollouts. Not if the caller only claims who the user is, or if it is
    /// a query, whose facts the caller chose, while orders are evidence.
    pub is_evidence: bool,
}

impl<K: Kind> Route<K> {
    /// Scores a request.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(super) async fn assess(
        self: &Arc<Self>,
        request: &K::Request,
        asker: Asker<'_>,
        (observer, metrics): (&Observer, &Metrics),
    ) -> Result<(Scored<K::Assessment>, Deployed), ScoreError> {
        let user = asker.user.map_or_else(hash_of_somebody, hash_of);
        let witness = (asker.is_evidence && asker.user.is_some()).then_some(user);
        if let Some(canary) = self.canary_for(request, asker.user) {
            match canary.model.assess(request, user, (self.cut_offs, metrics)).await {
                Ok((answer, time)) => {
                    let canary_answer = Some((answer.clone(), time));
                    let request = request.clone();
                    observer
                        .observe(self, Observation { request, user, witness, canary: canary_answer, champion: None });
                    return Ok(self.answered(&canary.model, Role::Canary, answer));
                }
                Err(ScoreError::Abstained(_)) => {}
                Err(error) => {
                    tracing::warn!(kind = %K::KIND, %error, "a canary failed; the champion answers");
                    observer.count_failure(self, canary, &error, witness);
                }
            }
        }
        let (answer, time) = match self.champion_answer(request, user, metrics).await {
            Ok(answer) => answer,
            Err(error) => return self.fall_back(request, user, error, metrics).await,
        };
        if self.has_challengers() {
            let champion = Some((answer.clone(), time));
            observer.observe(self, Observation { request: request.clone(), user, witness, canary: None, champion });
        } else if self.champion.is_sample() {
            observer.look_at(self, request.clone(), K::score(&answer));
        }
        Ok(self.answered(&self.champion, Role::Champion, answer))
    }

    /// What weighed how much in the score of a request, by the version that gives it: the first that does not abstain.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(super) async fn explain(
        &self,
        request: &K::Request,
        user: Option<&str>,
    ) -> Result<(Scored<K::Assessment>, Explanation), ScoreError> {
        let canary = self.canary_for(request, user).map(|it| &it.model);
        let mut outcome = Err(ScoreError::Missing);
        for model in canary.into_iter().chain([&self.champion]).chain(&self.fallback) {
            outcome = model.explain(request.clone(), self.cut_offs).await.map(|(it, why)| (scored(model, it), why));
            if !matches!(outcome, Err(ScoreError::Abstained(_))) {
                break;
            }
        }
        outcome
    }

    async fn champion_answer(
        &self,
        request: &K::Request,
        user: u64,
        metrics: &Metrics,
    ) -> Result<(K::Assessment, Duration), ScoreError> {
        // Without a fallback, a champion that fails on some requests is better than none.
        if self.fallback.is_some() && self.champion.is_failing() {
            return Err(ScoreError::Failing);
        }
        self.champion.assess(request, user, (self.cut_offs, metrics)).await
    }

    async fn fall_back(
        &self,
        request: &K::Request,
        user: u64,
        error: ScoreError,
        metrics: &Metrics,
    ) -> Result<(Scored<K::Assessment>, Deployed), ScoreError> {
        let helps = error.is_model_fault() || matches!(error, ScoreError::Busy | ScoreError::Abstained(_));
        let Some(fallback) = self.fallback.as_ref().filter(|_| helps) else { return Err(error) };
        // An open breaker was logged when it opened.
        if !matches!(error, ScoreError::Failing | ScoreError::Abstained(_)) {
            tracing::warn!(kind = %K::KIND, %error, "the champion failed; falling back to the previous version");
        }
        metrics.model_fallbacks.of([K::KIND.as_str()]).inc();
        let (answer, _) = fallback.assess(request, user, (self.cut_offs, metrics)).await?;
        Ok(self.answered(fallback, Role::Fallback, answer))
    }

    fn answered(&self, model: &Model<K>, role: Role, assessment: K::Assessment) -> (Scored<K::Assessment>, Deployed) {
        let digest = model.scorer.identity().digest;
        let by = Deployed { kind: K::KIND, digest, epoch: self.epoch, role, cut_offs: self.cut_offs };
        (scored(model, assessment), by)
    }
}

fn scored<K: Kind>(model: &Model<K>, assessment: K::Assessment) -> Scored<K::Assessment> {
    Scored { assessment, version: model.scorer.identity().version.clone() }
}
