"""What a score is compared with: FastAPI with ONNX Runtime or scikit-learn, as data teams often serve a model.

The model (`model.py`) answers the same JSON with the same validation of types. In its favour: no refusals that name every
field, no metrics, no request ids. ENGINE says which of the two libraries predicts; uvicorn runs with uvloop and httptools,
one worker for each processor.
"""

import os

import numpy as np
from fastapi import FastAPI
from model import FEATURES, LEVELS, fitted
from pydantic import BaseModel


class Transfer(BaseModel):
    user_id: str | None = None
    amount: float
    is_new_beneficiary: bool
    hour_of_day: int
    num_past_transactions: int
    avg_transaction_amount: float
    max_transaction_amount: float
    num_transactions_to_beneficiary: int
    is_new_device: bool
    geolocation_changed: bool


def sklearn_predictor():
    model = fitted()
    return lambda row: model.predict_proba(row)[0]


def onnx_predictor():
    import onnxruntime
    from skl2onnx import to_onnx

    model = to_onnx(fitted(), np.zeros((1, FEATURES), np.float32), options={"zipmap": False})
    options = onnxruntime.SessionOptions()
    # A worker has one processor; more threads would only wait for each other.
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda row: session.run(["probabilities"], {name: row})[0][0]


predict = {"sklearn": sklearn_predictor, "onnx": onnx_predictor}[os.environ["ENGINE"]]()
app = FastAPI()


@app.get("/livez")
async def livez():
    return {"status": "ok"}


@app.post("/ai/risk")
async def assess(it: Transfer):
    row = np.array(
        [
            [
                it.amount,
                it.is_new_beneficiary,
                it.hour_of_day,
                it.num_past_transactions,
                it.avg_transaction_amount,
                it.max_transaction_amount,
                it.num_transactions_to_beneficiary,
                it.is_new_device,
                it.geolocation_changed,
            ]
        ],
        dtype=np.float32,
    )
    shares = predict(row)
    factors = ["NEW_BENEFICIARY"] if it.is_new_beneficiary else []
    return {
        "user_id": it.user_id,
        "model_version": "risk-0.0.0+00000000",
        "result": {
            "risk_level": LEVELS[int(shares.argmax())],
            "risk_score": float(shares[2] + shares[1] / 2),
            "risk_factors": factors,
        },
    }
