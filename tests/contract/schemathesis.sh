#!/usr/bin/env bash
# Holds both listeners to their OpenAPI documents: schemathesis makes requests from them, valid and invalid, and checks
# every answer. Starts a sandbox of its own on free ports, with a throw-away ledger.
#
#   tests/contract/schemathesis.sh CAUDAL [CASES]
#
# CASES: about how many for each document; 200 unless given. Exits non-zero when an answer breaks the contract.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
caudal=$(realpath "$1")
cases=${2:-200}
# Operations of the larger document; schemathesis counts cases for each.
readonly here caudal cases OPERATIONS=37

tools=${XDG_CACHE_HOME:-$HOME/.cache}/caudal/schemathesis
# One that was moved no longer starts.
if ! cmp -s "$here/requirements.txt" "$tools/installed" || ! "$tools/bin/schemathesis" --version >/dev/null 2>&1; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/installed"
fi

# Short, because a socket's path is; open to the user that the server runs as when this is root.
scratch=$(mktemp -d /tmp/caudal-contract.XXXXXX)
chmod 711 "$scratch"
service=
end() {
    [[ -z $service ]] || { kill "$service" && wait "$service"; } 2>/dev/null || true
    rm -rf "$scratch"
}
trap end EXIT

env -u DATABASE_URL "$caudal" --data-dir "$scratch/data" serve --sandbox \
    --ledger-addr 127.0.0.1:0 --assist-addr 127.0.0.1:0 >"$scratch/out" 2>"$scratch/log" &
service=$!
for _ in $(seq 600); do
    grep -q Ctrl-C "$scratch/out" && break
    kill -0 "$service" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
    sleep 0.1
done
address() { grep -o "$1 .*" "$scratch/out" | grep -oE 'http://[0-9.:]+' | head -1; }
token=$("$caudal" --data-dir "$scratch/data" token --user schemathesis --scope "models:admin rules:admin ledger:operate" | tail -1)

status=0
for listener in ledger assist; do
    name="$listener API"
    [[ $listener == assist ]] && name="assistance API"
    echo "schemathesis: $name"
    "$tools/bin/schemathesis" --config-file "$here/schemathesis.toml" run "$(address "$name")/openapi.json" \
        --header "Authorization: Bearer $token" --max-examples $(((cases + OPERATIONS - 1) / OPERATIONS)) \
        --phases examples,coverage,fuzzing --seed 1 --no-color || status=1
done
if grep -E "ERROR" "$scratch/log"; then
    echo "schemathesis: the service logged errors"
    status=1
fi
exit "$status"
