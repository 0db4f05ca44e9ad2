#!/usr/bin/env bash
# Runs all tests, or all drills, and closes with one line for all of them.
#
#   tests/run.sh test CAUDAL      needs DATABASE_URL, a throw-away Postgres
#   tests/run.sh drills CAUDAL
set -euo pipefail

# Most steps wait for timers, other processes or one thread, so two do not keep two processors busy. Drills run one by one:
# they compare times, and fill what the machine has.
declare -rA STEPS_AT_ONCE=([test]=3 [drills]=1)

at_once=${STEPS_AT_ONCE[$1]}
CAUDAL=$(realpath "$2")
export CAUDAL
scratch=$(mktemp -d /tmp/caudal-run.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
# Steps in the background ignore Ctrl-C.
trap 'trap "" TERM; kill 0; exit 130' INT

# More failing steps than this are no accident of a busy machine.
readonly REPEATED_MAX=2

# COMMAND...: a step that prints how many of its tests passed. Its output is printed when it ends, in one piece.
counted() {
    while (($(jobs -rp | wc -l) >= at_once)); do wait -n || true; done
    attempt "$scratch/failed" "$@" &
}

# LIST COMMAND...: adds the command to the list if it fails.
attempt() {
    local list=$1 out log=$scratch/log
    shift
    out=$(mktemp "$scratch/out.XXXXXX")
    "$@" >"$out" 2>&1 || { printf '%q ' "$@" && echo; } >>"$list"
    grep -qsFx "$(printf '%q ' "$@")" "$list" && log=$list.log
    flock "$scratch" tee -a "$log" <"$out"
}

# A step that fails beside others and passes alone is reported as flaky.
repeat_failed() {
    local step
    [[ -e $scratch/failed ]] && (($(wc -l <"$scratch/failed") <= REPEATED_MAX)) || return 0
    mv "$scratch/failed" "$scratch/first"
    rm -f "$scratch/failed.log"
    while read -r step; do
        eval "attempt $scratch/failed $step" </dev/null
        grep -qsFx "$step " "$scratch/failed" || echo "FLAKY: $step" >>"$scratch/flaky"
    done <"$scratch/first"
}

# NAME COMMAND...: a step that is one test; with status 3 this machine cannot have what it needs.
single() { counted judged "$@"; }
judged() {
    local name=$1 status=0
    shift
    "$@" || status=$?
    case $status in
        0) echo "test result: ok. 1 passed; 0 failed; $name" ;;
        3) echo "NOT CHECKED: $name (packages cannot be had: see above)" ;;
        *) echo "test result: FAILED. 0 passed; 1 failed; $name" && return 1 ;;
    esac
}

# FILE...: tests in JavaScript.
files() {
    local file
    for file in "$@"; do counted node --test --test-reporter=spec "$file"; done
}

# The audit installs what its tests need.
supply() {
    local status=0
    judged "the audit" tests/supply/audit.sh || status=1
    node --test --test-reporter=spec tests/supply/*.test.mjs || status=1
    return "$status"
}

# What `make packages` has built, if it has.
packages() {
    local built=${CARGO_TARGET_DIR:-target}/packages
    [[ -e $built/SHA256SUMS ]] || { echo "run 'make packages' first" >&2 && return 3; }
    tests/tools.sh debian || return 3
    node --test --test-reporter=spec tests/packages/built.test.mjs && tests/packages/install.sh "$built"
}

elsewhere() {
    node tests/parity/prepare.mjs && node tests/parity/elsewhere.mjs
}

stream() {
    tests/tools.sh nats || return 3
    node --test --test-reporter=spec tests/ha/nats.mjs
}

# With these together, dependencies have the features that they were built with.
tests=(cargo test --locked --no-fail-fast --package caudal --package caudal-core --package caudal-model --package caudal-train --package caudal-convert --package caudal-ensemble)

steps_test() {
    # Most of this is one thread, too.
    "${tests[@]}" --no-run >/dev/null 2>&1 &
    local build=$! name
    files tests/web/browser.test.mjs
    single "the drill lost nothing" tests/ha/run.sh short "$CAUDAL"
    files tests/ha/*.test.mjs
    single "a stream of NATS got every event" stream
    # What does not compile fails below as well.
    wait "$build" || true
    for name in $(sed -n '/^\[\[test/{n;s/^name = "\(.*\)"/\1/p}' host/Cargo.toml); do
        [[ $name == wasm ]] || counted "${tests[@]}" --test "$name"
    done
    # shellcheck disable=SC2046
    counted "${tests[@]}" --lib --bins $(basename --multiple --suffix .rs components/{model,train,ensemble}/tests/*.rs components/convert/tests/* | sed 's/^/--test /')
    counted supply
    single "exported models score as in Python" tests/python/run.sh "$CAUDAL"
    single "the contract holds" tests/contract/schemathesis.sh "$CAUDAL" 200
    for name in tests/{parity,edge,web,oidc}/*.test.mjs tests/packages/static.test.mjs; do [[ $name == */browser.* ]] || files "$name"; done
    # Alone, because the gate limits the time that a component takes.
    wait
    counted "${tests[@]}" --test wasm
}

steps_drills() {
    single "the drill lost nothing" tests/ha/run.sh drill "$CAUDAL"
    single "the backup was restored" tests/ha/run.sh restore "$CAUDAL"
    CAUDAL_LOSING_RUNS=10 CAUDAL_POSTGRES_FAULT_SECONDS=70 CAUDAL_FEED_TRANSFERS=1000000 files tests/ha/*.test.mjs
    CAUDAL_SOAK_SECONDS=30 counted "${tests[@]}" --test soak -- --nocapture --test-threads 1
    CAUDAL_INCOMING_ORDERS=100000 counted "${tests[@]}" --test api -- --nocapture incoming_drill
    CAUDAL_RECONCILED=1000000 counted "${tests[@]}" --test api -- --nocapture planted_differences
    counted "${tests[@]}" --test simulation -- --seeds 20000
    counted "${tests[@]}" --lib -- --nocapture --ignored simulated_steps
    single "the package runs under Deno, Bun and wrangler" elsewhere
    single "packages have what they should, and install" packages
    FUZZ_SECONDS=60 counted "${tests[@]}" --test fuzz
    single "the contract holds" tests/contract/schemathesis.sh "$CAUDAL" 1000
}

"steps_$1"
wait
[[ $1 == drills ]] || repeat_failed

echo
# What a machine could not check must not pass for checked.
grep -o 'NOT CHECKED: .*' "$scratch/log" | sort -u || true
cat "$scratch/flaky" 2>/dev/null || true
sed 's/^/FAILED: /' "$scratch/failed" 2>/dev/null || true
cat "$scratch"/*log | awk '/^test result:/ { passed += $4; failed += $6 }
     $2 == "pass" && NF == 3 { passed += $3 }
     $2 == "fail" && NF == 3 { failed += $3 }
     END { printf "%d passed, %d failed\n", passed, failed }'
[[ ! -e $scratch/failed ]]
