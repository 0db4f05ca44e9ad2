//! Errors say where something is wrong, and what to do.

use caudal_convert::COMPONENT_BYTES_MAX;

use crate::common::{MAP, MODELS, built};

/// The error after a replacement in a model and one in the map.
fn error(model: usize, in_model: (&str, &str), in_map: (&str, &str)) -> String {
    let text = String::from_utf8_lossy(MODELS[model].1);
    assert!(text.contains(in_model.0) && MAP.contains(in_map.0), "{in_model:?} or {in_map:?} is not there");
    let model = text.replacen(in_model.0, in_model.1, 1);
    let result = built(model.as_bytes(), &MAP.replacen(in_map.0, in_map.1, 1));
    result.map(|built| built.summary).expect_err("the replacement is an error").to_string()
}

#[test]
fn errors_in_a_map_have_a_line_and_a_column() {
    for (from, to, expected) in [
        ("unit = \"MXN\"", "units = \"MXN\"", "map, line 7, column 1: unknown field `units`, expected one of"),
        ("\"MXN\"", "\"USD\"", "map, line 7, column 8: amount has the unit centavos; give that or MXN"),
        ("\"amount\"", "\"amont\"", "map, line 6, column 8: there is no fact \"amont\": did you mean amount?"),
        ("\"amount\"", "\"shoe\"", "map, line 6, column 8: there is no fact \"shoe\": `caudal models facts` lists"),
        ("\"hora\"", "\"hour\"", "map, line 10, column 1: the model's column 2 is \"hora\"; features are in the order"),
        ("\"3.1.0\"", "\"3.1\"", "map, line 1, column 11: \"3.1\" is not a version such as 3.1.0"),
        ("at_least = 22", "", "map, line 23, column 8: a reason needs a number in either at_least or at_most"),
        ("[0, 0.45]", "[0, 0.05]", "map, line 43, column 10: points are [predictor, score] with rising predictors"),
    ] {
        let error = error(0, ("", ""), (from, to));
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn errors_in_a_model_have_a_path_or_a_line() {
    for (model, from, to, expected) in [
        (
            0,
            "binary:logistic",
            "rank:map",
            "model, learner.objective.name: the objective rank:map is not supported; those",
        ),
        (
            0,
            "\"split_type\":[0",
            "\"split_type\":[1",
            "model, learner.gradient_booster.model.trees[0].split_type: splits on",
        ),
        (
            0,
            "\"name\":\"gbtree\"",
            "\"name\":\"dart\"",
            "model, learner.gradient_booster: the booster dart is not supported",
        ),
        (1, "\nis_linear=0", "\nis_linear=1", "model, line 28, is_linear: linear trees are not supported; train with"),
        (
            1,
            "\nnum_cat=0",
            "\nnum_cat=1",
            "model, line 15, num_cat: splits on categories are not supported; encode them",
        ),
        (
            1,
            "sigmoid:1",
            "sigmoid:2",
            "model, line 7, objective: the objective binary sigmoid:2 is not supported; those",
        ),
        (2, "\"inputs\": \"f64\"", "\"inputs\": 64", "model, inputs: not a string"),
        (4, "minutos,60", "minutos,-60", "model, line 9: the rows of minutos must ascend by from"),
        (
            4,
            "5000,1.75",
            "5000,0.4",
            "model, tree 0: the score may only rise with amount, but the leaf of this tree is 0.5 where amount = 1000 and 0.4 where amount = 5000; train",
        ),
        (4, "fact,", "facts,", "model: the format is not known; give XGBoost JSON"),
    ] {
        let error = error(model, (from, to), ("", ""));
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_model_that_is_too_large_is_refused_with_the_numbers() {
    let tree = |depth: usize| {
        let (splits, nodes) = ((1_i64 << depth) - 1, (2_i64 << depth) - 1);
        let children =
            |side: i64| (0..nodes).map(|at| if at < splits { 2 * at + side } else { -1 }).collect::<Vec<i64>>();
        let features: Vec<_> = children(1).into_iter().map(|left| left.min(1)).collect();
        let zeros = vec![0; nodes as usize];
        let (left, right) = (children(1), children(2));
        format!(
            r#"{{"feature": {features:?}, "threshold": {zeros:?}, "left": {left:?}, "right": {right:?}, "value": {zeros:?},
            "cover": {zeros:?}, "missing_left": {zeros:?}}}"#
        )
    };
    let head = r#"{"format": "caudal-model-1", "features": ["importe", "hora", "nuevo", "minutos"], "inputs": "f64",
        "sum": "f64", "base": 0, "link": "logistic", "trees": ["#;
    let build = |trees: usize| built(format!("{head}{}]}}", vec![tree(9); trees].join(",")).as_bytes(), MAP);
    assert!(build(80).is_ok_and(|built| built.component.len() < COMPONENT_BYTES_MAX));
    let error = build(100).expect_err("100 trees are too large").to_string();
    assert!(error.starts_with("model: 100 trees with 102300 nodes make a component of 1"), "{error}");
}
