//! The map from a model's columns to facts.

use caudal_ensemble::{Condition, Ensemble, Fact as Mapped, Link, MISSING_FACT, VALUE_MAX};
use serde::Deserialize;
use toml::Spanned;

use crate::error::{Error, Result};
use crate::read::Trained;
use crate::{Kind, MAP_BYTES_MAX};

/// Length of a summary: one sentence.
const SUMMARY_BYTES_MAX: usize = 200;
/// Length of a code.
const CODE_BYTES_MAX: usize = 64;
/// Of so many letters of a name, one may be wrong where it is suggested.
const LETTERS_PER_EDIT: usize = 4;
/// A unit of which the host has hundredths, under this name.
const HUNDREDTHS: (&str, &str) = ("MXN", "centavos");

/// A fact that a host can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: &'static str,
    pub kind: Kind,
    /// Empty if there is none.
    pub unit: &'static str,
    pub direction: Direction,
}

/// How a score may move with a fact that grows. Nothing is said about a fact that is missing: it may move the score to
/// anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It may only rise.
    Rises,
    /// It may only fall.
    Falls,
    Free,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Map {
    version: Spanned<String>,
    summary: Spanned<String>,
    features: Vec<Spanned<Feature>>,
    #[serde(default)]
    reasons: Vec<Reason>,
    score: Option<Score>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Feature {
    name: Option<String>,
    fact: Spanned<String>,
    unit: Option<Spanned<String>>,
    #[serde(default)]
    required: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    code: Spanned<String>,
    fact: Spanned<String>,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Score {
    points: Spanned<Vec<(f64, f64)>>,
}

pub(crate) struct Checked {
    pub(crate) ensemble: Ensemble,
    /// Of each fact of the ensemble.
    pub(crate) directions: Vec<Direction>,
}

struct Reader<'a> {
    text: &'a str,
    catalogue: &'a [Fact],
}

pub(crate) fn map(trained: Trained, text: &str, catalogue: &[Fact]) -> Result<Checked> {
    if text.len() > MAP_BYTES_MAX {
        return Err(Error::map("", format!("{} bytes, and at most {MAP_BYTES_MAX} are possible", text.len())));
    }
    let reader = Reader { text, catalogue };
    let map: Map = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        reader.error(start, error.message().trim_end().replace('\n', "; "))
    })?;
    reader.check_texts(&map)?;
    let mut facts = Vec::new();
    let mut directions = Vec::new();
    for (at, feature) in map.features.iter().enumerate() {
        reader.check_name(feature, &trained, at)?;
        let feature = feature.get_ref();
        let fact = reader.fact(&feature.fact)?;
        if facts.iter().any(|known: &Mapped| known.name == fact.name) {
            return Err(reader.error(feature.fact.span().start, format!("{} is the fact of two features", fact.name)));
        }
        if trained.needed.get(at) == Some(&true) && !feature.required {
            let problem = format!("the model does not score without {}; add required = true", fact.name);
            return Err(reader.error(feature.fact.span().start, problem));
        }
        facts.push(Mapped {
            required: feature.required,
            hundredths: reader.has_hundredths(feature, fact)?,
            zero_is_missing: trained.zero_is_missing.get(at).copied().unwrap_or_default(),
            ..mapped(fact)
        });
        directions.push(fact.direction);
    }
    if facts.len() != trained.columns && !(trained.has_more_columns && facts.len() > trained.columns) {
        let problem =
            format!("{} features, and the model has {} columns; map each, in its order", facts.len(), trained.columns);
        return Err(reader.error(0, problem));
    }
    let (mut reasons, mut conditions) = (Vec::new(), Vec::new());
    for reason in &map.reasons {
        let condition = reader.condition(reason, &mut reasons, &mut facts)?;
        conditions.push(condition);
    }
    conditions.sort_by_key(|condition| condition.reason);
    if facts.iter().any(|fact| fact.required) {
        reasons.push(MISSING_FACT.to_owned());
    }
    directions.resize(facts.len(), Direction::Free);
    let mut linear = trained.linear;
    if !linear.is_empty() {
        linear.resize(facts.len(), 0.0);
    }
    let link = match &map.score {
        Some(score) => Link::Points(reader.points(&score.points)?),
        None => trained.link,
    };
    let ensemble = Ensemble {
        version: map.version.into_inner(),
        summary: map.summary.into_inner(),
        facts,
        reasons,
        conditions,
        inputs: trained.inputs,
        sum: trained.sum,
        base: trained.base,
        divisor: trained.divisor,
        link,
        linear,
        trees: trained.trees,
    };
    Ok(Checked { ensemble, directions })
}

fn mapped(fact: &Fact) -> Mapped {
    Mapped {
        name: fact.name.to_owned(),
        kind: fact.kind,
        unit: fact.unit.to_owned(),
        required: false,
        hundredths: false,
        zero_is_missing: false,
    }
}

