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
        let missing_left = tree.maybe("missing_left").map(|_| "missing_left");
        let nodes = tree.nodes(["feature", "threshold", "left", "right", "value", "cover"], missing_left, |at| at)?;
        for node in &nodes {
            // Without it, the library refuses missing values.
            if let (None, Raw::Split { column, .. }) = (missing_left, node)
                && let Some(needed) = trained.needed.get_mut(*column)
            {
                *needed = true;
            }
        }
        trained.push(&nodes, &tree.path("left"))?;
    }
    Ok(trained)
}
