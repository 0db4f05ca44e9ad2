"""The rival's model: a logistic regression over the features of our risk model, fitted to made-up data."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FEATURES = 9
LEVELS = ["low", "medium", "high"]


def fitted():
    random = np.random.default_rng(1)
    rows = random.random((5_000, FEATURES), dtype=np.float32)
    labels = np.digitize(rows @ random.random(FEATURES), [2.0, 3.0])
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
