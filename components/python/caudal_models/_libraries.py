"""What differs between the libraries: columns, file, prediction. `caudal models build` refuses what it cannot read."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import _sklearn
from ._frame import ModelError


@dataclass
class Fitted:
    """A fitted model."""

    library: str
    # None if it was fitted on columns without names.
    names: list[str] | None
    width: int
    file: str
    # The library's own file, with these names of columns.
    text: Callable[[list[str]], str]
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
        best = getattr(model, "best_iteration", None)
        booster = booster if best is None else booster[: best + 1]

    def text(names: list[str]) -> str:
        named = booster.copy()
        named.feature_names = names
        return named.save_raw("json").decode()

    def scores(rows: Any) -> Any:
        names, types = booster.feature_names, booster.feature_types
        return booster.predict(xgboost.DMatrix(rows, feature_names=names, feature_types=types))

    return Fitted("xgboost", booster.feature_names, booster.num_features(), "model.json", text, scores)


def _lightgbm(model: Any) -> Fitted:
    booster = getattr(model, "booster_", model)
    names = booster.feature_name()
    unnamed = names == [f"Column_{place}" for place in range(len(names))]

    def text(names: list[str]) -> str:
        line = "feature_names=" + " ".join(names)
        return re.sub("(?m)^feature_names=.*$", lambda _: line, booster.model_to_string(), count=1)

    return Fitted("lightgbm", None if unnamed else names, len(names), "model.txt", text, booster.predict)


def _scikit_learn(model: Any) -> Fitted:
    model = _sklearn.unwrap(model)
    document = _sklearn.document(model)

    def scores(rows: Any) -> Any:
        with warnings.catch_warnings():
            # The rows have no names, but the order of the fit.
            warnings.simplefilter("ignore", UserWarning)
            return model.predict_proba(rows)[:, 1] if hasattr(model, "classes_") else model.predict(rows)

    def text(names: list[str]) -> str:
        return json.dumps({**document, "features": names}, allow_nan=False)

    names = list(getattr(model, "feature_names_in_", ())) or None
    accepts = type(model).__name__ in _sklearn.ACCEPT_MISSING
    return Fitted("sklearn", names, model.n_features_in_, "model.json", text, scores, accepts)
