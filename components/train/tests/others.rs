//! Nudge and accessibility training: the fits are calibrated, reproducible, and satisfy their guarantees.

use std::collections::HashSet;

use caudal_model::accessibility::{self as recommender, SUGGESTION_BELOW};
use caudal_model::nudge::{self as scorer, ASSIST_ABOVE, INFO_ABOVE, Request};
use caudal_train::accessibility::generator::{DATA_1, DATA_2};
use caudal_train::accessibility::{self, evaluation};
use caudal_train::data::code;
use caudal_train::metrics::{brier, reliability};
use caudal_train::nudge;
use caudal_train::pipeline::{HELD_OUT_ROWS, SEED, Stream};
use caudal_train::random::Random;
use serde_json::{Value, json};

const NUDGE_1: &[u8] = include_bytes!("../../nudge/models/nudge-1/weights.bin");
const ACCESSIBILITY_2: &[u8] = include_bytes!("../../accessibility/models/accessibility-2/weights.bin");

/// Enough rows to satisfy every guarantee, few enough to be quick.
const ROWS: usize = 40_000;

#[test]
fn no_score_without_age_beats_the_nudge_score() {
    let weights = scorer::Weights::parse(NUDGE_1).expect("sound");
    let rows = nudge::generator::generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED));
    let predicted = nudge::evaluation::scores(&weights, &rows);
    let known: Vec<_> = rows.iter().map(|row| nudge::generator::posterior(&row.facts.request())).collect();
    let observed: Vec<_> = rows.iter().map(|row| row.label.struggling).collect();
    let (model_error, known_error) =
        (reliability("", &predicted, &observed).ece, reliability("", &known, &observed).ece);
    assert!(known_error < 0.008, "the true probabilities: {known_error}");
    assert!(model_error < 0.01, "the score: {model_error}");
    assert!(brier(&predicted, &observed) - brier(&known, &observed) < 0.001);
}

#[test]
fn every_nudge_fit_satisfies_the_guarantees() {
    for seed in 1..=3 {
        let rows = nudge::generator::generate(ROWS, &mut Random::new(seed, 1));
        let fit = nudge::fit::fit(&rows).expect("converges");
        let at = |errors, seconds, backs| {
            let request = Request {
                screen: "confirm",
                num_validation_errors: errors,
                time_on_screen_seconds: seconds,
                num_back_navigations: backs,
                steps_total: 1,
                current_step: 1,
            };
            scorer::assess(&fit.weights, &request).expect("in range").score
        };
        assert!(at(0, 25, 0) < 0.15);
        assert!(at(1, 25, 0) <= INFO_ABOVE);
        assert!(at(0, 43, 0) <= INFO_ABOVE, "1.7 times slower without errors needs no help");
        assert!(at(0, 56, 0) <= INFO_ABOVE && at(0, 57, 0) > INFO_ABOVE, "2.24 times the median is 56 seconds");
        assert!(at(3, 25, 0) > INFO_ABOVE && at(3, 25, 0) <= ASSIST_ABOVE);
        assert!(at(5, 25, 0) > ASSIST_ABOVE && at(3, 57, 0) > ASSIST_ABOVE);
        assert!(at(0, 25, u32::MAX) <= ASSIST_ABOVE);
        assert!(fit.free - fit.tied < 0.001, "the constraint on time costs {}", fit.free - fit.tied);
        let again = nudge::fit::fit(&rows).expect("converges");
        assert_eq!(fit.weights.to_file(), again.weights.to_file());
    }
    assert!(nudge::fit::fit(&[]).is_err());
}

#[test]
fn confidence_is_how_often_a_theme_is_kept() {
    let weights = recommender::Weights::parse(ACCESSIBILITY_2).expect("sound");
    let rows = DATA_2.generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED));
    let (tables, curves) = evaluation::report(&weights, &rows);
    assert!(curves[0].ece < 0.01, "{}", curves[0].ece);
    assert_eq!(tables[0].id, "results");
    let mut groups = [[0.0_f64; 3]; 2];
    for row in &rows {
        let profile = recommender::assess(&weights, &row.facts.request());
        let group = &mut groups[usize::from(profile.confidence < SUGGESTION_BELOW)];
        let kept = profile.theme == row.label.kept;
        *group = [group[0] + 1.0, group[1] + profile.confidence, group[2] + f64::from(kept)];
    }
    for [rows, confidence, kept] in groups {
        assert!(
            rows > 1000.0 && (confidence - kept).abs() / rows < 0.02,
            "{rows} rows: confidence {confidence}, {kept} kept"
        );
    }
}

#[test]
fn accessibility_fits_are_repeatable_and_need_every_group() {
    let rows = DATA_2.generate(ROWS, &mut Random::new(3, 1));
    let [one, two] = [0, 1].map(|_| accessibility::fit::fit(&rows).expect("converges").to_file());
    assert_eq!(one, two);
    let without_readers: Vec<_> = rows.into_iter().filter(|row| !row.facts.uses_screen_reader).collect();
    let error = accessibility::fit::fit(&without_readers).expect_err("there is no one to learn from");
    assert_eq!(error.to_string(), "people with a screen reader");
}

#[test]
fn the_rule_on_age_holds_on_data_that_contradict_it() {
    let rows = DATA_1.generate(ROWS, &mut Random::new(3, 1));
    let weights = accessibility::fit::fit(&rows).expect("converges");
    let calm = recommender::Request {
        can_read_small_text: true,
        uses_screen_reader: false,
        age_range: recommender::AgeRange::Over60,
        avg_time_per_screen_seconds: 30,
        total_validation_errors: 0,
        requested_help_count: 0,
        ..rows[0].facts.request()
    };
    let profile = recommender::assess(&weights, &calm);
    assert_eq!(profile.theme, recommender::Theme::LargeTextHighContrast);
    assert!(profile.confidence < 0.5, "the confidence says how many keep it: {}", profile.confidence);
}

#[test]
fn versions_of_the_data_have_the_same_people() {
    let [one, two] = [DATA_1, DATA_2].map(|data| data.generate(1000, &mut Random::new(3, 1)));
    assert!(one.iter().zip(&two).all(|(one, two)| one.facts == two.facts));
    let differ = one.iter().zip(&two).filter(|(one, two)| one.label.kept != two.label.kept).count();
    assert!((20..200).contains(&differ), "{differ} keep another theme");
}

#[test]
fn every_questionnaire_gets_the_reviewed_answer() {
    let weights = recommender::Weights::parse(ACCESSIBILITY_2).expect("sound");
    let mut questionnaires = HashSet::new();
    for line in include_str!("../../../tests/golden/reviewed/accessibility-2.ndjson").lines() {
        let row: Value = serde_json::from_str(line).expect("a case");
        let facts: accessibility::generator::Facts = serde_json::from_value(row["request"].clone()).expect("facts");
        let profile = recommender::assess(&weights, &facts.request());
        let answer = json!({
            "theme": code(profile.theme), "screen_reader_mode": profile.screen_reader_mode,
            "font_scale": profile.font_scale, "nudging_level": code(profile.nudging_level),
            "voice_feedback": profile.voice_feedback, "confidence": profile.confidence,
            "explanation": profile.explanation,
        });
        assert_eq!(answer, row["expect"], "{}: {}", row["case"], row["why"]);
        let questionnaire = (
            facts.uses_screen_reader,
            facts.can_read_small_text,
            facts.feels_confident_with_apps as u8,
            facts.age_range as u8,
        );
        assert!(questionnaires.insert(questionnaire), "{} repeats another row", row["case"]);
    }
    assert_eq!(questionnaires.len(), 2 * 2 * 3 * 4);
}
