//! The sentences that explain a recommendation to the person, in Mexican Spanish and in English.
//!
//! They refer to what the person answered or did, never mention age or name a condition, and leave the
//! choice to the person.

use alloc::vec::Vec;

use super::{AppConfidence, Language, Request, Rule, Signs};

struct Sentence {
    es_mx: &'static str,
    en: &'static str,
}

const SCREEN_READER: Sentence =
    Sentence { es_mx: "Indicaste que usas un lector de pantalla.", en: "You said that you use a screen reader." };
const VOICE_PROFILE: Sentence = Sentence {
    es_mx: "Te recomendamos el diseño para lector de pantalla; tú decides si además activas los avisos \
            en voz alta.",
    en: "We recommend the screen reader design; it is up to you whether notices are also read aloud.",
};
const SMALL_TEXT_IS_HARD: Sentence = Sentence {
    es_mx: "Indicaste que te cuesta leer texto pequeño.",
    en: "You said that small text is hard for you to read.",
};
const LARGE_PROFILE: Sentence = Sentence {
    es_mx: "Te recomendamos letra más grande y colores con mayor contraste.",
    en: "We recommend larger text and colours with more contrast.",
};
const LARGE_SUGGESTION: Sentence = Sentence {
    es_mx: "Quizá te sirva la letra más grande con mayor contraste; tú decides si la activas.",
    en: "Larger text with more contrast may help; it is up to you whether to turn it on.",
};
const LARGE_FROM_ANSWERS: Sentence = Sentence {
    es_mx: "Por el resto de tus respuestas, quizá te sirva la letra más grande con mayor contraste; tú \
            decides si la activas.",
    en: "Going by your other answers, larger text with more contrast may help; it is up to you whether to \
         turn it on.",
};
const SMALL_TEXT_IS_FINE: Sentence =
    Sentence { es_mx: "Indicaste que lees bien el texto pequeño.", en: "You said that small text is fine for you." };
const STANDARD_PROFILE: Sentence = Sentence {
    es_mx: "Te recomendamos el diseño accesible estándar; puedes agrandar la letra cuando quieras.",
    en: "We recommend the standard accessible design; you can make the text larger at any time.",
};
const SLOW: Sentence = Sentence {
    es_mx: "Notamos que te has tomado más tiempo en cada pantalla.",
    en: "We noticed that you have taken longer on each screen.",
};
const ERRORS: Sentence = Sentence {
    es_mx: "Notamos que varios datos necesitaron corrección.",
    en: "We noticed that several entries had to be corrected.",
};
const HELP: Sentence = Sentence { es_mx: "Pediste ayuda más de una vez.", en: "You asked for help more than once." };
const UNSURE: Sentence = Sentence {
    es_mx: "Indicaste que te sientes poco a gusto con las aplicaciones.",
    en: "You said that you do not feel very sure with apps.",
};
const MORE_GUIDANCE: Sentence = Sentence {
    es_mx: "Te ofreceremos más orientación en cada paso.",
    en: "We will offer more guidance at each step.",
};
const UNOBSERVED: Sentence = Sentence {
    es_mx: "Es una recomendación inicial, basada solo en tus respuestas.",
    en: "This is a first recommendation, based on your answers alone.",
};

/// At least one sentence: the reason for the theme, the theme, the amount of help. A theme that is
/// `suggested` because of signs is worded as a suggestion.
pub(super) fn sentences(request: &Request, rule: Rule, signs: Signs, suggested: bool) -> Vec<&'static str> {
    let unsure = request.feels_confident_with_apps == AppConfidence::Low;
    let guided = unsure || signs.errors || signs.help;
    let because_of_signs = matches!(rule, Rule::Age | Rule::Signs);
    let (reason, profile) = match rule {
        Rule::ScreenReader => (Some(SCREEN_READER), VOICE_PROFILE),
        Rule::SmallText => (Some(SMALL_TEXT_IS_HARD), LARGE_PROFILE),
        Rule::Age if signs.count() == 0 => (Some(SMALL_TEXT_IS_FINE), LARGE_FROM_ANSWERS),
        Rule::Age => (Some(SMALL_TEXT_IS_FINE), LARGE_SUGGESTION),
        Rule::Signs => (None, if suggested { LARGE_SUGGESTION } else { LARGE_PROFILE }),
        Rule::Standard => (Some(SMALL_TEXT_IS_FINE), STANDARD_PROFILE),
    };
    // Signs are mentioned only if they changed the theme, the confidence in it or the amount of guidance.
    [
        reason,
        (because_of_signs && signs.slow).then_some(SLOW),
        signs.errors.then_some(ERRORS),
        signs.help.then_some(HELP),
        Some(profile),
        unsure.then_some(UNSURE),
        guided.then_some(MORE_GUIDANCE),
        (!request.behaviour_observed).then_some(UNOBSERVED),
    ]
    .into_iter()
    .flatten()
    .map(|sentence| match request.language {
        Language::EsMx => sentence.es_mx,
        Language::En => sentence.en,
    })
    .collect()
}
