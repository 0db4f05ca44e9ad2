"""Exported models give what their libraries give, bit for bit."""

import json
import os
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import caudal_models
import lightgbm
import numpy as np
import xgboost
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from stand_in import DIRECTIONS

HERE = Path(__file__).parent
TRAINED, COMPARED = 10_000, 100_000
TREES, DEPTH = 500, 6
NUMBERS = {"True": 1.0, "False": 0.0, "": np.nan}


def has_builder(caudal):
    return subprocess.run([caudal, "models", "build", "--help"], capture_output=True).returncode == 0


CAUDAL = os.environ["CAUDAL"]
BUILDS = has_builder(CAUDAL)


def predictors(component, rows):
    """What a component gives for the rows of a file, as f64."""
    done = subprocess.run(
        [CAUDAL, "score", "--component", component, "--predictor", rows], capture_output=True, text=True, check=True
    )
    return np.array([int(line, 16) for line in done.stdout.split()], dtype=np.uint64).view(np.float64)


def interpreted(folder, rows):
    """What the file of an exported model gives: as its own library reads it, or by the description of Caudal's format."""
    if (folder / "model.txt").exists():
        return lightgbm.Booster(model_file=folder / "model.txt").predict(rows, raw_score=True)
    model = json.loads((folder / "model.json").read_text())
    if "learner" in model:
        names = model["learner"]["feature_names"]
        read = xgboost.Booster(model_file=folder / "model.json")
        return read.predict(xgboost.DMatrix(rows, feature_names=names), output_margin=True).astype(float)
    assert model["sum"] == "f64"
    sums = np.full(len(rows), model["base"])
    compared = rows.astype({"f32": np.float32, "f64": np.float64}[model["inputs"]])
    for tree in model["trees"]:
        tree = {name: np.array(values) for name, values in tree.items()}
        at, places = np.zeros(len(rows), dtype=int), np.arange(len(rows))
        while len(places := places[tree["feature"][at[places]] >= 0]):
            node = at[places]
            values = compared[places, tree["feature"][node]]
            goes_left = np.where(np.isnan(values), tree["missing_left"][node], values <= tree["threshold"][node])
            at[places] = np.where(goes_left, tree["left"][node], tree["right"][node])
        sums += tree["value"][at]
    for place, coefficient in enumerate(model.get("linear", {}).get("coefficients", [])):
        sums += coefficient * rows[:, place]
    return sums / model.get("divide", 1)


class Models(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = Path(scratch.name)
        count = str(TRAINED + COMPARED)
        text = subprocess.run(["node", HERE / "rows.mjs", count], capture_output=True, text=True, check=True).stdout
        head, *lines = text.splitlines()
        cls.columns = head.split(",")[:-1]
        table = np.array([[float(NUMBERS.get(it, it)) for it in line.split(",")] for line in lines])
        cls.frauds, cls.rows = table[:, -1] == 1, table[:, :-1]
        cls.file = cls.scratch / "rows.csv"
        cls.file.write_text("\n".join(line.rpartition(",")[0] for line in [head, *lines[TRAINED:]]) + "\n")
        cls.caudal = CAUDAL if BUILDS else HERE / "stand_in.py"
        cls.signs = caudal_models.monotone_constraints(cls.columns, caudal=cls.caudal)

    def compare(self, name, model, margins, columns=None, tolerance=0.0):
        """Exports a model that was trained on the first rows, and compares the others."""
        columns = columns or self.columns
        rows = self.rows[TRAINED:, : len(columns)]
        folder = caudal_models.export(
            model,
            (rows, columns),
            self.scratch / name,
            version="3.0.0",
            summary="Finds frauds.",
            money="MXN",
            labels=self.frauds[TRAINED:],
            caudal=self.caudal,
        )
        component = caudal_models.build(folder, self.caudal)
        found = predictors(component, self.file) if BUILDS else interpreted(folder, rows)
        expected = np.asarray(margins(rows), dtype=np.float64)
        self.assertEqual(len(found), COMPARED)
        differing = np.flatnonzero(abs(found - expected) > tolerance)
        self.assertEqual(len(differing), 0, f"{name}: row {differing[:1]}")
        # A constant would agree, too.
        area = next(it for it in (folder / "card.toml").read_text().split("[[metrics]]")[1:])
        self.assertGreater(float(area.split("low = ")[1].split()[0]), 0.8)

    def train(self, columns=None):
        return self.rows[:TRAINED, : len(columns or self.columns)], self.frauds[:TRAINED]

    def test_xgboost(self):
        model = xgboost.XGBClassifier(
            n_estimators=TREES, max_depth=DEPTH, learning_rate=0.05, n_jobs=2, monotone_constraints=self.signs
        ).fit(*self.train())
        self.compare("xgboost", model, lambda rows: model.predict(rows, output_margin=True))

    def test_xgboost_stopped_early(self):
        rows, frauds = self.train()
        model = xgboost.XGBClassifier(n_estimators=TREES, learning_rate=0.3, n_jobs=2, early_stopping_rounds=3)
        model.fit(rows[::2], frauds[::2], eval_set=[(rows[1::2], frauds[1::2])], verbose=False)
        self.assertLess(model.best_iteration + 1, model.get_booster().num_boosted_rounds())
        self.compare("stopped", model, lambda rows: model.predict(rows, output_margin=True))

    def test_lightgbm(self):
        options = {"objective": "binary", "max_depth": DEPTH, "num_leaves": 2**DEPTH, "learning_rate": 0.03}
        options.update(monotone_constraints=self.signs, num_threads=2, verbose=-1)
        model = lightgbm.train(options, lightgbm.Dataset(*self.train()), TREES)
        self.compare("lightgbm", model, lambda rows: model.predict(rows, raw_score=True))

    def test_gradient_boosting(self):
        # Has no monotone constraints, and takes no missing values.
        columns = self.columns[:-1]
        model = GradientBoostingClassifier(n_estimators=TREES, max_depth=DEPTH, learning_rate=0.05, subsample=0.3)
        model.fit(*self.train(columns))
        self.compare("boosting", model, model.decision_function, columns)

    def test_histogram(self):
        model = HistGradientBoostingClassifier(
            max_iter=TREES, max_depth=DEPTH, learning_rate=0.03, early_stopping=False, monotonic_cst=self.signs
        ).fit(*self.train())
        self.compare("histogram", model, model.decision_function)

    def test_forest(self):
        model = RandomForestClassifier(100, max_depth=DEPTH).fit(*self.train())
        self.compare("forest", model, lambda rows: model.predict_proba(rows)[:, 1])

    def test_logistic_regression(self):
        columns = self.columns[:-1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(max_iter=200).fit(*self.train(columns))
        # Products are added up in an order that the library's linear algebra chooses.
        self.compare("logistic", model, model.decision_function, columns, tolerance=1e-9)

    def test_directions_are_those_of_the_stand_in(self):
        signs = {"rises": 1, "falls": -1, "free": 0}
        self.assertEqual(self.signs, tuple(signs[DIRECTIONS[it]] for it in self.columns))
