"""Takes a fitted model of XGBoost, LightGBM or scikit-learn to a component for Caudal.

`monotone_constraints` helps to train, `export` writes a folder with the model and what belongs to it, and `build` makes
a component of the folder with the command `caudal`.
"""

from ._command import build, monotone_constraints
from ._export import export
from ._frame import ModelError

__all__ = ["ModelError", "build", "export", "monotone_constraints"]
