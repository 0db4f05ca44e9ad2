"""Exported models give what their libraries give, bit for bit."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import caudal_models
import lightgbm
import numpy as np
import xgboost
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

HERE, CAUDAL = Path(__file__).parent, os.environ["CAUDAL"]
TRAINED, COMPARED = 10_000, 100_000
TREES, DEPTH = 500, 6
NUMBERS = {"True": 1.0, "False": 0.0, "": np.nan}
# Until the command can: what the exported file gives is computed here instead.
BUILDS = subprocess.run([CAUDAL, "models", "build", "--help"], capture_output=True).returncode == 0


def predictors(component, rows):
    """What a component gives for the rows of a file, as f64."""
    command = [CAUDAL, "score", "--component", component, "--predictor", rows]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return np.array([int(line, 16) for line in lines], dtype=np.uint64).view(np.float64)


def interpreted(folder, rows):
    """The same of an exported file, as its own library reads it, or by the description of Caudal's format."""
    if (folder / "model.txt").exists():
        return lightgbm.Booster(model_file=folder / "model.txt").predict(rows, raw_score=True)
    model = json.loads((folder / "model.json").read_text())
    if "learner" in model:
        matrix = xgboost.DMatrix(rows, feature_names=model["learner"]["feature_names"])
        return xgboost.Booster(model_file=folder / "model.json").predict(matrix, output_margin=True)
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
        cls.scratch, cls.file = Path(scratch.name), Path(scratch.name, "rows.csv")
        generate = ["node", HERE / "rows.mjs", str(TRAINED + COMPARED)]
        head, *lines = subprocess.run(generate, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        cls.columns = head.split(",")[:-1]
        table = np.array([[float(NUMBERS.get(it, it)) for it in line.split(",")] for line in lines])
        cls.frauds, cls.rows = table[:, -1] == 1, table[:, :-1]
        cls.file.write_text("".join(f"{line.rpartition(',')[0]}\n" for line in [head, *lines[TRAINED:]]))
        cls.caudal = CAUDAL if BUILDS else HERE / "stand_in.py"
        cls.signs = caudal_models.monotone_constraints(cls.columns, caudal=cls.caudal)

    def compare(self, model, margins, width=10, fit=True, tolerance=0.0):
        """Trains a model on the first rows, and compares the others."""
        if fit:
            model.fit(self.rows[:TRAINED, :width], self.frauds[:TRAINED])
        rows, frauds = self.rows[TRAINED:, :width], self.frauds[TRAINED:]
        words = {"version": "3.0.0", "summary": "Finds frauds.", "money": "MXN", "labels": frauds}
        folder = self.scratch / self.id().rpartition(".")[2]
        caudal_models.export(model, (rows, self.columns[:width]), folder, caudal=self.caudal, **words)
        component = caudal_models.build(folder, self.caudal)
        found = predictors(component, self.file) if BUILDS else interpreted(folder, rows)
        differing = np.flatnonzero(abs(found - margins(rows).astype(np.float64)) > tolerance)
        self.assertEqual((len(found), len(differing)), (COMPARED, 0), f"row {differing[:1]}")
        # A constant would agree, too.
        area = (folder / "card.toml").read_text().partition('"AUC"')[2]
        self.assertGreater(float(area.partition("low = ")[2].split()[0]), 0.8)

    def test_xgboost(self):
        options = {"learning_rate": 0.05, "n_jobs": 2, "monotone_constraints": self.signs}
        model = xgboost.XGBClassifier(n_estimators=TREES, max_depth=DEPTH, **options)
        self.compare(model, lambda rows: model.predict(rows, output_margin=True))

    def test_xgboost_stopped_early(self):
        rows, frauds = self.rows[:TRAINED], self.frauds[:TRAINED]
        model = xgboost.XGBClassifier(n_estimators=TREES, learning_rate=0.3, n_jobs=2, early_stopping_rounds=3)
        model.fit(rows[::2], frauds[::2], eval_set=[(rows[1::2], frauds[1::2])], verbose=False)
        self.assertLess(model.best_iteration + 1, model.get_booster().num_boosted_rounds())
        self.compare(model, lambda rows: model.predict(rows, output_margin=True), fit=False)

    def test_lightgbm(self):
        options = {"learning_rate": 0.03, "n_jobs": 2, "monotone_constraints": self.signs, "verbose": -1}
        model = lightgbm.LGBMClassifier(n_estimators=TREES, max_depth=DEPTH, num_leaves=2**DEPTH, **options)
        self.compare(model, lambda rows: model.booster_.predict(rows, raw_score=True))

    def test_gradient_boosting(self):
        # Has no monotone constraints, and takes no missing values.
        model = GradientBoostingClassifier(n_estimators=TREES, max_depth=DEPTH, learning_rate=0.05, subsample=0.3)
        self.compare(model, model.decision_function, width=9)

    def test_histogram(self):
        options = {"learning_rate": 0.03, "early_stopping": False, "monotonic_cst": self.signs}
        model = HistGradientBoostingClassifier(max_iter=TREES, max_depth=DEPTH, **options)
        self.compare(model, model.decision_function)

    def test_forest(self):
        model = RandomForestClassifier(100, max_depth=DEPTH)
        self.compare(model, lambda rows: model.predict_proba(rows)[:, 1])

    def test_logistic_regression(self):
        # Products are added up in an order that the library's linear algebra chooses.
        model = LogisticRegression(solver="newton-cholesky")
        self.compare(model, model.decision_function, width=9, tolerance=1e-9)
