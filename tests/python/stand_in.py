#!/usr/bin/env python3
"""Stands in for `caudal models facts` and `caudal models build`, which it refuses for version 6.6.6."""

import json
import sys
from pathlib import Path

MONEY = ("amount", "avg_transaction_amount", "max_transaction_amount")
DIRECTIONS = {
    "amount": "rises",
    "is_new_beneficiary": "rises",
    "hour_of_day": "free",
    "num_past_transactions": "free",
    "avg_transaction_amount": "free",
    "max_transaction_amount": "free",
    "num_transactions_to_beneficiary": "falls",
    "is_new_device": "rises",
    "geolocation_changed": "rises",
    "beneficiary_saved_minutes": "falls",
}

if __name__ == "__main__":
    if sys.argv[1:] == ["models", "facts", "--json"]:
        facts = [{"name": name, "direction": it} for name, it in DIRECTIONS.items()]
        print(json.dumps([{**it, "unit": "centavos" if it["name"] in MONEY else ""} for it in facts]))
    else:
        words = dict(zip(sys.argv[3::2], sys.argv[4::2]))
        if "6.6.6" in Path(words["--facts"]).read_text():
            sys.exit("error: 6.6.6 was registered before")
        Path(words["-o"]).write_text(json.dumps(sys.argv[1:]))
