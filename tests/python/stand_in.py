#!/usr/bin/env python3
"""Stands in for `caudal models facts` and `caudal models build`, which it refuses for version 6.6.6."""

import json
import sys
from pathlib import Path

MONEY = ("amount", "avg_transaction_amount", "max_transaction_amount")
FACTS = {
    "rises": ("amount", "is_new_beneficiary", "is_new_device", "geolocation_changed"),
    "falls": ("num_transactions_to_beneficiary", "beneficiary_saved_minutes"),
    "free": ("hour_of_day", "num_past_transactions", "avg_transaction_amount", "max_transaction_amount"),
}

if sys.argv[1:] == ["models", "facts", "--json"]:
    facts = [(name, direction) for direction, names in FACTS.items() for name in names]
    units = {name: "centavos" if name in MONEY else "" for name, _ in facts}
    print(json.dumps([{"name": name, "direction": it, "unit": units[name]} for name, it in facts]))
else:
    words = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    if "6.6.6" in Path(words["--facts"]).read_text():
        sys.exit("error: 6.6.6 was registered before")
    Path(words["-o"]).write_text(json.dumps(sys.argv[1:]))
