//! Transfer rules as a table of conditions, as bytes that are evaluated in place. [`Rules::write`] makes them.
//!
//! | Bytes | Content |
//! | --- | --- |
//! | 8, 2 | magic, `CDLTABLE`; format, 1 |
//! | 1, 1, 1, 2 | requirements that occur, a bit each; number of facts, of reasons, of rows |
//! | 1 each | fact: kind and flags |
//! | | texts, each after a byte with its length: version, summary, name and unit of each fact, reasons |
//! | 12 and more | row: requirement, parameter, number of conditions, conditions |
//! | 12 each | condition: fact, comparison, operand |
//! | 10 each | parameter or operand: fact that is added, fact that is subtracted, 255 for none; number |

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::str::from_utf8;

use crate::bytes::{Facts, take};
use crate::flags::{KIND, REQUIRED};
use crate::{Kind, Unfit};

const MAGIC: [u8; 8] = *b"CDLTABLE";
const FORMAT: u16 = 1;
const NO_FACT: u8 = 255;
/// The host accepts no longer answer.
pub const ROWS_MAX: usize = 1000;

/// A table to be written. Rows refer to facts by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub version: String,
    pub summary: String,
    pub facts: Vec<Fact>,
    pub reasons: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub name: String,
    pub kind: Kind,
    pub unit: String,
    pub required: bool,
}

/// Requires something if all of its conditions hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub requirement: Requirement,
    /// To reject, the position of the reason; to wait, the seconds, of which less than one requires nothing.
    pub parameter: Operand,
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    pub fact: u8,
    pub comparison: Comparison,
    pub operand: Operand,
}

/// The number, and facts that are added and subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Operand {
    pub number: f64,
    pub plus: Option<u8>,
    pub minus: Option<u8>,
}

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($case:ident = $text:literal),+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($case),+ }

        impl $name {
            pub const ALL: &[(&'static str, Self)] = &[$(($text, Self::$case)),+];
        }
    };
}

codes! {
    /// What a row requires, by its name in the contract.
    Requirement { Reject = "reject", Acknowledge = "acknowledge", Wait = "wait", Review = "review" }
}

codes! {
    /// Holds for no unknown value, except the last.
    Comparison { AtLeast = ">=", AtMost = "<=", More = ">", Less = "<", Equal = "=", Unknown = "unknown" }
}

impl Rules {
    /// # Errors
    /// When something does not fit.
    pub fn write(&self) -> Result<Vec<u8>, Unfit> {
        let count = |what: &str, count: usize, most: usize| {
            if count > most {
                Err(Unfit(format!("{count} {what}, and at most {most} are possible")))
            } else {
                Ok(count)
            }
        };
        let facts = count("facts", self.facts.len(), usize::from(NO_FACT))?;
        let reasons = count("reasons", self.reasons.len(), usize::from(u8::MAX))?;
        let rows = count("rows", self.rows.len(), ROWS_MAX)?;
        let used = self.rows.iter().fold(0, |used, row| used | 1 << row.requirement as u8);
        let mut bytes = [&MAGIC[..], &FORMAT.to_le_bytes(), &[used, facts as u8, reasons as u8]].concat();
        bytes.extend((rows as u16).to_le_bytes());
        bytes.extend(self.facts.iter().map(|fact| fact.kind as u8 | if fact.required { REQUIRED } else { 0 }));
        let names = self.facts.iter().flat_map(|fact| [&fact.name, &fact.unit]);
        for text in [&self.version, &self.summary].into_iter().chain(names).chain(&self.reasons) {
            bytes.push(count("bytes of text", text.len(), usize::from(u8::MAX))? as u8);
            bytes.extend(text.as_bytes());
        }
        for row in &self.rows {
            bytes.push(row.requirement as u8);
            row.parameter.write(&mut bytes);
            bytes.push(count("conditions", row.conditions.len(), usize::from(u8::MAX))? as u8);
            for condition in &row.conditions {
                bytes.extend([condition.fact, condition.comparison as u8]);
                condition.operand.write(&mut bytes);
            }
        }
        Ok(bytes)
    }
}

impl Operand {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend([self.plus.unwrap_or(NO_FACT), self.minus.unwrap_or(NO_FACT)]);
        bytes.extend(self.number.to_le_bytes());
    }

    fn read(rest: &mut &[u8]) -> Option<Self> {
        let [plus, minus] = take::<2>(rest)?.map(|fact| (fact != NO_FACT).then_some(fact));
        Some(Self { number: f64::from_le_bytes(take(rest)?), plus, minus })
    }

    /// None if one of its facts is not known.
    fn value(&self, values: &[Option<f64>]) -> Option<f64> {
        let fact = |fact: Option<u8>| fact.map_or(Some(0.0), |fact| value(values, fact));
        Some(self.number + fact(self.plus)? - fact(self.minus)?)
    }
}

