//! ONNX: one tree ensemble or linear model of `ai.onnx.ml`, and what converters put around it.

use std::collections::{BTreeMap, HashMap};

use caudal_ensemble::{Link, Precision};
use prost::Message;

use super::{Raw, Trained, below};
use crate::error::{Error, Result};

/// The operators that are read.
const MODELS: [&str; 4] = ["TreeEnsembleRegressor", "TreeEnsembleClassifier", "LinearRegressor", "LinearClassifier"];
/// Operators between the input and one of those, if they cast to a number with a fraction.
const BEFORE: [&str; 2] = ["Cast", "Identity"];
/// Operators on its output that leave the score as it is.
const AFTER: [&str; 4] = ["Cast", "Identity", "ZipMap", "Normalizer"];
/// Element types of tensors.
const FLOAT: i32 = 1;
const DOUBLE: i32 = 11;

#[derive(Clone, PartialEq, Message)]
struct ModelProto {
    #[prost(message, optional, tag = "7")]
    graph: Option<GraphProto>,
}

#[derive(Clone, PartialEq, Message)]
struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    node: Vec<NodeProto>,
}

#[derive(Clone, PartialEq, Message)]
struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<AttributeProto>,
}

#[derive(Clone, PartialEq, Message)]
struct AttributeProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "3")]
    i: i64,
    #[prost(bytes = "vec", tag = "4")]
    s: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    t: Option<TensorProto>,
    #[prost(float, repeated, tag = "7")]
    floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    strings: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorProto {
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(float, repeated, tag = "4")]
    float_data: Vec<f32>,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
    #[prost(double, repeated, tag = "10")]
    double_data: Vec<f64>,
}

/// The attributes of the model's node.
struct Attributes<'a> {
    operator: &'a str,
    all: HashMap<&'a str, &'a AttributeProto>,
}

/// Value of each leaf, by tree and node, and their precision.
type Weights = (HashMap<(i64, i64), f64>, Precision);

/// None if the bytes are not ONNX.
pub(crate) fn read(bytes: &[u8]) -> Option<Result<Trained>> {
    let graph = ModelProto::decode(bytes).ok()?.graph?;
    (!graph.node.is_empty()).then(|| graph.read())
}

impl GraphProto {
    fn read(&self) -> Result<Trained> {
        let mut models = self.node.iter().filter(|node| MODELS.contains(&node.op_type.as_str()));
        let (Some(node), None) = (models.next(), models.next()) else {
            let problem = format!("the graph must have exactly one of {}", MODELS.join(", "));
            return Err(Error::model("graph.node", problem));
        };
        self.check_around(node)?;
        let attributes = Attributes {
            operator: &node.op_type,
            all: node.attribute.iter().map(|attribute| (attribute.name.as_str(), attribute)).collect(),
        };
        if node.op_type.starts_with("Tree") { attributes.trees() } else { attributes.linear() }
    }

    /// Every operator must leave columns and score as they are.
    fn check_around(&self, model: &NodeProto) -> Result<()> {
        let mut before = Vec::new();
        let mut input = model.input.first();
        // Bounded, because a malformed graph may be a circle.
        while let Some(node) = self.node.iter().find(|node| input.is_some_and(|input| node.output.contains(input)))
            && before.len() < self.node.len()
        {
            before.push(node);
            input = node.input.first();
        }
        for node in self.node.iter().filter(|node| !std::ptr::eq(*node, model)) {
            let operator = node.op_type.as_str();
            let is_before = before.iter().any(|other| std::ptr::eq(*other, node));
            let is_exact = |to: i64| to == i64::from(FLOAT) || to == i64::from(DOUBLE);
            let casts = node.attribute.iter().filter(|attribute| attribute.name == "to");
            let supported = if is_before { &BEFORE[..] } else { &AFTER };
            if !supported.contains(&operator) || (is_before && !casts.clone().all(|to| is_exact(to.i))) {
                let place = if is_before { "before" } else { "after" };
                let supported = supported.join(", ");
                let problem = format!(
                    "the operator {operator} is not supported {place} the model; those that are: {supported}; convert the \
                     model without what prepares its columns"
                );
                return Err(Error::model("graph.node", problem));
            }
        }
        Ok(())
    }
}

