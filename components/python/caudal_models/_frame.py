"""Tables: a DataFrame of pandas, a dict of lists, or an array with the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._errors import ModelError


def names_of(frame: Any) -> list[str]:
    """The names of the columns."""
    if isinstance(frame, tuple) and len(frame) == 2:
        names = list(frame[1])
        if frame[0].ndim != 2 or frame[0].shape[1] != len(names):
            raise ModelError(
                f"the array has the shape {frame[0].shape}, and {len(names)} names were given for its columns"
            )
        return names
    if hasattr(frame, "columns"):
        return [str(it) for it in frame.columns]
    if isinstance(frame, dict):
        return list(frame)
    raise ModelError(
        f"frame is a {type(frame).__name__}: give a DataFrame, a dict of lists, or an array and its columns' names"
    )


def matrix(frame: Any, columns: Sequence[str]) -> Any:
    """These columns as an array of numbers; missing values are NaN."""
    import numpy

    names = names_of(frame)
    for column in columns:
        if column not in names:
            raise ModelError(
                f"the model was fitted on a column '{column}', which frame does not have: {', '.join(names)}"
            )
    values = []
    for column in columns:
        one = frame[0][:, names.index(column)] if isinstance(frame, tuple) else frame[column]
        try:
            if hasattr(one, "isna"):
                values.append(one.to_numpy(dtype="float64", na_value=numpy.nan))
            else:
                values.append(numpy.array(one, dtype="float64"))
        except (TypeError, ValueError) as error:
            raise ModelError(f"column '{column}' has a value that is not a number ({error}): convert it") from error
        if numpy.isinf(values[-1]).any():
            raise ModelError(f"column '{column}' has infinite values: replace them, because a fact never is")
    if len({len(it) for it in values}) > 1:
        raise ModelError("the columns of frame have different lengths")
    if len(values[0]) == 0:
        raise ModelError("frame has no rows: give it rows that the model was not fitted on")
    return numpy.column_stack(values)
