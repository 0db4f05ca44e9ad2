//! XGBoost JSON: boosters `gbtree` and `gblinear`.

use caudal_ensemble::{Link, Precision};

use super::json::Json;
use super::{Raw, Trained, below, check_columns};
use crate::error::Result;

const LOGISTIC: [&str; 3] = ["binary:logistic", "binary:logitraw", "reg:logistic"];
const IDENTITY: [&str; 4] = ["reg:squarederror", "reg:squaredlogerror", "reg:absoluteerror", "reg:pseudohubererror"];

pub(crate) fn read(json: &Json<'_>) -> Result<Trained> {
    let learner = json.field("learner")?;
    let objective = learner.field("objective")?.field("name")?;
    let link = match objective.text()? {
        name if LOGISTIC.contains(&name) => Link::Logistic,
        name if IDENTITY.contains(&name) => Link::Identity,
        name => {
            let supported = [&LOGISTIC[..], &IDENTITY].concat().join(", ");
            return Err(objective.error(format!("the objective {name} is not supported; those that are: {supported}")));
        }
    };
    let parameters = learner.field("learner_model_param")?;
    for (name, most) in [("num_class", 1.0), ("num_target", 1.0)] {
        if let Some(count) = parameters.maybe(name).filter(|count| count.number().is_ok_and(|count| count > most)) {
            return Err(count.error("more than one output; train a model with one"));
        }
    }
    let columns = parameters.field("num_feature")?.number()? as usize;
    check_columns(columns)?;
    let names = match learner.maybe("feature_names") {
        Some(names) => names.items()?.iter().map(|name| Ok(name.text()?.to_owned())).collect::<Result<_>>()?,
        None => Vec::new(),
    };
    let base = margin(&parameters.field("base_score")?, &objective)?;
    let mut trained = Trained {
        names,
        columns,
        inputs: Precision::F32,
        sum: Precision::F32,
        base: base.into(),
        link,
        ..Trained::default()
    };
    let booster = learner.field("gradient_booster")?;
    let model = booster.maybe("model");
    match (booster.field("name")?.text()?, model) {
        ("gbtree", Some(model)) => {
            let trees = model.field("trees")?.items()?;
            check_rounds(&learner, &model, trees.len())?;
            for tree in &trees {
                trained.push(&nodes(tree)?, &tree.path("left_children"))?;
            }
        }
        ("gblinear", Some(model)) => {
            let mut weights: Vec<_> =
                model.column("weights", columns + 1)?.iter().map(|w| f64::from(*w as f32)).collect();
            trained.base = Precision::F32.round(trained.base + weights.pop().unwrap_or_default());
            trained.linear = weights;
        }
        (name, _) => {
            return Err(booster.error(format!("the booster {name} is not supported; train with gbtree or gblinear")));
        }
    }
    Ok(trained)
}

/// The base score as a margin, computed as XGBoost does.
fn margin(score: &Json<'_>, objective: &Json<'_>) -> Result<f32> {
    // A number in a string; since version 3.1, in an array in a string.
    let number = score.text()?.trim_start_matches('[').trim_end_matches(']');
    let score = number.parse::<f32>().map_err(|_| score.error("not a number"))?;
    Ok(if objective.text()?.ends_with(":logistic") { -(1.0 / score - 1.0).ln() } else { score })
}

/// A model that stopped early has trees that XGBoost's own interface for scikit-learn would not use.
fn check_rounds(learner: &Json<'_>, model: &Json<'_>, trees: usize) -> Result<()> {
    let best = learner.maybe("attributes").and_then(|attributes| attributes.maybe("best_iteration"));
    let parallel = model.maybe("gbtree_model_param").and_then(|parameters| parameters.maybe("num_parallel_tree"));
    let parallel = parallel.map_or(Ok(1.0), |count| count.number())?;
    match best {
        Some(best) if (best.number()? + 1.0) * parallel < trees as f64 => {
            Err(best.error("there are trees after the best round; save booster[: booster.best_iteration + 1]"))
        }
        _ => Ok(()),
    }
}

fn nodes(tree: &Json<'_>) -> Result<Vec<Raw>> {
    if let Some(types) = tree.maybe("split_type")
        && types.numbers()?.iter().any(|kind| *kind != 0.0)
    {
        return Err(types.error("splits on categories are not supported; encode them as numbers"));
    }
    if let Some(size) = tree.maybe("tree_param").and_then(|parameters| parameters.maybe("size_leaf_vector"))
        && size.number()? > 1.0
    {
        return Err(size.error("more than one output; train a model with one"));
    }
    // A leaf's value is where a split has its condition.
    let names =
        ["split_indices", "split_conditions", "left_children", "right_children", "split_conditions", "sum_hessian"];
    tree.nodes(names, Some("default_left"), |bound| below(f64::from(bound as f32), Precision::F32))
}
