"""Tables: a DataFrame of pandas, a dict of lists, or a pair of an array and the names of its columns."""

from __future__ import annotations

from typing import Any


class ModelError(ValueError):
    """Says what is wrong with a model, its facts or its data, where, and what to do about it."""


def table(frame: Any, columns: list[str] | None) -> tuple[list[str], Any]:
    """These columns, or all, as their names and an array of numbers; missing values are NaN."""
    import numpy

    if isinstance(frame, tuple):
        array, names = frame
        frame = {name: array[:, place] for place, name in enumerate(names)}
    elif not isinstance(frame, dict) and not hasattr(frame, "columns"):
        raise ModelError(f"frame is a {type(frame).__name__}: give a DataFrame, a dict, or an array and names")
    columns = list(frame) if columns is None else columns
    values = []
    for column in columns:
        if column not in frame:
            raise ModelError(f"the model has a column '{column}', which frame lacks; it has {', '.join(frame)}")
        one = frame[column]
        try:
            is_pandas = hasattr(one, "isna")
            one = one.to_numpy(dtype="float64", na_value=numpy.nan) if is_pandas else numpy.array(one, dtype="float64")
        except (TypeError, ValueError) as error:
            raise ModelError(f"column '{column}' has a value that is not a number ({error}): convert it") from error
        if numpy.isinf(one).any() or not one.size:
            raise ModelError(f"column '{column}' of frame has no rows, or infinite values: a fact is never infinite")
        values.append(one)
    return columns, numpy.column_stack(values)
