"""The command `caudal`: its catalogue of facts, and its builder."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._frame import ModelError

DIRECTIONS = {"rises": 1, "falls": -1, "free": 0}
MODEL_FILES = ("model.json", "model.txt")
MAP_FILE = "map.toml"


def _run(*words: str | os.PathLike[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot run '{words[0]}' ({error.strerror}): give its path with caudal=...")
    if done.returncode != 0:
        raise ModelError(f"`{' '.join(map(str, words))}` failed:\n{(done.stderr or done.stdout).strip()}")
    return done.stdout


def facts_of(
    columns: Sequence[str], facts: Mapping[str, str] | None, caudal: str | os.PathLike[str]
) -> list[dict[str, Any]]:
    """The fact behind each column, as the catalogue describes it."""
    catalogue = {fact["name"]: fact for fact in json.loads(_run(caudal, "models", "facts", "--json"))}
    names = {**dict(zip(columns, columns)), **(facts or {})}
    for column in names.keys() - columns:
        raise ModelError(f"facts names '{column}', which is no column of the model: {', '.join(columns)}")
    for column, name in names.items():
        if name not in catalogue:
            near = "".join(f"; did you mean '{it}'" for it in difflib.get_close_matches(name, catalogue, n=1))
            raise ModelError(
                f"column '{column}': Caudal has no fact '{name}'{near}. Name one with facts={{'{column}': ...}}; "
                "`caudal models facts` lists them"
            )
    return [catalogue[names[column]] for column in columns]


def monotone_constraints(
    columns: Sequence[str], facts: Mapping[str, str] | None = None, *, caudal: str | os.PathLike[str] = "caudal"
) -> tuple[int, ...]:
    """For each column, whether a larger value may only raise the risk (1), only lower it (-1), or both (0).

    XGBoost and LightGBM take it as `monotone_constraints`, scikit-learn as `monotonic_cst`. `facts` names the fact of
    each column that is not called like one.
    """
    return tuple(DIRECTIONS[fact["direction"]] for fact in facts_of(list(columns), facts, caudal))


def build(folder: str | os.PathLike[str], caudal: str | os.PathLike[str] = "caudal") -> Path:
    """Builds the component of a folder that `export` wrote, in the folder and called like it. Returns its path."""
    folder = Path(folder)
    model = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if model is None:
        raise ModelError(f"{folder} has no {' or '.join(MODEL_FILES)}: call export(model, frame, folder, ...) first")
    component = folder / f"{folder.resolve().name}.wasm"
    _run(caudal, "models", "build", "--from", model, "--facts", folder / MAP_FILE, "-o", component)
    return component
