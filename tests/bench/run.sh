#!/usr/bin/env bash
# Runs the benchmarks with a private Postgres in a temporary folder.
#
# $1: the folder with the release binaries. For shorter trial runs: CAUDAL_BENCH (sections, default
# transfers,replication,hosts,merchant,pages,memory), CAUDAL_BENCH_SECONDS (length of a turn, default 10), CAUDAL_BENCH_PAGE_TRANSFERS
# (transfers in the large database of pages, default 3000000), CAUDAL_BENCH_MEMORY_TRANSFERS (transfers while memory is
# measured, default 1000000).
set -euo pipefail

folder=$1
command -v pgbench >/dev/null || { echo "bench: pgbench is missing; Debian's postgresql package contains it" >&2; exit 1; }
scratch=$(mktemp -d /tmp/caudal-bench.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 711 "$scratch"

caudal=$folder/caudal
env -u DATABASE_URL "$caudal" --data-dir "$scratch" postgres -- "$folder/caudal-bench" "$caudal"
