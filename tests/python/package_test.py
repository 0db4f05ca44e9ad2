"""What the package writes, and what it says when something does not fit."""

import json
import os
import tempfile
import unittest
from datetime import date
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from caudal_models import ModelError, build, export, monotone_constraints
from caudal_models._statistics import distribution, metrics
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

CAUDAL = os.environ["CAUDAL"]
CHANCE = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "pesos": CHANCE.integers(1, 90_000, 400) / 10,
        "is_new_device": CHANCE.random(400) < 0.3,
        "beneficiary_saved_minutes": pd.array([None, 5, 60, 1440] * 100, dtype="Int64"),
    }
)
COLUMNS, ARRAY = list(FRAME), FRAME.to_numpy(dtype=float, na_value=np.nan)
FRAUDS = (FRAME["pesos"] > 6_000) & FRAME["is_new_device"]
THREE = np.arange(400) % 3
FEW = {"n_estimators": 3, "max_depth": 2}


class Package(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "mine"
        self.model = xgboost.XGBClassifier(**FEW).fit(ARRAY, FRAUDS)

    def export(self, model=None, frame=FRAME, **options):
        usual = {"version": "3.0.0", "summary": 'Has "marks".', "facts": {"pesos": "amount"}, "money": "MXN"}
        return export(
            self.model if model is None else model, frame, self.folder, **{**usual, "caudal": CAUDAL, **options}
        )

    def read(self, name):
        return (self.folder / name).read_text()

    def test_the_folder_and_its_component(self):
        card = {"owner": "Risk", "period": ("2026-01-01", date(2026, 6, 30)), "limits": ["Ours only."]}
        card["training_data"] = "Payments."
        reasons = [("NEW_DEVICE", "is_new_device", 1)]
        self.export(labels=FRAUDS, card=card, reasons=reasons, points=[(-4, 0.0), (4, 1.0)])
        table = '\n[[features]]\nname = "{}"\nfact = "{}"\n{}required = {}\n'
        expected = 'version = "3.0.0"\nsummary = "Has \\"marks\\"."\n'
        expected += table.format("pesos", "amount", 'unit = "MXN"\n', "true")
        expected += table.format("is_new_device", "is_new_device", "", "true")
        expected += table.format("beneficiary_saved_minutes", "beneficiary_saved_minutes", "", "false")
        expected += '\n[[reasons]]\ncode = "NEW_DEVICE"\nfact = "is_new_device"\nat_least = 1\n'
        self.assertEqual(self.read("map.toml"), expected + "\n[score]\npoints = [[-4, 0.0], [4, 1.0]]\n")
        made = json.loads(self.read("card.json"))
        pesos, device, minutes = made["reference"]
        self.assertEqual((len(pesos["ends"]), len(pesos["shares"])), (9, 19))
        self.assertEqual((device["ends"], device["shares"][0]), ([0, 1], 0))
        self.assertEqual(minutes["ends"], [5, 60, 1440])
        self.assertAlmostEqual(sum(minutes["shares"]), 1)
        self.assertEqual(made["period"], {"from": "2026-01-01", "to": "2026-06-30"})
        self.assertEqual((made["limits"], made["metrics"][0]["name"]), (["Ours only."], "AUC"))
        data = f"Fitted with xgboost {xgboost.__version__}. Measured on 400 other rows, {sum(FRAUDS)} of them frauds."
        self.assertEqual(made["training_data"], f"Payments. {data}")
        # What is missing is for the command to name.
        self.assertEqual((made["purpose"], made["next_review"]), ("", ""))
        self.assertEqual(build(self.folder, CAUDAL), self.folder / "mine.wasm")
        self.assertEqual((self.folder / "mine.wasm").read_bytes()[:4], b"\0asm")

    def test_other_tables_give_the_same_files(self):
        found = []
        lists = {name: [None if it is pd.NA else it for it in FRAME[name]] for name in COLUMNS}
        for frame in (FRAME, lists, (ARRAY, COLUMNS)):
            self.export(frame=frame, labels=FRAUDS)
            found.append([self.read(name) for name in ("model.json", "map.toml", "card.json")])
        self.assertEqual(found[1:], found[:1] * 2)
        self.assertEqual(json.loads(found[0][0])["learner"]["feature_names"], COLUMNS)
        # The model's names decide on the order.
        self.export(xgboost.XGBClassifier(**FEW).fit(FRAME[COLUMNS[::-1]], FRAUDS))
        facts = [it["fact"] for it in json.loads(self.read("card.json"))["reference"]]
        self.assertEqual(facts, ["beneficiary_saved_minutes", "is_new_device", "amount"])

    def test_a_reference_is_in_pesos(self):
        self.export()
        pesos = json.loads(self.read("card.json"))["reference"]
        self.export(frame=FRAME.assign(pesos=(FRAME["pesos"] * 100).round()), money="centavos")
        self.assertEqual(json.loads(self.read("card.json"))["reference"], pesos)

    def test_another_library_replaces_the_file(self):
        self.export()
        self.export(lightgbm.LGBMClassifier(**FEW, verbose=-1).fit(ARRAY, FRAUDS))
        self.assertFalse((self.folder / "model.json").exists())
        self.assertIn(f"\nfeature_names={' '.join(COLUMNS)}\n", self.read("model.txt"))

    def test_constraints_are_the_catalogues(self):
        self.assertEqual(monotone_constraints(COLUMNS, {"pesos": "amount"}, caudal=CAUDAL), (1, 1, -1))

    def test_models_that_cannot_be_exported(self):
        known = FRAME[["pesos", "is_new_device"]].astype(float)
        categories = FRAME[["pesos"]].assign(is_new_device=pd.Categorical(FRAME["is_new_device"].astype(int)))
        for expected, model, data, labels in (
            ("takes -1.0 for a missing value.*NaN", xgboost.XGBClassifier(missing=-1.0, **FEW), ARRAY, FRAUDS),
            ("more than one output", lightgbm.LGBMClassifier(**FEW, verbose=-1), ARRAY, THREE),
            ("columns of categories", HistGradientBoostingClassifier(max_iter=2), categories, FRAUDS),
            ("3 classes", HistGradientBoostingClassifier(max_iter=2), ARRAY, THREE),
            ("log_loss", GradientBoostingClassifier(loss="exponential", **FEW), known, FRAUDS),
            ("without init", GradientBoostingClassifier(init=LogisticRegression(), **FEW), known, FRAUDS),
            ("AdaBoostClassifier cannot be exported", AdaBoostClassifier(), known, FRAUDS),
            ("step 'standardscaler'", make_pipeline(StandardScaler(), LogisticRegression()), known, FRAUDS),
        ):
            with self.subTest(expected), self.assertRaisesRegex(ModelError, expected):
                self.export(model.fit(data, labels))
        for expected, model in (("not fitted", GradientBoostingClassifier()), ("dict is no model", {})):
            with self.subTest(expected), self.assertRaisesRegex(ModelError, expected):
                self.export(model)
        self.assertFalse(self.folder.exists())

    def test_arguments_that_do_not_fit(self):
        sure = GradientBoostingClassifier(**FEW).fit(np.nan_to_num(ARRAY), FRAUDS)
        for expected, options in (
            ("'pesos' is money", {"money": None}),
            ("no fact 'amout'; did you mean 'amount'", {"facts": {"pesos": "amout"}}),
            ("no fact 'pesos'. Name one", {"facts": None}),
            ("'salary', which is no column", {"facts": {"pesos": "amount", "salary": "amount"}}),
            ("card has no 'ower'", {"card": {"ower": "Risk"}}),
            ("2 labels, 1 of them", {"labels": [0, 1]}),
            ("400 labels, 0 of them", {"labels": [0] * 400}),
            ("3 columns without names, but frame has 1", {"frame": FRAME[["pesos"]]}),
            ("'pesos' has a value that is not a number", {"frame": FRAME.assign(pesos="many")}),
            ("'pesos' of frame has no rows, or infinite", {"frame": FRAME.assign(pesos=np.inf)}),
            ("'pesos' of frame has no rows", {"frame": FRAME[:0]}),
            ("frame is a list", {"frame": [1]}),
            ("'beneficiary_saved_minutes' has missing values", {"model": sure}),
            ("cannot run '/nowhere/caudal'.*give its path", {"caudal": "/nowhere/caudal"}),
        ):
            with self.subTest(expected), self.assertRaisesRegex(ModelError, expected):
                self.export(**options)
        self.assertFalse(self.folder.exists())
        with self.assertRaisesRegex(ModelError, "call export"):
            build(self.folder, CAUDAL)
        self.export(version="three")
        with self.assertRaisesRegex(ModelError, "(?s)models build .*failed:.*map.toml line 1.*three"):
            build(self.folder, CAUDAL)

    def test_statistics(self):
        # The five flagged are three and two of the four that share a score; every second row is a fraud.
        scores, frauds = np.array([0.9] * 3 + [0.5] * 4 + [0.1] * 93), np.arange(100) % 2 == 0
        area, _, caught = metrics(scores, frauds)
        self.assertAlmostEqual(caught["value"], (2 + 2 * 2 / 4) / 50)
        # Wilson's interval for 3 of 50.
        self.assertAlmostEqual(caught["low"], 0.02062, 4)
        self.assertAlmostEqual(caught["high"], 0.16219, 4)
        # DeLong's, from every pair.
        pairs = (scores[frauds][:, None] > scores[~frauds]) + (scores[frauds][:, None] == scores[~frauds]) / 2
        error = np.sqrt(sum(pairs.mean(axis=axis).var(ddof=1) / 50 for axis in (0, 1)))
        self.assertAlmostEqual(area["value"], pairs.mean())
        self.assertAlmostEqual(area["high"] - area["low"], 2 * 1.959964 * error, 6)
        # Mostly zero.
        found = distribution(np.append(np.zeros(60), np.arange(1.0, 41)))
        self.assertEqual((found["ends"][0], found["shares"][:2]), (0, [0, 0.6]))
        self.assertEqual(len(found["shares"]), 2 * len(found["ends"]) + 1)
        self.assertAlmostEqual(sum(found["shares"]), 1)
