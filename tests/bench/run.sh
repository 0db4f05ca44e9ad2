#!/usr/bin/env bash
# Runs the benchmark with a Postgres of its own, under the system's folder for temporary files.
#
# $1: the folder of the binaries, built for release. Shorter tries: CAUDAL_BENCH names sections (transfers,hosts,pages,memory),
# CAUDAL_BENCH_SECONDS says how long a turn takes (10), CAUDAL_BENCH_PAGE_TRANSFERS how many transfers are in the large
# database of the pages (3000000), CAUDAL_BENCH_MEMORY_TRANSFERS how many are sent while memory is looked at (1000000).
set -euo pipefail

folder=$1
command -v pgbench >/dev/null || { echo "bench: pgbench is needed: it comes with Debian's postgresql" >&2; exit 1; }
scratch=$(mktemp -d /tmp/caudal-bench.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 711 "$scratch"

caudal=$folder/caudal
env -u DATABASE_URL "$caudal" --data-dir "$scratch" postgres -- "$folder/caudal-bench" "$caudal"
