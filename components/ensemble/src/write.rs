//! Writes a model as bytes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::bytes::{FORMAT, MAGIC};
use crate::{FACTS_MAX, Kind, Link, PATH_FACTS_MAX, Precision, SPLITS_MAX, VALUE_MAX, flags};

/// A model to be written. Facts, reasons and conditions refer to each other by position.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    pub version: String,
    pub summary: String,
    pub facts: Vec<Fact>,
    pub reasons: Vec<String>,
    /// Sorted by reason.
    pub conditions: Vec<Condition>,
    pub inputs: Precision,
    pub sum: Precision,
    /// Linear terms and trees are added to it, in this order.
    pub base: f64,
    /// Divides that sum.
    pub divisor: f64,
    pub link: Link,
    /// A coefficient for each fact, or none at all.
    pub linear: Vec<f64>,
    pub trees: Vec<Tree>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub name: String,
    pub kind: Kind,
    pub unit: String,
    pub required: bool,
    /// The model is given a hundredth of the fact, the nearest `f64`.
    pub hundredths: bool,
    /// The model takes a zero for a missing value.
    pub zero_is_missing: bool,
}

/// Gives a reason if a fact is at least or at most a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    pub reason: u8,
    pub fact: u8,
    pub at_least: bool,
    /// In the unit of the model.
    pub bound: f64,
}

/// Nodes in preorder: a split is followed by its left side and then its right side.
pub type Tree = Vec<Node>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// A value up to the threshold goes left; one that is missing, where the flag says.
    Split {
        fact: u8,
        threshold: f64,
        missing_left: bool,
    },
    Leaf {
        value: f64,
        cover: f64,
    },
}

/// Why a model cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

/// A part of a tree that is being measured.
struct Open {
    split: usize,
    fact: u8,
    on_right: bool,
}

impl Ensemble {
    /// Writes the model.
    ///
    /// # Errors
    /// [`Unfit`] if a number or a count is outside the format's limits.
    pub fn write(&self) -> Result<Vec<u8>, Unfit> {
        let lefts =
            self.trees.iter().enumerate().map(|(at, tree)| self.lefts(at, tree)).collect::<Result<Vec<_>, _>>()?;
        let splits: usize = lefts.iter().map(Vec::len).sum();
        let is_wide = lefts.iter().flatten().any(|left| *left > 0xff);
        let points: &[(f64, f64)] = if let Link::Points(points) = &self.link { points } else { &[] };
        let required = self.facts.iter().any(|fact| fact.required);
        let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.push(
            flag(self.inputs == Precision::F32, flags::INPUTS_F32)
                | flag(self.sum == Precision::F32, flags::SUM_F32)
                | flag(self.link == Link::Identity, flags::IDENTITY)
                | flag(required, flags::REQUIRES)
                | flag(is_wide, flags::WIDE)
                | flag(!self.linear.is_empty(), flags::LINEAR),
        );
        limited("facts", self.facts.len(), FACTS_MAX)?;
        for (what, count) in
            [("facts", self.facts.len()), ("reasons", self.reasons.len()), ("conditions", self.conditions.len())]
        {
            bytes.push(byte(what, count)?);
        }
        limited("calibration points", points.len(), SPLITS_MAX)?;
        limited("trees", self.trees.len(), SPLITS_MAX)?;
        bytes.extend([points.len(), self.trees.len()].into_iter().flat_map(|count| (count as u16).to_le_bytes()));
        bytes.extend((splits as u32).to_le_bytes());
        bytes.push(byte("bytes in the version", self.version.len())?);
        bytes.push(byte("bytes in the summary", self.summary.len())?);
        within("the base", self.base)?;
        if !(1.0..=VALUE_MAX).contains(&self.divisor) {
            return Err(Unfit(format!("the divisor is {}, and it must be 1 to {VALUE_MAX:e}", self.divisor)));
        }
        bytes.extend(self.base.to_le_bytes());
        bytes.extend(self.divisor.to_le_bytes());
        for fact in &self.facts {
            bytes.push(
                fact.kind as u8
                    | flag(fact.required, flags::REQUIRED)
                    | flag(fact.hundredths, flags::HUNDREDTHS)
                    | flag(fact.zero_is_missing, flags::ZERO_IS_MISSING),
            );
            bytes.push(byte("bytes in a fact's name", fact.name.len())?);
            bytes.push(byte("bytes in a unit", fact.unit.len())?);
        }
        for reason in &self.reasons {
            bytes.push(byte("bytes in a reason", reason.len())?);
        }
        bytes.extend([&self.version, &self.summary].into_iter().flat_map(|text| text.bytes()));
        bytes.extend(self.facts.iter().flat_map(|fact| fact.name.bytes().chain(fact.unit.bytes())));
        bytes.extend(self.reasons.iter().flat_map(|reason| reason.bytes()));
        for condition in &self.conditions {
            bytes.extend([condition.reason, condition.fact, condition.at_least.into()]);
            bytes.extend(condition.bound.to_le_bytes());
        }
        bytes.extend(points.iter().flat_map(|(x, y)| [x, y]).flat_map(|number| number.to_le_bytes()));
        for coefficient in &self.linear {
            within("a coefficient", *coefficient)?;
            bytes.extend(coefficient.to_le_bytes());
        }
        bytes.extend(lefts.iter().flat_map(|lefts| (lefts.len() as u16).to_le_bytes()));
        let push = |bytes: &mut Vec<u8>, number: f64, precision| match precision {
            Precision::F32 => bytes.extend((number as f32).to_le_bytes()),
            Precision::F64 => bytes.extend(number.to_le_bytes()),
        };
        for (tree, lefts) in self.trees.iter().zip(&lefts) {
            let splits = tree.iter().filter_map(|node| match node {
                Node::Split { fact, threshold, missing_left } => Some((threshold, fact | u8::from(*missing_left) << 7)),
                Node::Leaf { .. } => None,
            });
            for ((threshold, fact), left) in splits.zip(lefts) {
                push(&mut bytes, *threshold, self.inputs);
                bytes.push(fact);
                bytes.extend(&left.to_le_bytes()[..if is_wide { 2 } else { 1 }]);
            }
        }
        let leaves = || {
            self.trees.iter().flatten().filter_map(|node| match node {
                Node::Leaf { value, cover } => Some((*value, *cover)),
                Node::Split { .. } => None,
            })
        };
        for (value, _) in leaves() {
            push(&mut bytes, value, self.sum);
        }
        for (_, cover) in leaves() {
            push(&mut bytes, cover, Precision::F32);
        }
        Ok(bytes)
    }

