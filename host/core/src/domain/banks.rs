//! Institutions by the first three digits of a CLABE, as published in November 2026.
//!
//! Such lists go stale, so an unknown code only costs the name or adds a warning; it never stops a payment.

/// The institution with this ABM code.
pub(crate) fn name(code: &str) -> Option<&'static str> {
    BANKS.binary_search_by_key(&code, |(known, _)| known).ok().map(|found| BANKS[found].1)
}

/// What customers call an institution whose published name is an abbreviation.
pub fn public_name(published: &str) -> Option<&'static str> {
    PUBLIC_NAMES.iter().find(|(name, _)| *name == published).map(|(_, public)| *public)
}

/// SPEI's code for an institution: five digits (four for Banco de México), derived from the first three of
/// its CLABEs. `None` unless there are three digits.
///
/// Unknown codes are mapped too: the prefix depends only on the type of institution, and only the rail knows
/// the current participants.
pub fn institution(code: &str) -> Option<u32> {
    let digits = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = digits.then(|| code.parse().ok()).flatten()?;
    let kind = match number {
        CENTRAL_BANK => CENTRAL,
        number if DEVELOPMENT_BANKS.contains(&number) => DEVELOPMENT,
        number if number < OTHERS_FROM => COMMERCIAL,
        _ => OTHER,
    };
    Some(kind + number)
}

/// What customers call the institution with this SPEI code, if it is known.
pub fn institution_name(spei_code: u32) -> Option<&'static str> {
    let code = format!("{:03}", spei_code % 1_000);
    let name = name(&code).filter(|_| institution(&code) == Some(spei_code))?;
    Some(public_name(name).unwrap_or(name))
}

/// The code of the institution that `label` names, as one of its words or as a whole; case and spaces are ignored.
/// `None` if it names no known institution, or several.
pub fn code(label: &str) -> Option<&'static str> {
    let plain = |text: &str| {
        text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect::<String>()
    };
    let whole = plain(label);
    let words: Vec<_> = label.split_whitespace().map(plain).collect();
    let mut found = BANKS.iter().filter(|(_, name)| {
        let name = plain(name);
        name == whole || words.contains(&name)
    });
    let (code, _) = found.next()?;
    found.next().is_none().then_some(code)
}

/// Banco de México.
const CENTRAL_BANK: u32 = 1;

/// Development banks, whose codes are in the range of commercial banks: Bancomext, Banobras, Banjercito,
/// Nafin, Bienestar, Hipotecaria Federal.
const DEVELOPMENT_BANKS: [u32; 6] = [6, 9, 19, 135, 166, 168];

/// Lowest code of an institution that is not a bank.
const OTHERS_FROM: u32 = 600;

/// Prefixes to the three digits, by type of institution.
const CENTRAL: u32 = 2_000;
const DEVELOPMENT: u32 = 37_000;
const COMMERCIAL: u32 = 40_000;
const OTHER: u32 = 90_000;

