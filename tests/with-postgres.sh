#!/usr/bin/env bash
# Runs a command with a throw-away Postgres, in DATABASE_URL, where every new database has the tables of this release.
#
#   tests/with-postgres.sh CAUDAL COMMAND...
#
# Neither that server nor those that the command starts with `caudal` wait for the disk: none has to survive the machine.
set -euo pipefail

caudal=$1
shift
# Short, because a socket's path is; open to the user that the server runs as when this is root.
scratch=$(mktemp -d /tmp/caudal-test.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 711 "$scratch"

# Without Debian's folders the servers are the usual ones.
programs=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1) || true
if [[ -x $programs/postgres && -z ${CAUDAL_POSTGRES_BIN:-} ]]; then
    mkdir -m 755 "$scratch/bin"
    printf '#!/bin/sh\nexec %s/initdb --no-sync "$@"\n' "$programs" >"$scratch/bin/initdb"
    printf '#!/bin/sh\nexec %s/postgres "$@" -c fsync=off\n' "$programs" >"$scratch/bin/postgres"
    chmod 755 "$scratch/bin"/*
    export CAUDAL_POSTGRES_BIN=$scratch/bin
fi

# Postgres copies `template1` into each new database; a test's own migrations then find nothing to do.
# shellcheck disable=SC2016
env -u DATABASE_URL "$caudal" --data-dir "$scratch/data" postgres -- bash -euo pipefail -c '
    DATABASE_URL=${DATABASE_URL/caudal/template1} "$0" migrate >/dev/null
    exec "$@"' "$caudal" "$@"
