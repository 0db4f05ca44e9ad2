//! `caudal-model-1`: what Caudal's Python package writes for scikit-learn.

use caudal_ensemble::{Link, Precision};

use super::json::Json;
use super::{Raw, Trained};
use crate::error::Result;

pub(crate) const FORMAT: &str = "caudal-model-1";

pub(crate) fn read(json: &Json<'_>) -> Result<Trained> {
    let precision = |name| match json.field(name)?.text()? {
        "f32" => Ok(Precision::F32),
        "f64" => Ok(Precision::F64),
        _ => Err(json.field(name)?.error("must be f32 or f64")),
    };
    let link = json.field("link")?;
    let names = json.field("features")?.items()?;
    let names = names.iter().map(|name| Ok(name.text()?.to_owned())).collect::<Result<Vec<_>>>()?;
    let mut trained = Trained {
        columns: names.len(),
        names,
        inputs: precision("inputs")?,
        sum: precision("sum")?,
        base: json.field("base")?.number()?,
        divisor: json.maybe("divide").map_or(Ok(1.0), |divide| divide.number())?,
        link: match link.text()? {
            "logistic" => Link::Logistic,
            "identity" => Link::Identity,
            _ => return Err(link.error("must be logistic or identity")),
        },
        ..Trained::default()
    };
    if let Some(linear) = json.maybe("linear") {
        trained.linear = linear.column("coefficients", trained.columns)?;
    }
    trained.needed = (0..trained.columns).map(|at| trained.linear.get(at).is_some_and(|c| *c != 0.0)).collect();
    for tree in json.field("trees")?.items()? {
        // Without it, the library refuses missing values.
        if tree.maybe("missing_left").is_none() {
            let columns = tree.field("feature")?.numbers()?;
            for (at, needed) in trained.needed.iter_mut().enumerate() {
                *needed |= columns.contains(&(at as f64));
            }
        }
        trained.push(&nodes(&tree)?, &tree.path("left"))?;
    }
    Ok(trained)
}

fn nodes(tree: &Json<'_>) -> Result<Vec<Raw>> {
    let columns = tree.field("feature")?.numbers()?;
    let count = columns.len();
    let thresholds = tree.column("threshold", count)?;
    let left = tree.column("left", count)?;
    let right = tree.column("right", count)?;
    let values = tree.column("value", count)?;
    let covers = tree.column("cover", count)?;
    let missing_left = tree.maybe("missing_left").map(|_| tree.column("missing_left", count)).transpose()?;
    Ok((0..count)
        .map(|at| {
            if columns[at] < 0.0 {
                return Raw::Leaf { value: values[at], cover: covers[at] };
            }
            Raw::Split {
                column: columns[at] as usize,
                threshold: thresholds[at],
                missing_left: missing_left.as_ref().is_some_and(|left| left[at] != 0.0),
                left: left[at] as usize,
                right: right[at] as usize,
            }
        })
        .collect())
}
