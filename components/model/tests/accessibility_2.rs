//! `accessibility-2`: the guidance of the specification, applied literally, and guarantees that hold for any
//! weights that are accepted.

mod people;

use caudal_model::accessibility::{
    self as recommender, AgeRange, Assessment, Language, Lean, Request, SUGGESTION_BELOW, Signs, Weights,
};
use people::{ACCESSIBILITY_2, AGES, CONFIDENCES, LARGE, STANDARD, VOICE, any_person, at_ease};
use proptest::prelude::*;

fn assess(request: &Request) -> Assessment {
    recommender::assess(&ACCESSIBILITY_2, request)
}

fn signs(request: &Request) -> usize {
    let Signs { slow, errors, help } = Signs::of(request);
    usize::from(slow) + usize::from(errors) + usize::from(help)
}

/// Every combination of signs of difficulty, for this person.
fn with_signs(person: Request) -> impl Iterator<Item = Request> {
    (0..8_u32).map(move |case| Request {
        avg_time_per_screen_seconds: if case & 1 == 0 { 100 } else { 101 },
        total_validation_errors: if case & 2 == 0 { 2 } else { 3 },
        requested_help_count: if case & 4 == 0 { 1 } else { 2 },
        ..person
    })
}

/// People over 50 who say that they read small text well: for each confidence with apps, 24 ways of using
/// the app, from none of the signs to all.
fn readers_over_50() -> Vec<Request> {
    let mut people = Vec::new();
    for age_range in &AGES[2..] {
        for feels_confident_with_apps in CONFIDENCES {
            for avg_time_per_screen_seconds in [30, 150] {
                for total_validation_errors in [0, 2, 5] {
                    for requested_help_count in [0, 1, 2, 4] {
                        people.push(Request {
                            age_range: *age_range,
                            feels_confident_with_apps,
                            avg_time_per_screen_seconds,
                            total_validation_errors,
                            requested_help_count,
                            ..at_ease()
                        });
                    }
                }
            }
        }
    }
    people
}

#[test]
fn all_people_over_50_who_read_well_get_large_text() {
    let people = readers_over_50();
    assert_eq!(people.len(), 144);
    for person in &people {
        let profile = assess(person);
        assert_eq!((profile.theme, profile.font_scale), (LARGE, 1.6), "{person:?}");
        assert!(profile.confidence >= 0.5, "{person:?}: {}", profile.confidence);
        assert_eq!(profile.confidence < SUGGESTION_BELOW, signs(person) < 2, "{person:?}: {}", profile.confidence);
    }
}

#[test]
fn a_no_or_observed_difficulty_raises_the_confidence() {
    for age_range in [AgeRange::From51To60, AgeRange::Over60] {
        let calm = assess(&Request { age_range, ..at_ease() });
        for person in with_signs(Request { age_range, ..at_ease() }) {
            let profile = assess(&person);
            assert_eq!(profile.confidence > calm.confidence, signs(&person) > 0, "{person:?}");
            let no = assess(&Request { can_read_small_text: false, ..person });
            assert!(no.theme == LARGE && no.confidence > profile.confidence, "{person:?}: {no:?}");
            assert!(no.confidence >= 0.9);
        }
    }
}

#[test]
fn without_behaviour_age_suggests_and_a_no_recommends() {
    for age_range in [AgeRange::From51To60, AgeRange::Over60] {
        let person = Request { age_range, behaviour_observed: false, ..at_ease() };
        let profile = assess(&person);
        assert!(profile.theme == LARGE && profile.confidence < SUGGESTION_BELOW, "{profile:?}");
        let no = assess(&Request { can_read_small_text: false, ..person });
        assert!(no.theme == LARGE && no.confidence >= SUGGESTION_BELOW, "{no:?}");
    }
}

#[test]
fn a_screen_reader_outranks_age() {
    for person in with_signs(Request { uses_screen_reader: true, age_range: AgeRange::Over60, ..at_ease() }) {
        assert_eq!(assess(&person).theme, VOICE);
    }
}

