"""What the package writes, and what it says when something does not fit."""

import json
import tempfile
import unittest
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

STAND_IN = Path(__file__).parent / "stand_in.py"
CHANCE = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "pesos": CHANCE.integers(1, 90_000, 400) / 10,
        "is_new_device": CHANCE.random(400) < 0.3,
        "beneficiary_saved_minutes": pd.array([None, 5, 60, 1440] * 100, dtype="Int64"),
    }
)
KNOWN = FRAME[["pesos", "is_new_device"]].astype(float)
FRAUDS = (FRAME["pesos"] > 6_000) & FRAME["is_new_device"]
THREE = np.arange(400) % 3
TREES = {"n_estimators": 3, "max_depth": 2}
ARRAY = FRAME.to_numpy(dtype=float, na_value=np.nan)


def boosted(**options):
    return xgboost.XGBClassifier(**{**TREES, **options}).fit(FRAME, FRAUDS)


class Package(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "mine"

    def export(self, model, frame=FRAME, **options):
        usual = {"version": "3.0.0", "summary": 'Has "marks".', "facts": {"pesos": "amount"}, "money": "MXN"}
        return export(model, frame, self.folder, **{**usual, "caudal": STAND_IN, **options})

    def read(self, name):
        return (self.folder / name).read_text()

    def test_the_folder_of_a_data_frame(self):
        card = {"owner": "Risk", "purpose": "Warns.", "period": ("2026-01-01", "2026-06-30"), "limits": ["Ours only."]}
        reasons = [("NEW_DEVICE", "is_new_device", 1)]
        self.export(boosted(), labels=FRAUDS, card=card, reasons=reasons, points=[20, 600])
        table = '\n[[features]]\nname = "{}"\nfact = "{}"\n{}required = {}\n'
        expected = 'version = "3.0.0"\nsummary = "Has \\"marks\\"."\n'
        expected += table.format("pesos", "amount", 'unit = "MXN"\n', "true")
        expected += table.format("is_new_device", "is_new_device", "", "true")
        expected += table.format("beneficiary_saved_minutes", "beneficiary_saved_minutes", "", "false")
        expected += '\n[[reasons]]\ncode = "NEW_DEVICE"\nfact = "is_new_device"\nat_least = 1\n'
        self.assertEqual(self.read("map.toml"), expected + "\n[score]\npoints = [20, 600]\n")
        reference = json.loads(self.read("reference.json"))
        pesos, device, minutes = reference["features"]
        self.assertEqual((len(pesos["deciles"]), len(pesos["shares"])), (9, 10))
        self.assertEqual((device["values"], device["missing"]), ([0, 1], 0))
        self.assertEqual((minutes["missing"], minutes["values"]), (0.25, [5, 60, 1440]))
        card = self.read("card.toml")
        for line in (
            'owner = "Risk"',
            'next_review = ""',
            'from = "2026-01-01"',
            'library = "xgboost 3.2.0"',
            'name = "AUC"',
        ):
            self.assertIn(line, card.splitlines())
        self.assertEqual(build(self.folder, STAND_IN), self.folder / "mine.wasm")
        words = json.loads(self.read("mine.wasm"))
        self.assertEqual(
            words[2:6], ["--from", str(self.folder / "model.json"), "--facts", str(self.folder / "map.toml")]
        )

    def test_other_tables_give_the_same_files(self):
        model = xgboost.XGBClassifier(**TREES).fit(ARRAY, FRAUDS)
        lists = {name: [None if it is pd.NA else it for it in FRAME[name]] for name in FRAME}
        found = []
        for frame in (FRAME, lists, (ARRAY, list(FRAME.columns))):
            self.export(model, frame, labels=FRAUDS)
            found.append([self.read(name) for name in ("model.json", "map.toml", "reference.json", "card.toml")])
        self.assertEqual(found[1:], found[:1] * 2)
        self.assertEqual(json.loads(found[0][0])["learner"]["feature_names"], list(FRAME.columns))

    def test_another_library_replaces_the_file_and_gets_the_names(self):
        self.export(boosted())
        self.export(lightgbm.LGBMClassifier(**TREES, verbose=-1).fit(ARRAY, FRAUDS))
        self.assertFalse((self.folder / "model.json").exists())
        self.assertIn("\nfeature_names=pesos is_new_device beneficiary_saved_minutes\n", self.read("model.txt"))

    def test_constraints_are_the_catalogues(self):
        self.assertEqual(monotone_constraints(FRAME.columns, {"pesos": "amount"}, caudal=STAND_IN), (1, 1, -1))

    def test_models_that_cannot_be_exported(self):
        categories = FRAME.assign(is_new_device=pd.Categorical(FRAME["is_new_device"].astype(int)))
        numbers = categories.assign(beneficiary_saved_minutes=ARRAY[:, 2])
        multiclass = {"objective": "multi:softprob", "num_class": 3}
        for expected, model in (
            ("booster='gblinear'.*gbtree", lambda: boosted(booster="gblinear", max_depth=None)),
            ("takes -1.0 for a missing value.*NaN", lambda: boosted(missing=-1.0)),
            ("more than one output", lambda: xgboost.train(multiclass, xgboost.DMatrix(ARRAY, THREE), 2)),
            ("by category", lambda: xgboost.XGBClassifier(enable_categorical=True, **TREES).fit(categories, FRAUDS)),
            ("more than one output", lambda: lightgbm.LGBMClassifier(**TREES, verbose=-1).fit(ARRAY, THREE)),
            ("linear_tree=False", lambda: lightgbm.LGBMClassifier(linear_tree=True, verbose=-1, **TREES).fit(ARRAY, FRAUDS)),
            ("by category", lambda: lightgbm.LGBMClassifier(
                verbose=-1, min_data_per_group=1, cat_smooth=0, **TREES).fit(numbers[["is_new_device"]], FRAUDS)),
            ("columns of categories", lambda: HistGradientBoostingClassifier(max_iter=2).fit(numbers, FRAUDS)),
            ("3 classes", lambda: HistGradientBoostingClassifier(max_iter=2).fit(ARRAY, THREE)),
            ("not fitted", GradientBoostingClassifier),
            ("log_loss", lambda: GradientBoostingClassifier(loss="exponential", **TREES).fit(KNOWN, FRAUDS)),
            ("without init", lambda: GradientBoostingClassifier(init=LogisticRegression(), **TREES).fit(KNOWN, FRAUDS)),
            ("AdaBoostClassifier cannot be exported", lambda: AdaBoostClassifier().fit(KNOWN, FRAUDS)),
            ("'standardscaler' of the pipeline", lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(KNOWN, FRAUDS)),
            ("dict is no model", dict),
        ):  # fmt: skip
            with self.subTest(expected), self.assertRaisesRegex(ModelError, expected):
                self.export(model())
        self.assertFalse(self.folder.exists())

    def test_arguments_that_do_not_fit(self):
        model, sure = boosted(), GradientBoostingClassifier(**TREES).fit(KNOWN, FRAUDS)
        holes = KNOWN.assign(pesos=np.nan)
        for expected, options in (
            ("version is 'v3'", {"version": "v3"}),
            ("one sentence", {"summary": "\n"}),
            ("money is 'USD'", {"money": "USD"}),
            ("'pesos' is money", {"money": None}),
            ("no fact 'amout'; did you mean 'amount'", {"facts": {"pesos": "amout"}}),
            ("no fact 'pesos'", {"facts": None}),
            ("'salary', which is no column", {"facts": {"salary": "amount"}}),
            ("required names 'x'", {"required": ["x"]}),
            ("ODD is about the fact 'hour_of_day'", {"reasons": [("ODD", "hour_of_day", 1)]}),
            ("card has no 'ower'", {"card": {"ower": "Risk"}}),
            ("labels must be 400", {"labels": [0, 1]}),
            ("labels must be 400", {"labels": [2] * 400}),
            ("have 0 frauds", {"labels": [0] * 400}),
            ("a column 'pesos', which frame does not have", {"frame": FRAME[["is_new_device"]]}),
            ("'pesos' has a value that is not a number", {"frame": FRAME.assign(pesos="many")}),
            ("'pesos' has infinite values", {"frame": FRAME.assign(pesos=np.inf)}),
            ("different lengths", {"frame": {**FRAME, "pesos": [1.0]}}),
            ("no rows", {"frame": FRAME[:0]}),
            ("frame is a list", {"model": lightgbm.LGBMClassifier(**TREES).fit(ARRAY, FRAUDS), "frame": [1]}),
            ("2 names were given", {"frame": (ARRAY, ["pesos", "is_new_device"])}),
            ("'pesos' has missing values", {"model": sure, "frame": holes}),
            ("cannot run '/nowhere/caudal'.*give its path", {"caudal": "/nowhere/caudal"}),
        ):
            with self.subTest(expected), self.assertRaisesRegex(ModelError, expected):
                self.export(**{"model": model, **options})
        self.assertFalse(self.folder.exists())
        with self.assertRaisesRegex(ModelError, "call export"):
            build(self.folder, STAND_IN)
        self.export(model, version="6.6.6")
        with self.assertRaisesRegex(ModelError, "models build .*failed:\nerror: 6.6.6 was registered before"):
            build(self.folder, STAND_IN)

    def test_metrics_by_hand(self):
        # Four pairs, one of them in the wrong order and one equal. Of 100 rows, 5 are flagged, 2 of the 4 that share a score.
        scores, frauds = np.array([0.9, 0.4, 0.5, 0.4]), np.array([True, True, False, False])
        self.assertEqual(metrics(scores, frauds)[0]["value"], 2.5 / 4)
        scores, frauds = np.array([0.9] * 3 + [0.5] * 4 + [0.1] * 93), np.arange(100) % 2 == 0
        area, _, caught = metrics(scores, frauds)
        self.assertAlmostEqual(caught["value"], (2 + 2 * 2 / 4) / 50)
        # Wilson's interval for 3 of 50, from its formula.
        self.assertAlmostEqual(caught["low"], 0.02062, 4)
        self.assertAlmostEqual(caught["high"], 0.16219, 4)
        # DeLong's, from the covariance of the pairs.
        pairs = (scores[frauds][:, None] > scores[~frauds]) + (scores[frauds][:, None] == scores[~frauds]) / 2
        error = np.sqrt(pairs.mean(axis=1).var(ddof=1) / 50 + pairs.mean(axis=0).var(ddof=1) / 50)
        self.assertAlmostEqual(area["high"] - area["low"], 2 * 1.959964 * error, 6)

    def test_a_column_that_is_mostly_zero(self):
        found = distribution(np.append(np.zeros(60), np.arange(1.0, 41)))
        self.assertEqual(found["deciles"][0], 0)
        self.assertEqual((len(found["shares"]), found["shares"][0]), (len(found["deciles"]) + 1, 0.6))
        self.assertAlmostEqual(sum(found["shares"]), 1)
