//! Between domain types and the generated ones.

use crate::domain;
use crate::domain::accessibility::{AgeRange, AppConfidence, Language};
use crate::domain::nudge::NudgeType;
use crate::domain::profile::{NudgingLevel, Profile, Theme};
use crate::domain::risk::Level;
use crate::wasm::v1::bindings::accessibility::exports::caudal::scoring::accessibility as a11y;
use crate::wasm::v1::bindings::nudge::exports::caudal::scoring::nudge;
use crate::wasm::v1::bindings::risk::exports::caudal::scoring::risk;
use crate::wasm::v1::bindings::rules::exports::caudal::scoring::transfer_rules as rules;

impl From<&domain::risk::Request> for risk::Request {
    fn from(request: &domain::risk::Request) -> Self {
        Self {
            amount: request.amount,
            is_new_beneficiary: request.is_new_beneficiary,
            hour_of_day: request.hour_of_day,
            num_past_transactions: request.num_past_transactions,
            avg_transaction_amount: request.avg_transaction_amount,
            max_transaction_amount: request.max_transaction_amount,
            num_transactions_to_beneficiary: request.num_transactions_to_beneficiary,
            is_new_device: request.is_new_device,
            geolocation_changed: request.geolocation_changed,
            beneficiary_saved_minutes: request.beneficiary_saved_minutes,
        }
    }
}

impl From<risk::Assessment> for domain::risk::Assessment {
    fn from(answer: risk::Assessment) -> Self {
        let contribution = |contribution: risk::Contribution| domain::risk::Contribution {
            feature: contribution.feature,
            weight: contribution.weight,
        };
        Self {
            level: match answer.level {
                risk::Level::Low => Level::Low,
                risk::Level::Medium => Level::Medium,
                risk::Level::High => Level::High,
            },
            score: answer.score,
            base: answer.base,
            contributions: answer.contributions.into_iter().map(contribution).collect(),
            factors: answer.factors,
        }
    }
}

impl From<&domain::nudge::Request> for nudge::Request {
    fn from(request: &domain::nudge::Request) -> Self {
        Self {
            screen: request.screen.clone(),
            num_validation_errors: request.num_validation_errors,
            time_on_screen_seconds: request.time_on_screen_seconds,
            num_back_navigations: request.num_back_navigations,
            steps_total: request.steps_total,
            current_step: request.current_step,
        }
    }
}

impl From<nudge::Assessment> for domain::nudge::Assessment {
    fn from(answer: nudge::Assessment) -> Self {
        Self {
            needs_help: answer.needs_help,
            difficulty_score: answer.difficulty_score,
            nudge_type: match answer.recommended_nudge_type {
                nudge::NudgeType::Assist => NudgeType::Assist,
                nudge::NudgeType::Info => NudgeType::Info,
                nudge::NudgeType::Warning => NudgeType::Warning,
            },
            reason: answer.reason,
        }
    }
}

impl From<&domain::accessibility::Request> for a11y::Request {
    fn from(request: &domain::accessibility::Request) -> Self {
        Self {
            can_read_small_text: request.can_read_small_text,
            uses_screen_reader: request.uses_screen_reader,
            feels_confident_with_apps: match request.feels_confident_with_apps {
                AppConfidence::Low => a11y::AppConfidence::Low,
                AppConfidence::Medium => a11y::AppConfidence::Medium,
                AppConfidence::High => a11y::AppConfidence::High,
            },
            age_range: match request.age_range {
                AgeRange::From18To30 => a11y::AgeRange::From18To30,
                AgeRange::From31To50 => a11y::AgeRange::From31To50,
                AgeRange::From51To60 => a11y::AgeRange::From51To60,
                AgeRange::Over60 => a11y::AgeRange::Over60,
            },
            avg_time_per_screen_seconds: request.avg_time_per_screen_seconds,
            total_validation_errors: request.total_validation_errors,
            requested_help_count: request.requested_help_count,
            behaviour_observed: request.behaviour_observed,
            language: match request.language {
                Language::Spanish => a11y::Language::EsMx,
                Language::English => a11y::Language::En,
            },
        }
    }
}

impl From<a11y::Assessment> for domain::accessibility::Assessment {
    fn from(answer: a11y::Assessment) -> Self {
        Self {
            profile: Profile {
                theme: match answer.theme {
                    a11y::Theme::StandardAccessible => Theme::StandardAccessible,
                    a11y::Theme::LargeTextHighContrast => Theme::LargeTextHighContrast,
                    a11y::Theme::VoiceAssisted => Theme::VoiceAssisted,
                },
                screen_reader_mode: answer.screen_reader_mode,
                font_scale: answer.font_scale,
                nudging_level: match answer.nudging_level {
                    a11y::NudgingLevel::Low => NudgingLevel::Low,
                    a11y::NudgingLevel::Medium => NudgingLevel::Medium,
                    a11y::NudgingLevel::High => NudgingLevel::High,
                },
                voice_feedback: answer.voice_feedback,
            },
            confidence: answer.confidence,
            explanation: answer.explanation,
        }
    }
}

impl From<&domain::rules::Facts> for rules::Facts {
    fn from(facts: &domain::rules::Facts) -> Self {
        Self {
            amount: facts.amount.minor(),
            available: facts.available.minor(),
            day_total: facts.day_total.minor(),
            per_transfer_limit: facts.per_transfer_limit.map(|limit| limit.minor()),
            per_day_limit: facts.per_day_limit.map(|limit| limit.minor()),
            beneficiary_age_seconds: facts.beneficiary_age_seconds,
            cooling_seconds: facts.cooling_seconds,
            same_account: facts.same_account,
            local_hour: facts.local_hour,
            risk_level: facts.risk_level.map(|level| level.as_str().to_owned()),
            acknowledged: facts.acknowledged,
        }
    }
}

impl From<rules::Verdict> for domain::rules::Verdict {
    fn from(answer: rules::Verdict) -> Self {
        let violation =
            |violation: rules::Violation| domain::rules::Violation { code: violation.code, detail: violation.detail };
        match answer {
            rules::Verdict::Accepted => Self::Accepted,
            rules::Verdict::Rejected(violations) => Self::Rejected(violations.into_iter().map(violation).collect()),
        }
    }
}
