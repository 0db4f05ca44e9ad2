#!/usr/bin/env bash
# Renews .sqlx: checks the host against a Postgres with the present migrations.
#
# $1: a caudal binary, which brings that Postgres. One that was built before the queries changed is
# fine. The test `query_metadata_is_fresh` tells when this is due.
set -euo pipefail

caudal=$1
root=$(cd "$(dirname "$0")/.." && pwd)
[[ -x $caudal ]] || { echo "prepare: there is no $caudal yet: check out a state that builds and run 'cargo build' first." >&2; exit 1; }
scratch=$(mktemp -d /tmp/caudal-prepare.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 711 "$scratch"
cp "$caudal" "$scratch/caudal"

# shellcheck disable=SC2016
"$scratch/caudal" --data-dir "$scratch" postgres -- bash -euo pipefail -c '
    for migration in "$1"/migrations/*.sql; do
        psql --quiet --set ON_ERROR_STOP=1 "$DATABASE_URL" --file "$migration"
    done
    rm -f "$1"/.sqlx/query-*.json
    mkdir -p "$1/.sqlx"
    cd "$1"
    touch host/core/src/lib.rs
    SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$1/.sqlx" cargo check --locked --package caudal-core
    touch host/core/src/lib.rs
' prepare "$root"
echo "prepared $(find "$root/.sqlx" -name 'query-*.json' | wc -l) queries"
