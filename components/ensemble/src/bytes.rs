//! A model as bytes, and how they are read.

use core::str::from_utf8;

use crate::flags::{self, IDENTITY, INPUTS_F32, LINEAR, REQUIRES, SUM_F32, WIDE};
use crate::{Kind, Precision};

pub(crate) const MAGIC: [u8; 8] = *b"CDLTREES";
pub(crate) const FORMAT: u16 = 1;

pub(crate) const FACT_BYTES: usize = 3;
pub(crate) const CONDITION_BYTES: usize = 11;
pub(crate) const POINT_BYTES: usize = 16;
pub(crate) const COVER_BYTES: usize = 4;

/// A model in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    pub(crate) flags: u8,
    pub(crate) base: f64,
    pub(crate) divisor: f64,
    pub(crate) facts: &'a [u8],
    pub(crate) reasons: &'a [u8],
    texts: &'a [u8],
    version_bytes: usize,
    summary_bytes: usize,
    pub(crate) conditions: &'a [u8],
    pub(crate) points: &'a [u8],
    pub(crate) linear: &'a [u8],
    pub(crate) sizes: &'a [u8],
    /// Splits, and what follows them: the last split may be read past its end.
    pub(crate) splits: &'a [u8],
    pub(crate) values: &'a [u8],
    pub(crate) covers: &'a [u8],
}

/// A fact in a manifest: its name, kind, unit, and whether it is required.
pub type Facts<'a> = (&'a str, Kind, &'a str, bool);

impl<'a> Model<'a> {
    /// None unless the lengths in the header account for every byte.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes;
        let header = (take::<8>(&mut rest)?, take::<2>(&mut rest)?);
        let [flags, facts, reasons, conditions] = take::<4>(&mut rest)?.map(usize::from);
        let points = usize::from(u16::from_le_bytes(take(&mut rest)?));
        let trees = usize::from(u16::from_le_bytes(take(&mut rest)?));
        let splits = u32::from_le_bytes(take(&mut rest)?) as usize;
        let [version_bytes, summary_bytes] = take::<2>(&mut rest)?.map(usize::from);
        let (base, divisor) = (f64::from_le_bytes(take(&mut rest)?), f64::from_le_bytes(take(&mut rest)?));
        // Larger than any file, and small enough for the products below.
        if header != (MAGIC, FORMAT.to_le_bytes()) || splits > bytes.len() {
            return None;
        }
        let flags = flags as u8;
        let mut part = |length: usize| rest.split_off(..length);
        let facts = part(facts * FACT_BYTES)?;
        let reasons = part(reasons)?;
        let lengths = facts.chunks_exact(FACT_BYTES).map(|fact| usize::from(fact[1]) + usize::from(fact[2]));
        let reason_bytes: usize = reasons.iter().map(|length| usize::from(*length)).sum();
        let texts = part(version_bytes + summary_bytes + lengths.sum::<usize>() + reason_bytes)?;
        let conditions = part(conditions * CONDITION_BYTES)?;
        let points = part(points * POINT_BYTES)?;
        let linear = part(if flags & LINEAR == 0 { 0 } else { facts.len() / FACT_BYTES * 8 })?;
        let sizes = part(trees * 2)?;
        let nodes = rest;
        let mut model = Self {
            flags,
            base,
            divisor,
            facts,
            reasons,
            texts,
            version_bytes,
            summary_bytes,
            conditions,
            points,
            linear,
            sizes,
            splits: nodes,
            values: &[],
            covers: &[],
        };
        let values = splits * model.split_bytes();
        let covers = values + (splits + trees) * model.value_bytes();
        model.values = nodes.get(values..covers)?;
        model.covers = nodes.get(covers..)?;
        (model.covers.len() == (splits + trees) * COVER_BYTES).then_some(model)
    }

    pub(crate) const fn inputs(&self) -> Precision {
        if self.flags & INPUTS_F32 == 0 { Precision::F64 } else { Precision::F32 }
    }

    pub(crate) const fn sum(&self) -> Precision {
        if self.flags & SUM_F32 == 0 { Precision::F64 } else { Precision::F32 }
    }

    pub(crate) const fn is_identity(&self) -> bool {
        self.flags & IDENTITY != 0
    }

    pub(crate) const fn requires_facts(&self) -> bool {
        self.flags & REQUIRES != 0
    }

    pub(crate) const fn split_bytes(&self) -> usize {
        self.inputs().bytes() + if self.flags & WIDE == 0 { 2 } else { 3 }
    }

    pub(crate) const fn value_bytes(&self) -> usize {
        self.sum().bytes()
    }

    /// Value of the leaf at a position among all leaves.
    pub(crate) fn value(&self, leaf: usize) -> f64 {
        match self.sum() {
            Precision::F32 => number::<4>(self.values, leaf).map_or(0.0, |bytes| f32::from_le_bytes(bytes).into()),
            Precision::F64 => number::<8>(self.values, leaf).map_or(0.0, f64::from_le_bytes),
        }
    }

    /// Semantic version.
    #[must_use]
    pub fn version(&self) -> &'a str {
        self.text(0, self.version_bytes)
    }

    /// One sentence.
    #[must_use]
    pub fn summary(&self) -> &'a str {
        self.text(self.version_bytes, self.summary_bytes)
    }

    /// The facts of the manifest, in the order in which values are expected.
    pub fn facts(&self) -> impl Iterator<Item = Facts<'a>> {
        let (model, mut start) = (*self, self.version_bytes + self.summary_bytes);
        self.facts.chunks_exact(FACT_BYTES).map(move |fact| {
            let (name, unit) = (usize::from(fact[1]), usize::from(fact[2]));
            start += name + unit;
            let kind = match fact[0] & flags::KIND {
                0 => Kind::Number,
                1 => Kind::Integer,
                _ => Kind::Flag,
            };
            let required = fact[0] & flags::REQUIRED != 0;
            (model.text(start - unit - name, name), kind, model.text(start - unit, unit), required)
        })
    }

    /// Codes of the reasons.
    pub fn reasons(&self) -> impl Iterator<Item = &'a str> {
        let all: usize = self.reasons.iter().map(|length| usize::from(*length)).sum();
        let (model, mut start) = (*self, self.texts.len() - all);
        self.reasons.iter().map(move |length| {
            start += usize::from(*length);
            model.text(start - usize::from(*length), usize::from(*length))
        })
    }

    fn text(&self, start: usize, length: usize) -> &'a str {
        self.texts.get(start..start + length).and_then(|bytes| from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl Precision {
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The nearest number of this precision.
    #[must_use]
    pub fn round(self, x: f64) -> f64 {
        match self {
            Self::F32 => f64::from(x as f32),
            Self::F64 => x,
        }
    }
}

pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

/// The bytes of the number at a position in an array of numbers.
pub(crate) fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at * N..)?.first_chunk().copied()
}
