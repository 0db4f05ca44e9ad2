//! Picks the version that answers: the champion, a canary for some users, or the previous version if the
//! champion fails. Challengers are compared afterwards.

use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Metrics;
use crate::models::observing::observer::{Observation, Observer};
use crate::models::serving::model::Model;
use crate::models::serving::route::Route;
use crate::scoring::{Kind, Scored};
use crate::wasm::ScoreError;

impl<K: Kind> Route<K> {
    /// Scores a request. `user` decides whether the canary answers it.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(super) async fn assess(
        self: &Arc<Self>,
        request: &K::Request,
        user: Option<&str>,
        (observer, metrics): (&Observer, &Metrics),
    ) -> Result<Scored<K::Assessment>, ScoreError> {
        if let Some(canary) = self.canary_for(request, user) {
            match canary.model.assess(request, metrics).await {
                Ok((answer, time)) => {
                    let canary_answer = Some((answer.clone(), time));
                    let request = request.clone();
                    observer.observe(self, Observation { request, canary: canary_answer, champion: None });
                    return Ok(scored(&canary.model, answer));
                }
                Err(error) => {
                    tracing::warn!(kind = %K::KIND, %error, "a canary failed; the champion answers");
                    observer.count_failure(self, &canary.model, &error);
                    canary.watch.fail(&error);
                }
            }
        }
        let (answer, time) = match self.champion_answer(request, metrics).await {
            Ok(answer) => answer,
            Err(error) => return self.fallback(request, error, metrics).await,
        };
        if self.has_challengers() {
            let champion = Some((answer.clone(), time));
            observer.observe(self, Observation { request: request.clone(), canary: None, champion });
        }
        Ok(scored(&self.champion, answer))
    }

    async fn champion_answer(
        &self,
        request: &K::Request,
        metrics: &Metrics,
    ) -> Result<(K::Assessment, Duration), ScoreError> {
        // Without a fallback, a champion that fails on some requests is better than none.
        if self.previous.is_some() && self.champion.is_failing() {
            return Err(ScoreError::Failing);
        }
        self.champion.assess(request, metrics).await
    }

    async fn fallback(
        &self,
        request: &K::Request,
        error: ScoreError,
        metrics: &Metrics,
    ) -> Result<Scored<K::Assessment>, ScoreError> {
        let Some(previous) = self.previous.as_ref().filter(|_| error.is_model_fault()) else { return Err(error) };
        // An open breaker was logged when it opened.
        if !matches!(error, ScoreError::Failing) {
            tracing::warn!(kind = %K::KIND, %error, "the champion failed; falling back to the previous version");
        }
        metrics.model_fallbacks.of([K::KIND.as_str()]).inc();
        let (answer, _) = previous.assess(request, metrics).await?;
        Ok(scored(previous, answer))
    }
}

fn scored<K: Kind>(model: &Model<K>, assessment: K::Assessment) -> Scored<K::Assessment> {
    Scored { assessment, version: model.scorer.identity().version.clone() }
}