    /// For each split of a tree, the number of splits on its left.
    fn lefts(&self, at: usize, tree: &Tree) -> Result<Vec<u16>, Unfit> {
        let unfit = |problem: &str| Unfit(format!("tree {at}: {problem}"));
        let (mut lefts, mut open, mut is_complete) = (Vec::new(), Vec::<Open>::new(), false);
        for node in tree {
            if is_complete {
                return Err(unfit("there are nodes after the last leaf"));
            }
            match node {
                Node::Split { fact, threshold, .. } => {
                    if usize::from(*fact) >= self.facts.len() || !threshold.is_finite() {
                        return Err(unfit("a split has no such fact, or a threshold that is not a number"));
                    }
                    open.push(Open { split: lefts.len(), fact: *fact, on_right: false });
                    lefts.push(0);
                    limited("splits in one tree", lefts.len(), SPLITS_MAX)?;
                }
                Node::Leaf { value, cover } => {
                    within("a leaf", *value)?;
                    within("a cover", *cover)?;
                    if *cover < 0.0 {
                        return Err(unfit("a cover is negative"));
                    }
                    let mut facts: Vec<_> = open.iter().map(|open| open.fact).collect();
                    facts.sort_unstable();
                    facts.dedup();
                    limited("facts on one path of a tree", facts.len(), PATH_FACTS_MAX)?;
                    while open.pop_if(|open| open.on_right).is_some() {}
                    if let Some(above) = open.last_mut() {
                        lefts[above.split] = (lefts.len() - above.split - 1) as u16;
                        above.on_right = true;
                    } else {
                        is_complete = true;
                    }
                }
            }
        }
        if is_complete { Ok(lefts) } else { Err(unfit("a leaf is missing")) }
    }
}

fn limited(what: &str, count: usize, max: usize) -> Result<(), Unfit> {
    if count <= max { Ok(()) } else { Err(Unfit(format!("{count} {what}, and at most {max} are possible"))) }
}

fn byte(what: &str, count: usize) -> Result<u8, Unfit> {
    u8::try_from(count).map_err(|_| Unfit(format!("{count} {what}, and at most 255 are possible")))
}

fn within(what: &str, value: f64) -> Result<(), Unfit> {
    if value.abs() <= VALUE_MAX { Ok(()) } else { Err(Unfit(format!("{what} is {value}, beyond ±{VALUE_MAX:e}"))) }
}
