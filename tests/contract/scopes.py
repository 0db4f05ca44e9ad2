"""A check for schemathesis: no response exceeds the scopes of the token that it was asked with.

CAUDAL_CONTRACT_SCOPES has the token's scopes, separated by spaces. It is empty for a plain user, and not set for requests
without a token.
"""

import os

import schemathesis

TOKEN = os.environ.get("CAUDAL_CONTRACT_SCOPES")
SCOPES = set((TOKEN or "").split())

# What is answered before anyone asks for a token: the path does not exist, the method is not one of the path's.
BEFORE = (404, 405)


@schemathesis.check
def scope_is_respected(ctx, response, case):
    ways = case.operation.definition.raw.get("security") or []
    if not ways or response.status_code in (401, 403):
        return
    if TOKEN is not None and any(not way["bearer"] or SCOPES & set(way["bearer"]) for way in ways):
        return
    # A parameter that is empty or has a slash leads elsewhere.
    values = [str(value) for value in (case.path_parameters or {}).values()]
    leads_elsewhere = case.method.upper() != case.operation.method.upper() or any(
        not value or set(value) & set("/?#") or set(value) <= {"."} for value in values
    )
    if leads_elsewhere and response.status_code in BEFORE:
        return
    raise AssertionError(f"{response.status_code} for a token with the scopes {sorted(SCOPES)}; it takes one of {ways}")