/// A table in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    used: u8,
    rows: u16,
    facts: &'a [u8],
    reasons: usize,
    /// The texts, and then the rows.
    rest: &'a [u8],
}

impl<'a> Table<'a> {
    /// None if these are not the bytes of a table.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes;
        let header = (take::<8>(&mut rest)?, take::<2>(&mut rest)?);
        let [used, facts, reasons] = take::<3>(&mut rest)?;
        let rows = u16::from_le_bytes(take(&mut rest)?);
        let facts = rest.split_off(..usize::from(facts))?;
        (header == (MAGIC, FORMAT.to_le_bytes())).then_some(Self { used, rows, facts, reasons: reasons.into(), rest })
    }

    /// Semantic version.
    #[must_use]
    pub fn version(&self) -> &'a str {
        self.texts().next().unwrap_or_default()
    }

    /// One sentence.
    #[must_use]
    pub fn summary(&self) -> &'a str {
        self.texts().nth(1).unwrap_or_default()
    }

    /// The facts of the manifest, in the order in which values are expected.
    pub fn facts(&self) -> impl Iterator<Item = Facts<'a>> {
        let mut texts = self.texts().skip(2);
        self.facts.iter().map(move |flags| {
            let (name, unit) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
            let kind = match flags & KIND {
                0 => Kind::Number,
                1 => Kind::Integer,
                _ => Kind::Flag,
            };
            (name, kind, unit, flags & REQUIRED != 0)
        })
    }

    /// Those that occur.
    pub fn requirements(&self) -> impl Iterator<Item = &'static str> {
        let used = self.used;
        let all = Requirement::ALL.iter().filter(move |(_, it)| used & 1 << *it as u8 != 0);
        all.map(|(name, _)| *name)
    }

    /// Problem codes.
    pub fn reasons(&self) -> impl Iterator<Item = &'a str> {
        self.texts().skip(2 + 2 * self.facts.len())
    }

    fn texts(&self) -> Texts<'a> {
        Texts { left: 2 + 2 * self.facts.len() + self.reasons, rest: self.rest }
    }

    /// What the rows that apply require, in their order: a position among the requirements that occur, and a parameter.
    /// None if the bytes are damaged.
    #[must_use]
    pub fn decide(&self, values: &[Option<f64>]) -> Option<Vec<(u16, i64)>> {
        let mut texts = self.texts();
        texts.by_ref().for_each(drop);
        let mut rest = texts.rest;
        let mut required = Vec::new();
        for _ in 0..self.rows {
            required.extend(self.row(&mut rest, values)?);
        }
        rest.is_empty().then_some(required)
    }

    /// What the next row requires, if it applies.
    fn row(&self, rest: &mut &'a [u8], values: &[Option<f64>]) -> Option<Option<(u16, i64)>> {
        let [code] = take(rest)?;
        let parameter = Operand::read(rest)?;
        let [conditions] = take(rest)?;
        let mut applies = true;
        for _ in 0..conditions {
            let [fact, comparison] = take(rest)?;
            let operand = Operand::read(rest)?;
            let (_, comparison) = *Comparison::ALL.get(usize::from(comparison))?;
            applies &= holds(value(values, fact), comparison, operand.value(values));
        }
        // An unknown parameter is none that can be waited for, so that the transfer is refused.
        let parameter = parameter.value(values).unwrap_or(f64::INFINITY) as i64;
        let is_over = usize::from(code) == Requirement::Wait as usize && parameter < 1;
        let position = (self.used & ((1 << (code & 7)) - 1)).count_ones() as u16;
        Some((applies && !is_over).then_some((position, parameter)))
    }
}

fn value(values: &[Option<f64>], fact: u8) -> Option<f64> {
    values.get(usize::from(fact)).copied().flatten()
}

fn holds(value: Option<f64>, comparison: Comparison, operand: Option<f64>) -> bool {
    let (Some(value), Some(operand)) = (value, operand) else {
        return comparison == Comparison::Unknown && value.is_none();
    };
    match comparison {
        Comparison::AtLeast => value >= operand,
        Comparison::AtMost => value <= operand,
        Comparison::More => value > operand,
        Comparison::Less => value < operand,
        Comparison::Equal => value == operand,
        Comparison::Unknown => false,
    }
}

struct Texts<'a> {
    left: usize,
    rest: &'a [u8],
}

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.left = self.left.checked_sub(1)?;
        let [length] = take(&mut self.rest)?;
        from_utf8(self.rest.split_off(..usize::from(length))?).ok()
    }
}