impl<'a> Attributes<'a> {
    fn error(&self, name: &str, problem: impl Into<String>) -> Error {
        Error::model(format!("{}, {name}", self.operator), problem)
    }

    fn text(&self, name: &str, default: &'a str) -> &'a str {
        let text = self.all.get(name).and_then(|attribute| std::str::from_utf8(&attribute.s).ok());
        text.filter(|text| !text.is_empty()).unwrap_or(default)
    }

    fn ints(&self, name: &str) -> &'a [i64] {
        self.all.get(name).map_or(&[], |attribute| &attribute.ints)
    }

    fn array(&self, name: &str, length: usize) -> Result<&'a [i64]> {
        let ints = self.ints(name);
        if ints.len() == length {
            return Ok(ints);
        }
        Err(self.error(name, format!("{} numbers instead of {length}", ints.len())))
    }

    /// Numbers of either precision.
    fn floats(&self, name: &str) -> Result<(Vec<f64>, Precision)> {
        let single = |floats: &[f32]| (floats.iter().map(|x| f64::from(*x)).collect(), Precision::F32);
        let Some(tensor) = self.all.get(format!("{name}_as_tensor").as_str()).and_then(|with| with.t.as_ref()) else {
            return Ok(single(self.all.get(name).map_or(&[], |attribute| &attribute.floats)));
        };
        let raw = &tensor.raw_data;
        match tensor.data_type {
            FLOAT if raw.is_empty() => Ok(single(&tensor.float_data)),
            FLOAT => Ok(single(&raw.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect::<Vec<_>>())),
            DOUBLE if raw.is_empty() => Ok((tensor.double_data.clone(), Precision::F64)),
            DOUBLE => Ok((raw.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect(), Precision::F64)),
            _ => Err(self.error(name, "numbers must be float or double")),
        }
    }

    fn link(&self) -> Result<Link> {
        match self.text("post_transform", "NONE") {
            "NONE" => Ok(Link::Identity),
            "LOGISTIC" => Ok(Link::Logistic),
            other => Err(self.error("post_transform", format!("{other} is not supported; NONE and LOGISTIC are"))),
        }
    }

    /// The number of classes must be 2.
    fn check_classes(&self, ints: &str) -> Result<()> {
        let texts = self.all.get("classlabels_strings").map_or(0, |attribute| attribute.strings.len());
        let classes = self.ints(ints).len().max(texts);
        if classes == 2 { Ok(()) } else { Err(self.error(ints, format!("{classes} classes; train a model with two"))) }
    }

    fn linear(&self) -> Result<Trained> {
        let is_classifier = self.operator == "LinearClassifier";
        let (mut linear, _) = self.floats("coefficients")?;
        let (intercepts, _) = self.floats("intercepts")?;
        if is_classifier {
            self.check_classes(if self.ints("classlabels_ints").is_empty() {
                "classlabels_strings"
            } else {
                "classlabels_ints"
            })?;
        }
        // A classifier has the coefficients of the second class after those of the first.
        if intercepts.len() == 2 && is_classifier {
            linear.drain(..linear.len() / 2);
        } else if intercepts.len() > 1 {
            return Err(self.error("intercepts", "more than one output; train a model with one"));
        }
        Ok(Trained {
            columns: linear.len(),
            inputs: Precision::F32,
            sum: Precision::F32,
            base: intercepts.last().copied().unwrap_or_default(),
            link: self.link()?,
            needed: linear.iter().map(|coefficient| *coefficient != 0.0).collect(),
            linear,
            ..Trained::default()
        })
    }

    fn trees(&self) -> Result<Trained> {
        let classes = self.operator == "TreeEnsembleClassifier";
        if classes {
            self.check_classes("classlabels_int64s")?;
        } else if self.all.get("n_targets").is_some_and(|targets| targets.i > 1) {
            return Err(self.error("n_targets", "more than one output; train a model with one"));
        }
        let (thresholds, inputs) = self.floats("nodes_values")?;
        let count = thresholds.len();
        let trees = self.array("nodes_treeids", count)?;
        let ids = self.array("nodes_nodeids", count)?;
        let columns = self.array("nodes_featureids", count)?;
        let on_true = self.array("nodes_truenodeids", count)?;
        let on_false = self.array("nodes_falsenodeids", count)?;
        let tracks = self.ints("nodes_missing_value_tracks_true");
        let (hits, _) = self.floats("nodes_hitrates")?;
        let modes = self.all.get("nodes_modes").map_or(&[][..], |modes| &modes.strings);
        if modes.len() != count {
            return Err(self.error("nodes_modes", format!("{} modes instead of {count}", modes.len())));
        }
        let (weights, sum) = self.weights(if classes { "class" } else { "target" })?;
        let column = |at: usize| usize::try_from(columns[at]).unwrap_or(usize::MAX);
        let last = (0..count).filter(|at| modes[*at] != b"LEAF").map(column).max();
        let (base, _) = self.floats("base_values")?;
        let mut positions = BTreeMap::<i64, Vec<usize>>::new();
        for (at, tree) in trees.iter().enumerate() {
            positions.entry(*tree).or_default().push(at);
        }
        let mut trained = Trained {
            columns: last.map_or(0, |last| last.saturating_add(1)).max(1),
            has_more_columns: true,
            inputs,
            sum,
            // A classifier may have a base for each class.
            base: base.last().copied().unwrap_or_default(),
            divisor: match self.text("aggregate_function", "SUM") {
                "SUM" => 1.0,
                "AVERAGE" => positions.len() as f64,
                other => {
                    return Err(
                        self.error("aggregate_function", format!("{other} is not supported; SUM and AVERAGE are"))
                    );
                }
            },
            link: self.link()?,
            ..Trained::default()
        };
        for (tree, positions) in &positions {
            let places: HashMap<_, _> = positions.iter().enumerate().map(|(place, at)| (ids[*at], place)).collect();
            let place = |id: i64| places.get(&id).copied().unwrap_or(usize::MAX);
            let node = |at: &usize| {
                let threshold = match modes[*at].as_slice() {
                    b"LEAF" => {
                        let value = weights.get(&(*tree, ids[*at])).copied().unwrap_or_default();
                        // Converters that do not know how often a node is reached write 1 or nothing.
                        return Ok(Raw::Leaf { value, cover: hits.get(*at).copied().unwrap_or(1.0) });
                    }
                    b"BRANCH_LEQ" => thresholds[*at],
                    b"BRANCH_LT" => below(thresholds[*at], inputs),
                    other => {
                        let problem = format!(
                            "{} is not supported; BRANCH_LEQ and BRANCH_LT are",
                            String::from_utf8_lossy(other)
                        );
                        return Err(self.error(&format!("nodes_modes[{at}]"), problem));
                    }
                };
                Ok(Raw::Split {
                    column: column(*at),
                    threshold,
                    missing_left: tracks.get(*at) == Some(&1),
                    left: place(on_true[*at]),
                    right: place(on_false[*at]),
                })
            };
            let nodes = positions.iter().map(node).collect::<Result<Vec<_>>>()?;
            trained.push(&nodes, &format!("{}, tree {tree}", self.operator))?;
        }
        Ok(trained)
    }

    /// Of the score or the second class.
    fn weights(&self, what: &str) -> Result<Weights> {
        let (weights, sum) = self.floats(&format!("{what}_weights"))?;
        let trees = self.array(&format!("{what}_treeids"), weights.len())?;
        let nodes = self.array(&format!("{what}_nodeids"), weights.len())?;
        let ids = self.array(&format!("{what}_ids"), weights.len())?;
        // With weights of one class alone, they are those of the second, whatever its position.
        let chosen = ids.iter().max().copied().unwrap_or_default();
        let all = (0..weights.len()).filter(|at| ids[*at] == chosen).map(|at| ((trees[at], nodes[at]), weights[at]));
        Ok((all.collect(), sum))
    }
}
