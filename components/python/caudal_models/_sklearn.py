"""Models of scikit-learn, 1.3 or newer, in Caudal's own format."""

from __future__ import annotations

import sys
from typing import Any

from ._frame import ModelError

BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
HISTOGRAM = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
FORESTS = ("RandomForestClassifier", "RandomForestRegressor")
SUPPORTED = (*BOOSTED, *HISTOGRAM, *FORESTS, "LogisticRegression")
ACCEPT_MISSING = (*HISTOGRAM, *FORESTS)


def unwrap(model: Any) -> Any:
    """The estimator of a pipeline whose other steps do nothing."""
    if type(model).__name__ != "Pipeline":
        return model
    for name, step in model.steps[:-1]:
        if step not in (None, "passthrough"):
            raise ModelError(f"step '{name}' of the pipeline changes its input: fit the last one without it")
    return model.steps[-1][1]


def document(model: Any) -> dict[str, Any]:
    """The model as the JSON document that `caudal models build` reads, but for the names of its features."""
    name = type(model).__name__
    if name not in SUPPORTED:
        raise ModelError(f"{name} cannot be exported: use XGBoost, LightGBM or one of {', '.join(SUPPORTED)}")
    if not hasattr(model, "n_features_in_"):
        raise ModelError(f"{name} is not fitted: call fit first")
    classes = getattr(model, "classes_", (0, 1))
    if len(classes) != 2 or getattr(model, "n_outputs_", 1) != 1:
        raise ModelError(f"{name} has {len(classes)} classes: fit it on one column with two, fraud last")
    link = "logistic" if hasattr(model, "classes_") else "identity"
    made = {"format": "caudal-model-1", "inputs": "f64", "sum": "f64", "base": 0.0, "link": link, "trees": []}
    if name in BOOSTED:
        made.update(_boosted(model))
    elif name in HISTOGRAM:
        made.update(_histogram(model))
    elif name in FORESTS:
        # Leaves have the share of frauds, or the average.
        trees = [_tree(one.tree_, one.tree_.value[:, 0, -1]) for one in model.estimators_]
        made.update(inputs="f32", divide=len(trees), link="identity", trees=trees)
    else:
        made.update(base=float(model.intercept_[0]), linear={"coefficients": model.coef_[0].tolist()})
    return made


def _boosted(model: Any) -> dict[str, Any]:
    import numpy

    if model.init not in (None, "zero"):
        raise ModelError("init is a model of its own, which the export leaves out: fit without init")
    if model.loss == "exponential":
        raise ModelError("loss='exponential' has no log-odds: fit with loss='log_loss'")
    base = model._raw_predict_init(numpy.zeros((1, model.n_features_in_)))[0, 0]
    # The library multiplies while it adds up; the products are the same.
    trees = [_tree(one.tree_, model.learning_rate * one.tree_.value[:, 0, 0]) for one in model.estimators_[:, 0]]
    return {"inputs": "f32", "base": float(base), "trees": trees}


def _histogram(model: Any) -> dict[str, Any]:
    if model.loss in ("poisson", "gamma"):
        raise ModelError(f"loss='{model.loss}' predicts on a logarithmic scale: fit with loss='squared_error'")
    if model.is_categorical_ is not None:
        raise ModelError("the model has columns of categories, which cannot be exported: encode categories as numbers")
    names = ("is_leaf", "feature_idx", "num_threshold", "left", "right", "missing_go_to_left", "value", "count")
    trees = [_nodes(*(one.nodes[name] for name in names)) for (one,) in model._predictors]
    return {"base": float(model._baseline_prediction.ravel()[0]), "trees": trees}


def _tree(tree: Any, value: Any) -> dict[str, Any]:
    left = tree.children_left
    split = (left < 0, tree.feature, tree.threshold, left, tree.children_right, tree.missing_go_to_left)
    return _nodes(*split, value, tree.weighted_n_node_samples)


def _nodes(*arrays: Any) -> dict[str, Any]:
    from numpy import where

    leaf, feature, threshold, left, right, missing_left, value, cover = arrays
    # An infinite threshold parts missing values from all others.
    threshold = threshold.clip(-sys.float_info.max, sys.float_info.max)
    inner = {"feature": feature, "left": left.astype(int), "right": right.astype(int)}
    return {
        **{name: where(leaf, -1, it).tolist() for name, it in inner.items()},
        "threshold": where(leaf, 0.0, threshold).tolist(),
        "missing_left": (missing_left != 0).tolist(),
        "value": where(leaf, value, 0.0).tolist(),
        "cover": cover.tolist(),
    }
