"""What differs between the libraries: columns, file, prediction."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _sklearn
from ._errors import ModelError

CATEGORIES = "the model splits by category, which cannot be exported: encode categories as numbers"


@dataclass
class Fitted:
    """A fitted model."""

    library: str
    # None if it was fitted on columns without names.
    names: list[str] | None
    width: int
    file: str
    save: Callable[[Path, list[str]], Any]
    # The library's own predictions, of fraud if the model has classes.
    scores: Callable[[Any], Any]
    accepts_missing: bool = True


def fitted(model: Any) -> Fitted:
    """The model, of whichever library it is."""
    origins = {base.__module__.split(".")[0] for base in type(model).__mro__}
    # Wrappers of the first two are estimators of scikit-learn as well.
    for library, read in (("xgboost", _xgboost), ("lightgbm", _lightgbm), ("sklearn", _scikit_learn)):
        if library in origins:
            return read(model)
    raise ModelError(f"{type(model).__name__} is no model of XGBoost, LightGBM or scikit-learn")


def _xgboost(model: Any) -> Fitted:
    import xgboost

    booster = model
    if hasattr(model, "get_booster"):
        if not math.isnan(model.missing):
            raise ModelError(f"the model takes {model.missing} for a missing value: fit it with NaN there instead")
        booster = model.get_booster()
        # The classifier itself predicts with the best trees only.
        if model.early_stopping_rounds:
            booster = booster[: model.best_iteration + 1]
    learner = json.loads(booster.save_config())["learner"]
    kind = learner["learner_train_param"]["booster"]
    if kind != "gbtree":
        raise ModelError(f"booster='{kind}' cannot be exported: fit with booster='gbtree'")
    if any(int(learner["learner_model_param"].get(it, 1)) > 1 for it in ("num_class", "num_target")):
        raise ModelError("the model has more than one output: fit with objective='binary:logistic'")
    if "c" in (booster.feature_types or []):
        raise ModelError(CATEGORIES)

    def save(path: Path, names: list[str]) -> None:
        named = booster.copy()
        named.feature_names = names
        named.save_model(str(path))

    def scores(rows: Any) -> Any:
        return booster.predict(xgboost.DMatrix(rows, feature_names=booster.feature_names))

    return Fitted("xgboost", booster.feature_names, booster.num_features(), "model.json", save, scores)


def _lightgbm(model: Any) -> Fitted:
    booster = getattr(model, "booster_", model)
    if booster.num_model_per_iteration() != 1:
        raise ModelError("the model has more than one output: fit with objective='binary'")
    text = booster.model_to_string()
    for line, problem in (
        ("num_cat=[1-9]", CATEGORIES),
        ("is_linear=1", "leaves with linear models cannot be exported: fit with linear_tree=False"),
        ("average_output", "boosting='rf' cannot be exported: fit with boosting='gbdt'"),
    ):
        if re.search(f"^{line}", text, re.MULTILINE):
            raise ModelError(problem)
    names = booster.feature_name()
    unnamed = names == [f"Column_{place}" for place in range(len(names))]

    def save(path: Path, names: list[str]) -> None:
        line = "feature_names=" + " ".join(names)
        named = re.sub("^feature_names=.*$", lambda _: line, text, count=1, flags=re.MULTILINE)
        path.write_text(named, encoding="utf-8")

    return Fitted("lightgbm", None if unnamed else names, len(names), "model.txt", save, booster.predict)


def _scikit_learn(model: Any) -> Fitted:
    model = _sklearn.unwrap(model)
    document = _sklearn.document(model)

    def save(path: Path, names: list[str]) -> None:
        path.write_text(json.dumps({**document, "features": names}, allow_nan=False), encoding="utf-8")

    def scores(rows: Any) -> Any:
        with warnings.catch_warnings():
            # The rows have no names, but the order of the fit.
            warnings.simplefilter("ignore", UserWarning)
            return model.predict_proba(rows)[:, 1] if hasattr(model, "classes_") else model.predict(rows)

    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else list(names)
    accepts = type(model).__name__ in _sklearn.ACCEPT_MISSING
    return Fitted("sklearn", names, model.n_features_in_, "model.json", save, scores, accepts)