impl Reader<'_> {
    fn error(&self, start: usize, problem: impl Into<String>) -> Error {
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Error::map(format!("line {line}, column {column}"), problem)
    }

    fn check_texts(&self, map: &Map) -> Result<()> {
        let version = map.version.get_ref();
        let is_number = |part: &str| part.parse::<u32>().is_ok_and(|number| number.to_string() == part);
        if version.split('.').count() != 3 || !version.split('.').all(is_number) {
            let problem = format!("\"{version}\" is not a version such as 3.1.0");
            return Err(self.error(map.version.span().start, problem));
        }
        let summary = map.summary.get_ref();
        if summary.is_empty() || summary.len() > SUMMARY_BYTES_MAX || summary.contains(char::is_control) {
            let problem = format!("the summary must be one line of 1 to {SUMMARY_BYTES_MAX} bytes");
            return Err(self.error(map.summary.span().start, problem));
        }
        Ok(())
    }

    /// Whether the feature is the model's column at a position.
    fn check_name(&self, feature: &Spanned<Feature>, trained: &Trained, at: usize) -> Result<()> {
        let expected = trained.names.get(at);
        let name = feature.get_ref().name.as_ref();
        if expected.is_none() || name == expected {
            return Ok(());
        }
        let expected = expected.map_or("", String::as_str);
        let problem =
            format!("the model's column {} is \"{expected}\"; features are in the order of its columns", at + 1);
        let problem = if name.is_none() { format!("{problem}, so add name = \"{expected}\"") } else { problem };
        Err(self.error(feature.span().start, problem))
    }

    fn fact(&self, name: &Spanned<String>) -> Result<&Fact> {
        self.catalogue.iter().find(|fact| fact.name == name.get_ref()).ok_or_else(|| {
            let typed = name.get_ref();
            let advice = nearest(typed, self.catalogue.iter().map(|fact| fact.name));
            let advice = advice.unwrap_or_else(|| "`caudal models facts` lists them".to_owned());
            self.error(name.span().start, format!("there is no fact \"{typed}\": {advice}"))
        })
    }

    fn has_hundredths(&self, feature: &Feature, fact: &Fact) -> Result<bool> {
        match &feature.unit {
            Some(unit) if unit.get_ref() == fact.unit => Ok(false),
            Some(unit) if (unit.get_ref().as_str(), fact.unit) == HUNDREDTHS => Ok(true),
            Some(unit) => {
                let problem = match fact.unit {
                    "" => format!("{} has no unit; remove this line", fact.name),
                    has if has == HUNDREDTHS.1 => {
                        format!("{} has the unit {has}; give that or {}", fact.name, HUNDREDTHS.0)
                    }
                    has => format!("{} has the unit {has}; remove this line", fact.name),
                };
                Err(self.error(unit.span().start, problem))
            }
            None => Ok(false),
        }
    }

    /// Adds the reason, and the fact if the model has no such feature.
    fn condition(&self, reason: &Reason, reasons: &mut Vec<String>, facts: &mut Vec<Mapped>) -> Result<Condition> {
        let code = reason.code.get_ref();
        let start = reason.code.span().start;
        let is_code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if code.is_empty() || code.len() > CODE_BYTES_MAX || !code.chars().all(is_code) || code == MISSING_FACT {
            let problem =
                format!("a code has 1 to {CODE_BYTES_MAX} of A to Z, 0 to 9 and _, and is not {MISSING_FACT}");
            return Err(self.error(start, problem));
        }
        let (bound, at_least) = match (reason.at_least, reason.at_most) {
            (Some(bound), None) if bound.is_finite() => (bound, true),
            (None, Some(bound)) if bound.is_finite() => (bound, false),
            _ => return Err(self.error(start, "a reason needs a number in either at_least or at_most")),
        };
        let fact = self.fact(&reason.fact)?;
        let fact = facts.iter().position(|known| known.name == fact.name).unwrap_or_else(|| {
            facts.push(mapped(fact));
            facts.len() - 1
        });
        let position = reasons.iter().position(|known| known == code).unwrap_or_else(|| {
            reasons.push(code.clone());
            reasons.len() - 1
        });
        match (u8::try_from(position), u8::try_from(fact)) {
            (Ok(reason), Ok(fact)) => Ok(Condition { reason, fact, at_least, bound }),
            _ => Err(self.error(start, "more reasons or facts than the 255 that are possible")),
        }
    }

    fn points(&self, points: &Spanned<Vec<(f64, f64)>>) -> Result<Vec<(f64, f64)>> {
        let all = points.get_ref();
        let rises = all.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1);
        let fits = all.iter().all(|(x, y)| x.abs() <= VALUE_MAX && (0.0..=1.0).contains(y));
        if all.is_empty() || !rises || !fits {
            let problem =
                "points are [predictor, score] with rising predictors and scores from 0 to 1 that do not fall";
            return Err(self.error(points.span().start, problem));
        }
        Ok(all.clone())
    }
}

/// A question for the name that is meant, if one is near what was typed.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = names.filter(|name| distance(name, typed) <= name.len().div_ceil(LETTERS_PER_EDIT));
    let meant = near.min_by_key(|name| distance(name, typed))?;
    Some(format!("did you mean {meant}?"))
}

/// Edits between two names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
