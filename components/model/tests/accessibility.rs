//! `accessibility-2`: themes, confidences, switches, guidance, and what explanations never mention.

mod people;

use caudal_model::accessibility::{
    self as recommender, AgeRange, AppConfidence, Assessment, Language, NudgingLevel, Request, SUGGESTION_BELOW, Signs,
    Theme,
};
use people::{ACCESSIBILITY_2, LARGE, STANDARD, VOICE, any_person, at_ease};
use proptest::prelude::*;

fn assess(request: &Request) -> Assessment {
    recommender::assess(&ACCESSIBILITY_2, request)
}

fn check(name: &str, request: Request, theme: Theme, confidence: f64) {
    let profile = assess(&request);
    assert_eq!((profile.theme, profile.confidence), (theme, confidence), "{name}");
}

#[test]
fn answers_choose_the_theme_and_then_age() {
    use AgeRange::{From31To50, From51To60, Over60};
    let e = at_ease();
    let older = Request { age_range: From51To60, ..e };
    let oldest = Request { age_range: Over60, ..e };
    check("no need", e, STANDARD, 0.91);
    check("31 to 50", Request { age_range: From31To50, ..e }, STANDARD, 0.91);
    check("51 to 60 who reads well", older, LARGE, 0.61);
    check("over 60 who reads well", oldest, LARGE, 0.63);
    check("small text is hard", Request { can_read_small_text: false, ..e }, LARGE, 0.90);
    check("the same over 60", Request { can_read_small_text: false, ..oldest }, LARGE, 0.94);
    check("screen reader", Request { uses_screen_reader: true, can_read_small_text: false, ..e }, VOICE, 0.94);
    check("screen reader, reads well too", Request { uses_screen_reader: true, ..e }, VOICE, 0.88);
    check("screen reader over 60", Request { uses_screen_reader: true, ..oldest }, VOICE, 0.88);
}

#[test]
fn two_signs_of_difficulty_make_a_recommendation_over_50() {
    let slow = |r| Request { avg_time_per_screen_seconds: 101, ..r };
    let errors = |r| Request { total_validation_errors: 3, ..r };
    let help = |r| Request { requested_help_count: 2, ..r };
    let older = Request { age_range: AgeRange::From51To60, ..at_ease() };
    let oldest = Request { age_range: AgeRange::Over60, ..at_ease() };
    check("one sign: held below a recommendation", slow(older), LARGE, 0.69);
    check("one sign over 60", errors(oldest), LARGE, 0.69);
    check("slow, errors", slow(errors(older)), LARGE, 0.78);
    check("errors, help", errors(help(older)), LARGE, 0.78);
    check("slow, help over 60", slow(help(oldest)), LARGE, 0.79);
    check("all three", slow(errors(help(oldest))), LARGE, 0.85);
    check("all three, young", slow(errors(help(at_ease()))), STANDARD, 0.76);
    let edge =
        Request { avg_time_per_screen_seconds: 100, total_validation_errors: 2, requested_help_count: 1, ..oldest };
    check("just below every sign", edge, LARGE, 0.63);
    const { assert!(0.69 < SUGGESTION_BELOW) };
}

#[test]
fn unobserved_behaviour_costs_a_tenth_and_its_counts_are_ignored() {
    let blind = |r| Request { behaviour_observed: false, ..r };
    let oldest = Request { age_range: AgeRange::Over60, ..at_ease() };
    check("no need", blind(at_ease()), STANDARD, 0.81);
    check("small text", blind(Request { can_read_small_text: false, ..at_ease() }), LARGE, 0.80);
    check("over 60", blind(oldest), LARGE, 0.53);
    let stray = Request {
        avg_time_per_screen_seconds: u32::MAX,
        total_validation_errors: u32::MAX,
        requested_help_count: u32::MAX,
        ..oldest
    };
    assert_eq!(assess(&blind(stray)), assess(&blind(oldest)));
}

#[test]
fn scale_and_switches_follow_the_theme() {
    let voice = assess(&Request { uses_screen_reader: true, ..at_ease() });
    assert_eq!((voice.font_scale, voice.screen_reader_mode, voice.voice_feedback), (1.2, true, true));
    let large = assess(&Request { can_read_small_text: false, ..at_ease() });
    assert_eq!((large.font_scale, large.screen_reader_mode, large.voice_feedback), (1.6, false, false));
    let standard = assess(&at_ease());
    assert_eq!((standard.font_scale, standard.screen_reader_mode, standard.voice_feedback), (1.2, false, false));
}

#[test]
fn low_confidence_errors_or_help_raise_nudging() {
    let e = at_ease();
    for (request, level) in [
        (e, NudgingLevel::Medium),
        (Request { feels_confident_with_apps: AppConfidence::Medium, ..e }, NudgingLevel::Medium),
        (Request { feels_confident_with_apps: AppConfidence::Low, ..e }, NudgingLevel::High),
        (Request { total_validation_errors: 2, requested_help_count: 1, ..e }, NudgingLevel::Medium),
        (Request { total_validation_errors: 3, ..e }, NudgingLevel::High),
        (Request { requested_help_count: 2, ..e }, NudgingLevel::High),
        (Request { avg_time_per_screen_seconds: 500, ..e }, NudgingLevel::Medium),
    ] {
        assert_eq!(assess(&request).nudging_level, level, "{request:?}");
    }
}

#[test]
fn explanations_quote_the_answers() {
    let small = Request { can_read_small_text: false, feels_confident_with_apps: AppConfidence::Low, ..at_ease() };
    assert_eq!(
        assess(&small).explanation,
        [
            "Indicaste que te cuesta leer texto pequeño.",
            "Te recomendamos letra más grande y colores con mayor contraste.",
            "Indicaste que te sientes poco a gusto con las aplicaciones.",
            "Te ofreceremos más orientación en cada paso.",
        ]
    );
    let reader = Request { uses_screen_reader: true, language: Language::En, ..at_ease() };
    assert_eq!(assess(&reader).explanation[0], "You said that you use a screen reader.");
    let first = Request { behaviour_observed: false, language: Language::En, ..at_ease() };
    assert_eq!(
        assess(&first).explanation.last(),
        Some(&"This is a first recommendation, based on your answers alone.")
    );
}

/// Whether a profile follows the answers: age and signs never overrule an answer that states a need, and with
/// less than two signs they only suggest.
fn follows_answers(request: &Request, profile: &Assessment) -> bool {
    match (request.uses_screen_reader, request.can_read_small_text) {
        (true, _) => profile.theme == VOICE,
        (false, false) => profile.theme == LARGE,
        (false, true) => {
            let Signs { slow, errors, help } = Signs::of(request);
            let confirmed = u8::from(slow) + u8::from(errors) + u8::from(help) >= 2;
            profile.theme == STANDARD || confirmed || profile.confidence < SUGGESTION_BELOW
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn every_profile_is_explained_without_age(request in any_person()) {
        let profile = assess(&request);
        prop_assert!((0.0..=1.0).contains(&profile.confidence));
        prop_assert!(!profile.explanation.is_empty());
        prop_assert!(follows_answers(&request, &profile), "{:?}", profile);
        for sentence in &profile.explanation {
            prop_assert!(sentence.ends_with('.') && !sentence.contains("  "), "{}", sentence);
            let words = sentence.to_lowercase();
            let forbidden = ["edad", "años", "mayor de", "age ", "old", "discapacidad", "disab"];
            prop_assert!(!forbidden.iter().any(|word| words.contains(word)), "{}", sentence);
        }
    }
}
