//! Why a transfer is risky, by the codes of the HTTP API, and what each says to people.
//!
//! Clients and models know the codes; the words are the host's, so that all of them say the same.

use std::collections::BTreeMap;

use crate::schema::answer;

answer! {
    /// What the bank says: of a code a sentence, of a fact a part of one.
    pub struct Words {
        /// In Mexican Spanish.
        pub es: &'static str { example: "\"No reconocemos este dispositivo.\"" },
        /// In English.
        pub en: &'static str { example: "\"We do not recognise this device.\"" },
    }
}

type Reason = (&'static str, Words);

const fn reason(code: &'static str, es: &'static str, en: &'static str) -> Reason {
    (code, Words { es, en })
}

/// From the specification, in its order.
const FACTORS: [Reason; 6] = [
    reason(
        "AMOUNT_MUCH_HIGHER_THAN_AVERAGE",
        "El monto es más del doble de lo que sueles enviar.",
        "The amount is more than twice what you usually send.",
    ),
    reason(
        "NEW_BENEFICIARY",
        "Todavía no has completado ninguna transferencia a este beneficiario.",
        "You have not completed a transfer to this payee yet.",
    ),
    reason("UNUSUAL_TIME", "Es una hora poco común para transferir.", "It is an unusual time for a transfer."),
    reason("NEW_DEVICE", "No reconocemos este dispositivo.", "We do not recognise this device."),
    reason("LOCATION_CHANGED", "No estás donde sueles estar.", "You are not where you usually are."),
    reason("LOW_HISTORY", "Has hecho pocas transferencias hasta ahora.", "You have made few transfers so far."),
];

/// What models say besides.
const OTHERS: [Reason; 1] = [reason(
    "MISSING_FACT",
    "Faltan datos para evaluar bien esta transferencia.",
    "Some of what would be needed to assess this transfer well is not known.",
)];

/// The factors of the specification, in its order.
pub const FACTOR_CODES: [&str; FACTORS.len()] = codes(&FACTORS);

const OTHER_CODES: [&str; OTHERS.len()] = codes(&OTHERS);

const fn codes<const N: usize>(reasons: &[Reason; N]) -> [&'static str; N] {
    let mut codes = [""; N];
    let mut at = 0;
    while at < N {
        codes[at] = reasons[at].0;
        at += 1;
    }
    codes
}

/// The codes that a model may give as its reasons.
pub fn reason_codes() -> impl Iterator<Item = &'static str> {
    FACTOR_CODES.into_iter().chain(OTHER_CODES)
}

/// What each code says.
pub fn words() -> BTreeMap<&'static str, Words> {
    FACTORS.into_iter().chain(OTHERS).collect()
}