/// Sorted by code.
#[rustfmt::skip]
const BANKS: &[(&str, &str)] = &[
    ("001", "Banxico"), ("002", "Banamex"), ("006", "Bancomext"), ("009", "Banobras"), ("012", "BBVA"),
    ("014", "Santander"), ("019", "Banjercito"), ("021", "HSBC"), ("030", "Bajio"), ("036", "Inbursa"),
    ("042", "Mifel"), ("044", "Scotiabank"), ("058", "Banregio"), ("059", "Invex"), ("060", "Bansi"),
    ("062", "Afirme"), ("072", "Banorte"), ("106", "BofA"), ("108", "Mufg"), ("110", "JPMorgan"),
    ("112", "Bmonex"), ("113", "VePorMas"), ("124", "Citi"), ("127", "Azteca"), ("128", "Autofin"),
    ("129", "Barclays"), ("130", "Compartamos"), ("132", "Multiva"), ("133", "Actinver"), ("135", "Nafin"),
    ("136", "Intercam"), ("137", "Bancoppel"), ("138", "Uala"), ("140", "Consubanco"), ("141", "Volkswagen"),
    ("143", "CIBanco"), ("145", "BBase"), ("147", "Bankaool"), ("148", "Pagatodo"), ("150", "Inmobiliario"),
    ("151", "Donde"), ("152", "Bancrea"), ("154", "Covalto"), ("155", "ICBC"), ("156", "Sabadell"),
    ("157", "Shinhan"), ("158", "Mizuho"), ("159", "BankOfChina"), ("160", "S3"), ("166", "BaBien"),
    ("167", "Hey"), ("168", "HipFed"), ("600", "Monexcb"), ("601", "GBM"), ("602", "Masari"),
    ("605", "Value"), ("616", "Finamex"), ("617", "Valmex"), ("620", "Profuturo"), ("630", "CBIntercam"),
    ("631", "CIBolsa"), ("634", "Fincomun"), ("638", "NU"), ("646", "STP"), ("652", "Credicapital"),
    ("653", "Kuspit"), ("656", "Unagra"), ("659", "AspIntegra"), ("661", "KLAR"), ("670", "Libertad"),
    ("677", "CajaPopMexica"), ("680", "CristobalColon"), ("683", "CajaTelefonist"), ("684", "Transfer"),
    ("685", "Fondo(Fira)"), ("688", "Crediclub"), ("689", "Fomped"), ("699", "Fondeadora"), ("703", "Tesored"),
    ("706", "Arcus"), ("710", "NVIO"), ("714", "PPBalance"), ("715", "Cashi"), ("720", "MexPago"),
    ("721", "Albo"), ("722", "MercadoPago"), ("723", "Cuenca"), ("725", "Coopdesarrollo"),
    ("727", "TransferDirecto"), ("728", "SpinOXXO"), ("729", "DepPagDig"), ("730", "Swap"), ("732", "Peibo"),
    ("734", "FincoPay"), ("738", "Fintoc"), ("901", "CLS"), ("902", "Indeval"), ("903", "CoDiValida"),
];

/// Abbreviations that the name in use does not contain.
const PUBLIC_NAMES: &[(&str, &str)] = &[
    ("BaBien", "Banco del Bienestar"),
    ("BBase", "Banco Base"),
    ("BofA", "Bank of America"),
    ("CajaPopMexica", "Caja Popular Mexicana"),
    ("CajaTelefonist", "Caja de Telefonistas"),
    ("HipFed", "Hipotecaria Federal"),
    ("SpinOXXO", "Spin by OXXO"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_complete() {
        assert!(BANKS.is_sorted_by(|left, right| left.0 < right.0));
        assert_eq!(BANKS.len(), 98);
        assert_eq!(name("646"), Some("STP"));
        assert_eq!(name("111"), None);
        assert_eq!((institution_name(40_012), institution_name(37_166)), (Some("BBVA"), Some("Banco del Bienestar")));
        assert_eq!((institution_name(90_012), institution_name(40_111)), (None, None));
    }

    #[test]
    fn public_names_are_of_institutions() {
        for (published, _) in PUBLIC_NAMES {
            assert!(BANKS.iter().any(|(_, name)| name == published), "{published}");
        }
    }

    #[test]
    fn codes_map_to_speis() {
        for (code, want) in [
            ("001", Some(2_001)),
            ("002", Some(40_002)),
            ("006", Some(37_006)),
            ("012", Some(40_012)),
            ("032", Some(40_032)),
            ("135", Some(37_135)),
            ("166", Some(37_166)),
            ("167", Some(40_167)),
            ("168", Some(37_168)),
            ("600", Some(90_600)),
            ("646", Some(90_646)),
            ("903", Some(90_903)),
            ("12", None),
            ("+12", None),
            ("0123", None),
        ] {
            assert_eq!(institution(code), want, "{code}");
        }
    }

    #[test]
    fn a_bank_is_recognised_by_its_name_alone_or_among_other_words() {
        for (label, want) in [
            ("BBVA", Some("012")),
            ("bbva Mexico", Some("012")),
            ("Banco Azteca, S.A.", Some("127")),
            ("Mercado Pago", Some("722")),
            ("Nu", Some("638")),
            ("Banorte o BBVA", None),
            ("Banco", None),
            ("", None),
        ] {
            assert_eq!(code(label), want, "{label}");
        }
    }
}
