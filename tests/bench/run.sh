#!/usr/bin/env bash
# Runs the benchmarks with a private Postgres in a temporary folder.
#
# $1: the folder with the optimised binaries. CAUDAL_BENCH names sections (default: all; each takes about two minutes, memory
# and growth longer), CAUDAL_BENCH_SECONDS the length of a turn (10), CAUDAL_BENCH_GROWTH_TRANSFERS the transfers in the large
# database of growth and in that of streams (3000000), CAUDAL_BENCH_MEMORY_TRANSFERS those while memory is measured (1000000),
# CAUDAL_BENCH_BEFORE the binary of an earlier build for the section before, which runs only if it is named,
# CAUDAL_BENCH_REPORT the folder of the report (target/bench).
set -euo pipefail

folder=$1
command -v wrk >/dev/null || "$(dirname "$0")/../tools.sh" wrk
command -v pgbench >/dev/null || { echo "bench: pgbench is missing; Debian's postgresql package contains it" >&2; exit 1; }
# FastAPI, pandas and what they need, for the sections `python` and `backtest`.
export CAUDAL_BENCH_PYTHON=$folder/bench-python/bin/python
if [[ ,${CAUDAL_BENCH:-python}, =~ ,(python|backtest), ]]; then
    wanted=$(dirname "$0")/python/requirements.txt
    if ! cmp -s "$wanted" "$folder/bench-python/installed"; then
        python3 -m venv "$folder/bench-python" || { echo "bench: run 'apt-get install python3-venv' as root" >&2; exit 1; }
        "$folder/bench-python/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
        cp "$wanted" "$folder/bench-python/installed"
    fi
fi
export CAUDAL_BENCH_REPORT=${CAUDAL_BENCH_REPORT:-$(cd "$(dirname "$0")/../.." && pwd)/target/bench}
scratch=$(mktemp -d /tmp/caudal-bench.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 711 "$scratch"

caudal=$folder/caudal
env -u DATABASE_URL "$caudal" --data-dir "$scratch" postgres -- "$folder/caudal-bench" "$caudal"
