"""Exported models give what their libraries give, bit for bit."""

import csv
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
# For models that cannot be told to be monotone: facts with which the score may rise and fall.
FREE = ["hour_of_day", "num_past_transactions", "avg_transaction_amount", "max_transaction_amount"]


def predictors(component, rows):
    """What a component gives for the rows of a file."""
    scores = component.with_suffix(".csv")
    command = [CAUDAL, "score", "--kind", "risk", "--component", component, "--input", rows, "--output", scores]
    subprocess.run(command, check=True, capture_output=True)
    with scores.open() as answers:
        return np.array([float(answer["predictor"]) for answer in csv.DictReader(answers)])


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
        cls.signs = caudal_models.monotone_constraints(cls.columns, caudal=CAUDAL)

    def compare(self, model, margins, columns=None, fit=True, tolerance=0.0):
        """Trains a model on the first rows, and compares the others."""
        columns = columns or self.columns
        table = self.rows[:, [self.columns.index(column) for column in columns]]
        if fit:
            model.fit(table[:TRAINED], self.frauds[:TRAINED])
        rows, frauds = table[TRAINED:], self.frauds[TRAINED:]
        words = {"version": "3.0.0", "summary": "Finds frauds.", "money": "MXN", "labels": frauds}
        folder = self.scratch / self.id().rpartition(".")[2]
        caudal_models.export(model, (rows, columns), folder, caudal=CAUDAL, **words)
        component = caudal_models.build(folder, CAUDAL)
        found = predictors(Path(component), self.file)
        differing = np.flatnonzero(abs(found - margins(rows).astype(np.float64)) > tolerance)
        self.assertEqual((len(found), len(differing)), (COMPARED, 0), f"row {differing[:1]}")
        # A constant would agree, too.
        area = json.loads((folder / "card.json").read_text())["metrics"][0]
        self.assertGreater(area["low"], 0.8 if columns == self.columns else 0.6)

    def test_xgboost(self):
        options = {"learning_rate": 0.05, "n_jobs": 2, "monotone_constraints": self.signs}
        model = xgboost.XGBClassifier(n_estimators=TREES, max_depth=DEPTH, **options)
        self.compare(model, lambda rows: model.predict(rows, output_margin=True))

    def test_xgboost_stopped_early(self):
        rows, frauds = self.rows[:TRAINED], self.frauds[:TRAINED]
        options = {"learning_rate": 0.3, "n_jobs": 2, "monotone_constraints": self.signs}
        model = xgboost.XGBClassifier(n_estimators=TREES, early_stopping_rounds=3, **options)
        model.fit(rows[::2], frauds[::2], eval_set=[(rows[1::2], frauds[1::2])], verbose=False)
        self.assertLess(model.best_iteration + 1, model.get_booster().num_boosted_rounds())
        self.compare(model, lambda rows: model.predict(rows, output_margin=True), fit=False)

    def test_lightgbm(self):
        options = {"learning_rate": 0.03, "n_jobs": 2, "monotone_constraints": self.signs, "verbose": -1}
        model = lightgbm.LGBMClassifier(n_estimators=TREES, max_depth=DEPTH, num_leaves=2**DEPTH, **options)
        self.compare(model, lambda rows: model.booster_.predict(rows, raw_score=True))

    def test_gradient_boosting(self):
        # Takes no missing values, either. Small leaves of certain rows have values of any size, and the builder refuses them.
        options = {"learning_rate": 0.05, "subsample": 0.3, "min_samples_leaf": 20, "random_state": 1}
        model = GradientBoostingClassifier(n_estimators=TREES, max_depth=DEPTH, **options)
        self.compare(model, model.decision_function, FREE)

    def test_histogram(self):
        options = {"learning_rate": 0.03, "early_stopping": False, "monotonic_cst": self.signs}
        model = HistGradientBoostingClassifier(max_iter=TREES, max_depth=DEPTH, **options)
        self.compare(model, model.decision_function)

    def test_forest(self):
        model = RandomForestClassifier(100, max_depth=DEPTH, random_state=1)
        self.compare(model, lambda rows: model.predict_proba(rows)[:, 1], FREE)

    def test_logistic_regression(self):
        # Products are added up in an order that the library's linear algebra chooses.
        model = LogisticRegression(solver="newton-cholesky")
        self.compare(model, model.decision_function, FREE, tolerance=1e-9)
