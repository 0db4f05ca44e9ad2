//! The three scorers by rows: what `score` and the gate have in common.

use serde::Serialize;

use crate::domain::accessibility::Language;
use crate::domain::{accessibility, nudge, risk};
use crate::models::{ScoreError, Scored};
use crate::schema::Fields;
use crate::scoring::accessibility::{AccessibilityAnswer, read_accessibility};
use crate::scoring::kind::read_id;
use crate::scoring::nudge::{NudgeAnswer, read_nudge};
use crate::scoring::risk::{RiskAnswer, read_risk};
use crate::wasm::{AccessibilityScorer, Identity, NudgeScorer, RiskScorer};

/// A scored row: the body of the HTTP API's answer, and the same in columns.
pub(crate) struct Answer<J> {
    pub(crate) json: J,
    pub(crate) columns: Vec<String>,
}

/// A scorer, by rows.
pub(crate) trait Scorer {
    /// A request with what is echoed.
    type Row;
    /// An answer of the component.
    type Assessment;
    /// The body of the HTTP API's answer.
    type Json: Serialize;
    /// Names of an answer's columns.
    const COLUMNS: &'static [&'static str];

    /// Reads a row; faults are noted in the fields.
    fn read(fields: &mut Fields, language: Language) -> Self::Row;

    /// Scores rows in one instance.
    fn score(&self, rows: &[Self::Row]) -> Result<Vec<Result<Self::Assessment, ScoreError>>, ScoreError>;

    /// Scores a row in an instance of its own.
    fn score_one(&self, row: &Self::Row) -> Result<Self::Assessment, ScoreError>;

    /// The answer to a row.
    fn answer(&self, row: Self::Row, assessment: Self::Assessment) -> Answer<Self::Json>;

    /// Who scores.
    fn identity(&self) -> &Identity;
}

/// A request, and the identifiers that are echoed.
pub(crate) struct Asked<R> {
    request: R,
    user_id: Option<String>,
    session_id: Option<String>,
}

impl<R> From<R> for Asked<R> {
    fn from(request: R) -> Self {
        Self { request, user_id: None, session_id: None }
    }
}

fn requests<R: Clone>(rows: &[Asked<R>]) -> Vec<R> {
    rows.iter().map(|row| row.request.clone()).collect()
}

macro_rules! calls {
    ($domain:ident, $json:ident) => {
        type Json = $json;
        type Row = Asked<$domain::Request>;
        type Assessment = $domain::Assessment;

        fn score(&self, rows: &[Self::Row]) -> Result<Vec<Result<Self::Assessment, ScoreError>>, ScoreError> {
            self.assess_batch(&requests(rows))
        }

        fn score_one(&self, row: &Self::Row) -> Result<Self::Assessment, ScoreError> {
            self.assess(&row.request)
        }

        fn identity(&self) -> &Identity {
            self.identity()
        }
    };
}

impl Scorer for RiskScorer {
    calls!(risk, RiskAnswer);

    const COLUMNS: &'static [&'static str] = &["user_id", "model_version", "risk_level", "risk_score", "risk_factors"];

    fn read(fields: &mut Fields, _: Language) -> Self::Row {
        Asked { user_id: read_id(fields, "user_id"), session_id: None, request: read_risk(fields) }
    }

    fn answer(&self, row: Self::Row, assessment: Self::Assessment) -> Answer<Self::Json> {
        let version = self.identity().version.clone();
        let columns = vec![
            row.user_id.clone().unwrap_or_default(),
            version.to_string(),
            assessment.level.to_string(),
            assessment.score.to_string(),
            assessment.factors.join(" "),
        ];
        Answer { json: RiskAnswer::new(row.user_id, Scored { assessment, version }), columns }
    }
}

impl Scorer for NudgeScorer {
    calls!(nudge, NudgeAnswer);

    const COLUMNS: &'static [&'static str] = &[
        "user_id",
        "session_id",
        "screen",
        "model_version",
        "needs_help",
        "difficulty_score",
        "recommended_nudge_type",
        "reason",
    ];

    fn read(fields: &mut Fields, _: Language) -> Self::Row {
        let [user_id, session_id] = ["user_id", "session_id"].map(|field| read_id(fields, field));
        Asked { user_id, session_id, request: read_nudge(fields) }
    }

    fn answer(&self, row: Self::Row, assessment: Self::Assessment) -> Answer<Self::Json> {
        let version = self.identity().version.clone();
        let columns = vec![
            row.user_id.clone().unwrap_or_default(),
            row.session_id.clone().unwrap_or_default(),
            row.request.screen.clone(),
            version.to_string(),
            assessment.needs_help.to_string(),
            assessment.difficulty_score.to_string(),
            assessment.nudge_type.to_string(),
            assessment.reason.clone(),
        ];
        let ids = [row.user_id, row.session_id];
        Answer { json: NudgeAnswer::new(ids, row.request.screen, Scored { assessment, version }), columns }
    }
}

impl Scorer for AccessibilityScorer {
    calls!(accessibility, AccessibilityAnswer);

    const COLUMNS: &'static [&'static str] = &[
        "user_id",
        "model_version",
        "theme",
        "screen_reader_mode",
        "font_scale",
        "nudging_level",
        "voice_feedback",
        "confidence",
        "explanation",
    ];

    fn read(fields: &mut Fields, language: Language) -> Self::Row {
        let user_id = read_id(fields, "user_id");
        Asked { user_id, session_id: None, request: read_accessibility(fields, language) }
    }

    fn answer(&self, row: Self::Row, assessment: Self::Assessment) -> Answer<Self::Json> {
        let version = self.identity().version.clone();
        let profile = &assessment.profile;
        let columns = vec![
            row.user_id.clone().unwrap_or_default(),
            version.to_string(),
            profile.theme.to_string(),
            profile.screen_reader_mode.to_string(),
            profile.font_scale.to_string(),
            profile.nudging_level.to_string(),
            profile.voice_feedback.to_string(),
            assessment.confidence.to_string(),
            assessment.explanation.join(" "),
        ];
        Answer { json: AccessibilityAnswer::new(row.user_id, Scored { assessment, version }), columns }
    }
}
