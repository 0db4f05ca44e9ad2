"""How values are distributed, and how well scores find frauds."""

from __future__ import annotations

import math
from typing import Any

# Two-sided, 95 %.
Z = 1.959963984540054


def distribution(values: Any) -> dict[str, Any]:
    """The deciles of some values, and the shares of those below, at and above each."""
    import numpy

    known = numpy.sort(values)
    # Equal deciles are one: much of a column may be 0.
    ends = numpy.unique(known[numpy.arange(1, 10) * len(known) // 10])
    bins = numpy.searchsorted(ends, known) + numpy.searchsorted(ends, known, side="right")
    counts = numpy.bincount(bins, minlength=2 * len(ends) + 1)
    return {"ends": ends.tolist(), "shares": (counts / len(known)).tolist()}


def metrics(scores: Any, labels: Any) -> list[dict[str, Any]]:
    """Metrics with their 95 % intervals."""
    return [_area(scores, labels), *(_caught(scores, labels, percent) for percent in (1, 5))]


def _midranks(values: Any) -> Any:
    import numpy

    _, places, counts = numpy.unique(values, return_inverse=True, return_counts=True)
    return (numpy.cumsum(counts) - (counts - 1) / 2)[places]


def _area(scores: Any, labels: Any) -> dict[str, Any]:
    """The area under the ROC curve, with DeLong's interval."""
    frauds, others = scores[labels], scores[~labels]
    ranks = _midranks(scores)
    above = (ranks[labels] - _midranks(frauds)) / len(others)
    below = 1 - (ranks[~labels] - _midranks(others)) / len(frauds)
    area = float(above.mean())
    error = math.sqrt(above.var(ddof=1) / len(frauds) + below.var(ddof=1) / len(others))
    return {"name": "AUC", "value": area, "low": max(area - Z * error, 0.0), "high": min(area + Z * error, 1.0)}


def _caught(scores: Any, labels: Any, percent: int) -> dict[str, Any]:
    """The share of frauds among the highest scores, with Wilson's interval. Of equal scores, as many as fit."""
    import numpy

    flagged = len(scores) * percent / 100
    limit = numpy.sort(scores)[::-1][math.ceil(flagged) - 1]
    higher, equal = scores > limit, scores == limit
    caught = labels[higher].sum() + labels[equal].sum() * (flagged - higher.sum()) / equal.sum()
    count = labels.sum()
    share, weight = caught / count, Z * Z / count
    middle = (share + weight / 2) / (1 + weight)
    half = Z / (1 + weight) * math.sqrt(share * (1 - share) / count + weight / count / 4)
    # Rounding must not leave the share outside.
    made = {"value": float(share), "low": float(min(middle - half, share)), "high": float(max(middle + half, share))}
    return {"name": f"share of frauds caught with {percent} % flagged", **made}
