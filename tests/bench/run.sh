#!/usr/bin/env bash
# Runs the benchmark with a Postgres of its own, under the system's folder for temporary files.
#
# $1: the caudal binary, built for release. CAUDAL_BENCH_SECONDS says how long a turn takes (default 10).
set -euo pipefail

caudal=$1
command -v pgbench >/dev/null || { echo "bench: pgbench is needed: it comes with Debian's postgresql" >&2; exit 1; }
scratch=$(mktemp -d /tmp/caudal-bench.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 711 "$scratch"

env -u DATABASE_URL "$caudal" --data-dir "$scratch" postgres -- cargo bench --locked --package caudal --bench transfers
