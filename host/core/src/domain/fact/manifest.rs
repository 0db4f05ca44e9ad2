//! What a component says of itself when it is loaded, found in the host's terms or refused by name.

use super::{FACTS, Fact};
use crate::domain::reason::reason_codes;
use crate::domain::risk::Request;

/// Names in one list of a component. Twice what a catalogue has is more than any component needs.
pub(crate) const NAMES_MAX: usize = 64;

/// Facts of the specification, which come first in the catalogue. Contract 1 has no others.
const SPECIFIED: usize = 10;

/// What a component says of itself, in its own names.
#[derive(Default)]
pub struct Claims {
    pub(crate) facts: Vec<ClaimedFact>,
    pub(crate) reasons: Vec<String>,
    /// Of risk models.
    pub(crate) contributions: Vec<String>,
    /// Of rules.
    pub(crate) requirements: Vec<String>,
}

pub struct ClaimedFact {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) unit: String,
    pub(crate) is_required: bool,
}

/// A row of a catalogue, as far as a component has to name it.
pub(crate) trait Row: 'static {
    fn name(&self) -> &'static str;
    fn kind(&self) -> &'static str;
    fn unit(&self) -> &'static str;
    /// Whether it is known for every transfer.
    fn is_always_known(&self) -> bool;
}

impl Row for Fact {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> &'static str {
        self.measure.kind()
    }

    fn unit(&self) -> &'static str {
        self.measure.unit()
    }

    fn is_always_known(&self) -> bool {
        self.is_always_known
    }
}

/// What a risk model needs and may answer, in the host's terms.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// In the order of the values.
    pub facts: Vec<&'static Fact>,
    pub reasons: Vec<&'static str>,
    pub contributions: Vec<&'static Fact>,
}

impl Manifest {
    /// Finds what the component names.
    ///
    /// # Errors
    /// What this host does not have, by name.
    pub(crate) fn of(claims: &Claims) -> Result<Self, String> {
        let reasons: Vec<_> = reason_codes().collect();
        Ok(Self {
            facts: facts(&claims.facts, FACTS)?,
            reasons: named("reason", &claims.reasons, &reasons, |it| it)?.into_iter().copied().collect(),
            contributions: named("fact", &claims.contributions, FACTS, |it| it.name)?,
        })
    }

    /// The facts that a component gets, which has no manifest in contract 1.
    pub(crate) fn facts_of(manifest: Option<&Self>) -> Vec<&'static Fact> {
        manifest.map_or_else(|| FACTS.iter().take(SPECIFIED).collect(), |manifest| manifest.facts.clone())
    }

    /// The values of its facts.
    pub(crate) fn values(&self, request: &Request) -> Vec<Option<f64>> {
        self.facts.iter().map(|fact| fact.value(request)).collect()
    }
}

/// The rows that a component names.
///
/// # Errors
/// The first that a catalogue does not have, or not in this way, or not for every transfer.
pub(crate) fn facts<R: Row>(claimed: &[ClaimedFact], catalogue: &'static [R]) -> Result<Vec<&'static R>, String> {
    let names: Vec<_> = claimed.iter().map(|it| it.name.clone()).collect();
    let facts = named("fact", &names, catalogue, R::name)?;
    for (claimed, fact) in claimed.iter().zip(&facts) {
        let (name, kind, unit) = (fact.name(), fact.kind(), fact.unit());
        if (claimed.kind, &*claimed.unit) != (kind, unit) {
            let found = format!("{} with unit {:?}", claimed.kind, cut(&claimed.unit));
            return Err(format!("the fact {name} has kind {kind} with unit {unit:?} here, not {found}"));
        }
        if claimed.is_required && !fact.is_always_known() {
            let advice = "keep the missing values among the rows that it learns from";
            return Err(format!("it requires {name}, which is not known for every transfer: {advice}"));
        }
    }
    Ok(facts)
}

/// Those of `all` that a component names.
///
/// # Errors
/// The first that is not among them.
pub(crate) fn named<'a, T>(
    what: &str,
    names: &[String],
    all: &'a [T],
    name: impl Fn(&T) -> &'static str,
) -> Result<Vec<&'a T>, String> {
    if names.len() > NAMES_MAX {
        return Err(format!("it names more than {NAMES_MAX} facts, reasons, requirements or contributions"));
    }
    let find = |wanted: &String| {
        all.iter().find(|it| name(it) == wanted).ok_or_else(|| {
            let all = all.iter().map(&name).collect::<Vec<_>>().join(", ");
            format!("this host has no {what} {:?}; it has {all}", cut(wanted))
        })
    };
    names.iter().map(find).collect()
}

/// A name that a stranger chose, short enough for an error.
fn cut(name: &str) -> String {
    name.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_1_has_the_facts_of_the_specification() {
        let names: Vec<_> = Manifest::facts_of(None).iter().map(|fact| fact.name).collect();
        assert_eq!((names[0], names[9], names.len()), ("amount", "beneficiary_saved_minutes", 10));
    }

    #[test]
    fn what_this_host_does_not_have_is_refused_by_name() {
        let claim = |name: &str, kind, unit: &str, is_required| Claims {
            facts: vec![ClaimedFact { name: name.to_owned(), kind, unit: unit.to_owned(), is_required }],
            ..Claims::default()
        };
        assert!(Manifest::of(&claim("amount", "integer", "centavos", true)).is_ok());
        for (claims, named) in [
            (claim("shoe_size", "integer", "", false), "no fact \"shoe_size\"; it has amount, "),
            (claim("amount", "integer", "MXN", true), "amount has kind integer with unit \"centavos\" here"),
            (claim("beneficiary_saved_minutes", "integer", "minutes", true), "requires beneficiary_saved_minutes"),
            (
                Claims { reasons: vec!["FULL_MOON".to_owned()], ..claim("amount", "integer", "centavos", true) },
                "FULL_MOON",
            ),
            (
                Claims { contributions: vec!["x".to_owned(); 65], ..claim("amount", "integer", "centavos", true) },
                "more than 64",
            ),
        ] {
            let fault = Manifest::of(&claims).unwrap_err();
            assert!(fault.contains(named), "{fault}");
        }
    }
}
