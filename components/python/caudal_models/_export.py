"""Writes the folder of a model."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._command import MAP_FILE, MODEL_FILES, facts_of
from ._frame import ModelError, table
from ._libraries import Fitted, fitted
from ._statistics import distribution, metrics

CARD = ("owner", "purpose", "training_data", "period", "limits", "next_review")
CENTAVOS_PER_PESO = 100
# DeLong's interval estimates variances.
CLASS_MIN = 2


def export(
    model: Any,
    frame: Any,
    folder: str | os.PathLike[str],
    *,
    version: str,
    summary: str,
    facts: Mapping[str, str] | None = None,
    money: str | None = None,
    labels: Sequence[Any] | None = None,
    reasons: Sequence[tuple[str, str, float]] = (),
    points: Any = None,
    card: Mapping[str, Any] | None = None,
    caudal: str | os.PathLike[str] = "caudal",
) -> Path:
    """Writes a fitted model into a folder, for `build`, and returns the folder.

    `frame` has rows that the model was not fitted on: a DataFrame, a dict of lists, or a pair of an array and its
    columns' names. Their distribution is the card's reference, with which later requests are compared; with `labels`,
    true for frauds, the card has metrics.

    `facts` names the fact of each column that is not called like one; `caudal models facts` lists them. `money` is the
    unit of all columns with amounts, MXN (pesos) or centavos. The component does not score without the values of
    columns that are known in every row of `frame`. Each of `reasons` is a code, a fact and the value from which it
    applies. `points` becomes the map's `score.points`.

    `card` has the words of the card: owner, purpose, training_data, period (a pair of dates), limits (a list),
    next_review. `caudal models push --card` names those that are missing. Files are replaced, so keep the words in the
    notebook.

    Raises ModelError if anything does not fit, before it writes; `build` checks the rest.
    """
    for word in set(card or ()) - set(CARD):
        raise ModelError(f"card has no '{word}'; it has {', '.join(CARD)}")
    one = fitted(model)
    columns, rows = table(frame, one.names)
    if len(columns) != one.width:
        raise ModelError(f"the model was fitted on {one.width} columns without names, but frame has {len(columns)}")
    behind = facts_of(columns, facts, caudal)
    features = [_feature(one, *it, money) for it in zip(columns, behind, rows.T)]
    scores = one.scores(rows)
    if scores.ndim != 1:
        raise ModelError("the model has more than one output: fit it on two classes, fraud last")
    made = _card(one.library, card or {}, scores, labels)
    made["reference"] = _reference(features, rows)

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODEL_FILES:
        (folder / name).unlink(missing_ok=True)
    tables = [("[features]", it) for it in features]
    tables += [("[reasons]", dict(zip(("code", "fact", "at_least"), it))) for it in reasons]
    tables += [] if points is None else [("score", {"points": points})]
    for name, text in (
        (one.file, one.text(columns)),
        (MAP_FILE, _toml({"version": version, "summary": summary}, tables)),
        ("card.json", json.dumps(made, indent=1, ensure_ascii=False, default=str) + "\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _feature(one: Fitted, column: str, fact: Mapping[str, Any], values: Any, money: str | None) -> dict[str, Any]:
    """A feature of the map."""
    feature = {"name": column, "fact": fact["name"]}
    if fact["unit"] == "centavos":
        if money is None:
            raise ModelError(f"column '{column}' is money: say money='MXN' if it is in pesos, or money='centavos'")
        feature["unit"] = money
    has_missing = bool((values != values).any())
    if has_missing and not one.accepts_missing:
        raise ModelError(f"column '{column}' has missing values, which models of this class do not take")
    return {**feature, "required": not has_missing}


def _reference(features: Sequence[Mapping[str, Any]], rows: Any) -> list[dict[str, Any]]:
    """How each fact is distributed where it is known, in the unit of the HTTP API."""
    found = {}
    for feature, values in zip(features, rows.T):
        known = values[values == values]
        if len(known):
            scale = CENTAVOS_PER_PESO if feature.get("unit") == "centavos" else 1
            found[feature["fact"]] = {"fact": feature["fact"], **distribution(known / scale)}
    return list(found.values())


def _card(library: str, words: Mapping[str, Any], scores: Any, labels: Sequence[Any] | None) -> dict[str, Any]:
    import numpy

    made: dict[str, Any] = {name: words.get(name, "") for name in CARD if name != "period" or name in words}
    made["limits"], made["metrics"] = list(words.get("limits", ())), []
    if "period" in words:
        made["period"] = dict(zip(("from", "to"), words["period"]))
    facts = [f"Fitted with {library} {__import__(library).__version__}."]
    if labels is not None:
        frauds = numpy.asarray(labels).ravel() == 1
        if len(frauds) != len(scores) or not CLASS_MIN <= frauds.sum() <= len(frauds) - CLASS_MIN:
            raise ModelError(
                f"there are {len(frauds)} labels, {frauds.sum()} of them frauds: give one for each of {len(scores)}, "
                f"1 or True for a fraud, and at least {CLASS_MIN} of both kinds"
            )
        facts.append(f"Measured on {len(frauds)} other rows, {frauds.sum()} of them frauds.")
        made["metrics"] = metrics(scores, frauds)
    if made["training_data"]:
        made["training_data"] = " ".join([made["training_data"], *facts])
    return made


def _toml(entries: Mapping[str, Any], tables: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> str:
    # Texts, numbers, booleans and lists are as in JSON; a date is a text.
    text = "".join(f"{name} = {json.dumps(it, ensure_ascii=False, default=str)}\n" for name, it in entries.items())
    return text + "".join(f"\n[{name}]\n{_toml(it)}" for name, it in tables)
