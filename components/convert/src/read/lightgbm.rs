//! LightGBM text.

use std::collections::HashMap;

use caudal_ensemble::{Link, SPLITS_MAX};

use super::{Raw, Trained, check_columns};
use crate::error::{Error, Result};

/// The first line of a file.
pub(crate) const FIRST: &str = "tree";
const LOGISTIC: [&str; 2] = ["binary", "cross_entropy"];
const IDENTITY: [&str; 6] = ["regression", "regression_l1", "huber", "fair", "quantile", "mape"];

/// Bits of `decision_type`.
const CATEGORICAL: u8 = 1;
const DEFAULT_LEFT: u8 = 1 << 1;
const MISSING: u8 = 3 << 2;
/// Values of the bits `MISSING`; a third means that only NaN is missing.
const MISSING_NONE: u8 = 0;
const MISSING_ZERO: u8 = 1 << 2;

/// The lines of the header or of a tree.
#[derive(Default)]
struct Block<'a> {
    line: usize,
    fields: HashMap<&'a str, (usize, &'a str)>,
}

pub(crate) fn read(text: &str) -> Result<Trained> {
    let mut blocks = vec![Block::default()];
    for (at, line) in text.lines().enumerate() {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        match key {
            "end of trees" => break,
            "Tree" => blocks.push(Block { line: at + 1, ..Block::default() }),
            _ => {
                let block = blocks.last_mut().map(|block| &mut block.fields);
                block.map(|fields| fields.insert(key, (at + 1, value.trim())));
            }
        }
    }
    let header = blocks.remove(0);
    for name in ["num_class", "num_tree_per_iteration"] {
        if header.numbers::<u32>(name)?.first() != Some(&1) {
            return Err(header.error(name, "more than one output; train a model with one"));
        }
    }
    let names: Vec<_> = header.get("feature_names")?.1.split_whitespace().map(str::to_owned).collect();
    let columns = header.numbers::<u32>("max_feature_idx")?.first().map_or(0, |last| *last as usize + 1);
    check_columns(columns)?;
    let is_unnamed = names.iter().enumerate().all(|(at, name)| *name == format!("Column_{at}"));
    let mut trained = Trained {
        names: if is_unnamed { Vec::new() } else { names },
        columns,
        link: link(&header)?,
        divisor: if header.fields.contains_key("average_output") { blocks.len() as f64 } else { 1.0 },
        ..Trained::default()
    };
    let mut missing = HashMap::new();
    for block in &blocks {
        let nodes = nodes(block, &mut missing)?;
        trained.push(&nodes, &format!("line {}", block.line))?;
    }
    if missing.values().any(|kind| *kind == MISSING_ZERO) {
        trained.zero_is_missing = (0..columns).map(|column| missing.get(&column) == Some(&MISSING_ZERO)).collect();
    }
    Ok(trained)
}

fn link(header: &Block<'_>) -> Result<Link> {
    let (_, objective) = header.get("objective")?;
    let mut words = objective.split_whitespace();
    let name = words.next().unwrap_or_default();
    match words.next() {
        None | Some("sigmoid:1") if LOGISTIC.contains(&name) => Ok(Link::Logistic),
        None if IDENTITY.contains(&name) => Ok(Link::Identity),
        _ => {
            let supported = [&LOGISTIC[..], &IDENTITY].concat().join(", ");
            let problem =
                format!("the objective {objective} is not supported; those that are, with sigmoid 1: {supported}");
            Err(header.error("objective", problem))
        }
    }
}

/// The splits of a tree and then its leaves. `missing` collects what each column takes for missing.
fn nodes(block: &Block<'_>, missing: &mut HashMap<usize, u8>) -> Result<Vec<Raw>> {
    if block.numbers::<u32>("num_cat")?.first() != Some(&0) {
        return Err(block.error("num_cat", "splits on categories are not supported; encode them as numbers"));
    }
    if block.fields.get("is_linear").is_some_and(|(_, value)| *value != "0") {
        return Err(block.error("is_linear", "linear trees are not supported; train with linear_tree=false"));
    }
    let values = block.numbers::<f64>("leaf_value")?;
    let leaves = values.len();
    if leaves == 0 || leaves > SPLITS_MAX {
        return Err(block.error("leaf_value", format!("{leaves} leaves, and 1 to {SPLITS_MAX} are possible")));
    }
    if leaves == 1 {
        return Ok(vec![Raw::Leaf { value: values[0], cover: 1.0 }]);
    }
    let covers = block.array::<f64>("leaf_count", leaves)?;
    let splits = leaves - 1;
    let columns = block.array::<usize>("split_feature", splits)?;
    let thresholds = block.array::<f64>("threshold", splits)?;
    let types = block.array::<u8>("decision_type", splits)?;
    let left = block.array::<i64>("left_child", splits)?;
    let right = block.array::<i64>("right_child", splits)?;
    let child = |child: i64| if child >= 0 { child as usize } else { splits + !child as usize };
    let mut nodes = Vec::with_capacity(splits + leaves);
    for at in 0..splits {
        let kind = types[at] & MISSING;
        if types[at] & CATEGORICAL != 0 {
            return Err(block.error("decision_type", "splits on categories are not supported; encode them as numbers"));
        }
        let known = *missing.entry(columns[at]).or_insert(kind);
        if known != kind && (known == MISSING_ZERO || kind == MISSING_ZERO) {
            let problem = format!("zero is missing only in some splits on column {}; train in one go", columns[at]);
            return Err(block.error("decision_type", problem));
        }
        // Without missing values in training, LightGBM takes them for zero.
        let missing_left = if kind == MISSING_NONE { thresholds[at] >= 0.0 } else { types[at] & DEFAULT_LEFT != 0 };
        nodes.push(Raw::Split {
            column: columns[at],
            // Infinite where a split only parts missing values.
            threshold: thresholds[at].min(f64::MAX),
            missing_left,
            left: child(left[at]),
            right: child(right[at]),
        });
    }
    nodes.extend(values.iter().zip(covers).map(|(value, cover)| Raw::Leaf { value: *value, cover }));
    Ok(nodes)
}

impl<'a> Block<'a> {
    fn error(&self, name: &str, problem: impl Into<String>) -> Error {
        let line = self.fields.get(name).map_or(self.line, |(line, _)| *line);
        Error::model(format!("line {line}, {name}"), problem)
    }

    fn get(&self, name: &str) -> Result<(usize, &'a str)> {
        self.fields.get(name).copied().ok_or_else(|| self.error(name, "missing; save the model again"))
    }

    fn numbers<T: std::str::FromStr>(&self, name: &str) -> Result<Vec<T>> {
        let (_, text) = self.get(name)?;
        let number = |(at, word): (usize, &str)| {
            word.parse().map_err(|_| self.error(name, format!("number {} is \"{word}\"; save the model again", at + 1)))
        };
        text.split_whitespace().enumerate().map(number).collect()
    }

    fn array<T: std::str::FromStr>(&self, name: &str, length: usize) -> Result<Vec<T>> {
        let numbers = self.numbers(name)?;
        if numbers.len() == length {
            return Ok(numbers);
        }
        Err(self.error(name, format!("{} numbers instead of {length}", numbers.len())))
    }
}