#[test]
fn explanations_follow_the_confidence() {
    let oldest = Request { age_range: AgeRange::Over60, ..at_ease() };
    assert_eq!(
        assess(&oldest).explanation,
        [
            "Indicaste que lees bien el texto pequeño.",
            "Por el resto de tus respuestas, quizá te sirva la letra más grande con mayor contraste; tú decides si la activas.",
        ]
    );
    let slow = Request { avg_time_per_screen_seconds: 101, language: Language::En, ..oldest };
    assert_eq!(
        assess(&slow).explanation,
        [
            "You said that small text is fine for you.",
            "We noticed that you have taken longer on each screen.",
            "Larger text with more contrast may help; it is up to you whether to turn it on.",
        ]
    );
    let two = Request { total_validation_errors: 3, ..slow };
    assert_eq!(
        assess(&two).explanation,
        [
            "We noticed that you have taken longer on each screen.",
            "We noticed that several entries had to be corrected.",
            "We recommend larger text and colours with more contrast.",
            "We will offer more guidance at each step.",
        ]
    );
}

/// Weights that a component accepts.
fn any_weights() -> impl Strategy<Value = Weights<'static>> {
    let lean = |base: std::ops::Range<f64>, rest: f64| {
        let rest = prop::array::uniform5(0.0..rest);
        (base, rest).prop_map(|(base, [a, b, c, d, e])| Lean::new([base, a, b, c, d, e]))
    };
    let sound = |weights: &Weights<'_>| weights.is_sound();
    (lean(-1.0..6.0, 2.0), lean(-6.0..0.0, 1.5))
        .prop_map(|(small_text, leaning)| Weights { small_text, leaning, ..ACCESSIBILITY_2 })
        .prop_filter("a component rejects them", sound)
}

/// Asserts that large text is at least as certain for `more` as for `less`, and the standard theme no more so.
fn assert_leans(weights: &Weights<'_>, less: &Request, more: &Request) -> Result<(), TestCaseError> {
    let [before, after] = [less, more].map(|it| recommender::assess(weights, it));
    if before.theme == LARGE {
        prop_assert!(after.theme == LARGE && after.confidence >= before.confidence, "{:?} {:?}", before, after);
    } else if after.theme == before.theme {
        prop_assert!(after.theme == VOICE || after.confidence <= before.confidence, "{:?} {:?}", before, after);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn more_difficulty_never_lowers_the_confidence_in_large_text(
        weights in any_weights(), less in any_person(), more in any_person(),
    ) {
        let more = Request {
            avg_time_per_screen_seconds: less.avg_time_per_screen_seconds.max(more.avg_time_per_screen_seconds),
            total_validation_errors: less.total_validation_errors.max(more.total_validation_errors),
            requested_help_count: less.requested_help_count.max(more.requested_help_count),
            ..less
        };
        for weights in [weights, ACCESSIBILITY_2] {
            assert_leans(&weights, &less, &more)?;
        }
    }

    #[test]
    fn a_higher_age_never_lowers_it(weights in any_weights(), person in any_person(), other in any_person()) {
        let younger = Request { age_range: person.age_range.min(other.age_range), ..person };
        let older = Request { age_range: person.age_range.max(other.age_range), ..person };
        for weights in [weights, ACCESSIBILITY_2] {
            assert_leans(&weights, &younger, &older)?;
        }
    }

    #[test]
    fn a_no_to_small_text_never_lowers_it(weights in any_weights(), person in any_person()) {
        let yes = Request { can_read_small_text: true, uses_screen_reader: false, ..person };
        let no = Request { can_read_small_text: false, ..yes };
        for weights in [weights, ACCESSIBILITY_2] {
            prop_assert_eq!(recommender::assess(&weights, &no).theme, LARGE);
            assert_leans(&weights, &yes, &no)?;
        }
    }

    #[test]
    fn age_leans_whatever_the_weights(weights in any_weights(), person in any_person()) {
        let person = Request { can_read_small_text: true, uses_screen_reader: false, ..person };
        let profile = recommender::assess(&weights, &person);
        let theme = if person.age_range >= AgeRange::From51To60 { LARGE } else { STANDARD };
        prop_assert_eq!(profile.theme, theme);
        let suggested = profile.theme == LARGE && signs(&person) < 2;
        prop_assert!(!suggested || profile.confidence < SUGGESTION_BELOW, "{:?}", profile);
    }
}
