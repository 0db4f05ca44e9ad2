"""Writes the folder of a model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._command import MAP_FILE, MODEL_FILES, facts_of
from ._errors import ModelError
from ._frame import matrix, names_of
from ._libraries import Fitted, fitted
from ._statistics import distribution, metrics

MONEY = ("MXN", "centavos")
CARD = ("owner", "purpose", "data", "period", "limits", "next_review")
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
    required: Collection[str] | None = None,
    labels: Sequence[Any] | None = None,
    reasons: Sequence[tuple[str, str, float]] = (),
    points: Any = None,
    card: Mapping[str, Any] | None = None,
    caudal: str | os.PathLike[str] = "caudal",
) -> Path:
    """Writes a fitted model into a folder, for `build`, and returns the folder.

    `frame` has rows that the model was not fitted on: a DataFrame, a dict of lists, or a pair of an array and its
    columns' names. Their distribution is the reference that later requests are compared with; with `labels`, true for
    frauds, the card has metrics.

    `facts` names the fact of each column that is not called like one; `caudal models facts` lists them. `money` is the
    unit of all columns with amounts, MXN (pesos) or centavos. The component does not score without the values of
    `required` columns: unless given, those that are known in every row. Each of `reasons` is a code, a fact and the
    value from which it applies. `points` becomes the map's `score.points`.

    `card` has the words of the card: owner, purpose, data, period (a pair of dates), limits, next_review. Files are
    replaced, so keep those words in the notebook.

    Raises ModelError if anything does not fit, before it writes.
    """
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        raise ModelError(f"version is '{version}': it has three numbers, for example '3.1.0'")
    if not summary.strip() or "\n" in summary:
        raise ModelError("summary must be one sentence, on one line, that describes this version")
    if money not in (None, *MONEY):
        raise ModelError(f"money is '{money}': it must be {' or '.join(MONEY)}")
    for word in card or {}:
        if word not in CARD:
            raise ModelError(f"card has no '{word}'; it has {', '.join(CARD)}")
    one = fitted(model)
    columns = one.names or names_of(frame)
    if len(columns) != one.width:
        raise ModelError(f"the model was fitted on {one.width} columns without names, but frame has {len(columns)}")
    rows = matrix(frame, columns)
    behind = facts_of(columns, facts, caudal)
    features = _features(one, rows, columns, behind, money, required)
    for code, fact, _ in reasons:
        if fact not in [it["name"] for it in behind]:
            raise ModelError(f"the reason {code} is about the fact '{fact}', which no column of the model has")
    frauds = None if labels is None else _booleans(labels, len(rows))
    scores = one.scores(rows)

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODEL_FILES:
        (folder / name).unlink(missing_ok=True)
    one.save(folder / one.file, columns)
    tables = [("[features]", it) for it in features]
    tables += [("[reasons]", dict(zip(("code", "fact", "at_least"), it))) for it in reasons]
    tables += [] if points is None else [("score", {"points": points})]
    (folder / MAP_FILE).write_text(_toml({"version": version, "summary": summary}, tables), encoding="utf-8")
    described = [{**it, **distribution(rows[:, place])} for place, it in enumerate(features)]
    reference = {
        "format": "caudal-reference-1",
        "rows": len(rows),
        "features": described,
        "score": distribution(scores),
    }
    (folder / "reference.json").write_text(json.dumps(reference, indent=1) + "\n", encoding="utf-8")
    (folder / "card.toml").write_text(_card(one.library, card or {}, scores, frauds), encoding="utf-8")
    return folder


def _features(
    one: Fitted,
    rows: Any,
    columns: list[str],
    behind: list[dict[str, Any]],
    money: str | None,
    required: Collection[str] | None,
) -> list[dict[str, Any]]:
    """The map's features."""
    made = []
    for column in required or ():
        if column not in columns:
            raise ModelError(f"required names '{column}', which is no column of the model")
    for place, (column, fact) in enumerate(zip(columns, behind)):
        feature = {"name": column, "fact": fact["name"]}
        if fact["unit"] == "centavos":
            if money is None:
                raise ModelError(f"column '{column}' is money: say money='MXN' if it is in pesos, or money='centavos'")
            feature["unit"] = money
        has_missing = bool((rows[:, place] != rows[:, place]).any())
        if has_missing and not one.accepts_missing:
            raise ModelError(
                f"column '{column}' has missing values, which the model does not take: fit it on such rows"
            )
        must = not has_missing if required is None else column in required
        made.append({**feature, "required": must or not one.accepts_missing})
    return made


def _booleans(labels: Sequence[Any], count: int) -> Any:
    import numpy

    made = numpy.asarray(labels).ravel()
    if len(made) != count or not numpy.isin(made, (0, 1)).all():
        raise ModelError(
            f"labels must be {count}, one for each row of frame: 1 or True for a fraud, otherwise 0 or False"
        )
    made = made.astype(bool)
    if not CLASS_MIN <= made.sum() <= count - CLASS_MIN:
        raise ModelError(f"labels have {made.sum()} frauds in {count} rows: metrics need at least {CLASS_MIN} of each")
    return made


def _card(library: str, words: Mapping[str, Any], scores: Any, frauds: Any) -> str:
    used = __import__(library)
    head = {name: words.get(name, "") for name in ("owner", "purpose", "next_review")}
    start, end = words.get("period", ("", ""))
    training = {"data": words.get("data", ""), "from": start, "to": end, "library": f"{library} {used.__version__}"}
    tables = [("training", training)]
    if frauds is not None:
        tables.append(("evaluation", {"rows": len(frauds), "frauds": int(frauds.sum())}))
        tables += [("[metrics]", it) for it in metrics(scores, frauds)]
    text = _toml({**head, "limits": list(words.get("limits", ()))}, tables)
    return f"# Complete what is empty before you push. Dates are as in 2026-12-31; metrics have 95 % intervals.\n{text}"


def _toml(entries: Mapping[str, Any], tables: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> str:
    # Texts, numbers, booleans and lists are as in JSON; a date is a text.
    text = "".join(f"{name} = {json.dumps(it, ensure_ascii=False, default=str)}\n" for name, it in entries.items())
    return text + "".join(f"\n[{name}]\n{_toml(table)}" for name, table in tables)
