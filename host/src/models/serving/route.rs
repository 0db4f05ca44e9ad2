//! Who answers a request: the champion, for some users a canary, and when the champion fails the one
//! before it. What answered is compared with the challengers afterwards.

use std::sync::Arc;

use crate::models::observing::observer::{Asked, Observer};
use crate::models::observing::watch::Watch;
use crate::models::serving::scorer::Scorer;
use crate::models::serving::served::Served;
use crate::models::serving::split::is_in_share;
use crate::models::{Metrics, ScoreError, Scored};

/// What is in service of a kind.
pub struct Route<S> {
    /// Of the deployment; 0 where nothing was deployed.
    pub epoch: i64,
    /// Answers.
    pub champion: Arc<Served<S>>,
    /// Answers when the champion fails.
    pub previous: Option<Arc<Served<S>>>,
    /// Answers some users.
    pub canary: Option<Canary<S>>,
    /// Are only compared.
    pub shadows: Vec<Shadow<S>>,
}

/// A challenger that answers some users.
pub struct Canary<S> {
    /// The component.
    pub served: Arc<Served<S>>,
    /// Of a hundred users.
    pub percent: u8,
    /// Whether it is good enough to go on.
    pub watch: Arc<Watch>,
}

/// A challenger that answers nobody.
pub struct Shadow<S> {
    /// The component.
    pub served: Arc<Served<S>>,
    /// Whether it is good enough to go on.
    pub watch: Arc<Watch>,
}

impl<S: Scorer> Route<S> {
    /// Without anybody beside the champion.
    pub fn alone(champion: Arc<Served<S>>) -> Self {
        Self { epoch: 0, champion, previous: None, canary: None, shadows: Vec::new() }
    }

    /// Answers a request of a user, or of nobody in particular.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub(crate) async fn assess(
        self: &Arc<Self>,
        request: &S::Request,
        user: Option<&str>,
        (observer, metrics): (&Observer, &Metrics),
    ) -> Result<Scored<S::Assessment>, ScoreError> {
        if let Some(canary) = self.canary_for(request, user) {
            match canary.served.answer(request, metrics).await {
                Ok((answer, took)) => {
                    let canary_said = Some((answer.clone(), took));
                    observer.observe(self, Asked { request: request.clone(), canary: canary_said, champion: None });
                    return Ok(scored(&canary.served, answer));
                }
                Err(error) => {
                    tracing::warn!(kind = %S::KIND, %error, "a canary failed; the champion answers");
                    observer.failed(self, &canary.served, &error);
                    canary.watch.fail(&error);
                }
            }
        }
        let (answer, took) = match self.champion_answers(request, metrics).await {
            Ok(answer) => answer,
            Err(error) => return self.previous_answers(request, error, metrics).await,
        };
        // Most of the time nobody compares, and nothing is copied.
        if self.canary.is_some() || !self.shadows.is_empty() {
            let champion = Some((answer.clone(), took));
            observer.observe(self, Asked { request: request.clone(), canary: None, champion });
        }
        Ok(scored(&self.champion, answer))
    }

    async fn champion_answers(
        &self,
        request: &S::Request,
        metrics: &Metrics,
    ) -> Result<(S::Assessment, std::time::Duration), ScoreError> {
        // Without anybody to take its place, a champion that fails on some requests is better than none.
        if self.previous.is_some() && self.champion.is_failing() {
            return Err(ScoreError::Failing);
        }
        self.champion.answer(request, metrics).await
    }

    async fn previous_answers(
        &self,
        request: &S::Request,
        error: ScoreError,
        metrics: &Metrics,
    ) -> Result<Scored<S::Assessment>, ScoreError> {
        let Some(previous) = self.previous.as_ref().filter(|_| error.is_model_fault()) else { return Err(error) };
        // That it is left alone for a while was told when that began.
        if !matches!(error, ScoreError::Failing) {
            tracing::warn!(kind = %S::KIND, %error, "the champion failed; the one before it answers");
        }
        metrics.fell_back(S::KIND);
        let (answer, _) = previous.answer(request, metrics).await?;
        Ok(scored(previous, answer))
    }

    /// The canary, if it answers this user.
    fn canary_for(&self, request: &S::Request, user: Option<&str>) -> Option<&Canary<S>> {
        let canary = self.canary.as_ref().filter(|canary| !canary.watch.is_over())?;
        let digest = canary.served.scorer.identity().digest;
        let meets = match user {
            Some(user) => is_in_share(digest, user, canary.percent),
            // The same request always meets the same version.
            None => is_in_share(digest, &format!("{request:?}"), canary.percent),
        };
        meets.then_some(canary)
    }
}

fn scored<S: Scorer>(served: &Served<S>, assessment: S::Assessment) -> Scored<S::Assessment> {
    Scored { assessment, version: served.scorer.identity().version.clone() }
}
