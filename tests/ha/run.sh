#!/usr/bin/env bash
# Starts the high-availability lab, drills faults in it, or drills the restoring of a backup.
#
#   tests/ha/run.sh serve CAUDAL    until Ctrl-C
#   tests/ha/run.sh drill CAUDAL    CAUDAL_HA_FAULTS faults, 30 by default
#   tests/ha/run.sh short CAUDAL    a few faults, for `make test`
#   tests/ha/run.sh restore CAUDAL  a backup restored to a moment, on loopback
#
# Exits with 3, after a loud line, where the packages cannot be had.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tools=${CARGO_TARGET_DIR:-$here/../../target}/ha
CAUDAL=$(realpath "$2")
export CAUDAL

if [[ $1 == restore ]]; then
    "$here/install.sh" restore
    CAUDAL_HA_LOOPBACK=1 exec "$here/with-own-network.sh" node "$here/restore.mjs"
fi
"$here/install.sh" lab "$tools"
case $1 in
    # On loopback, to be reached from outside.
    serve) CAUDAL_HA_LOOPBACK=1 exec "$here/with-own-network.sh" node "$here/serve.mjs" "$tools" ;;
    drill) exec "$here/with-own-network.sh" node "$here/drill.mjs" "$tools" ;;
    short)
        export CAUDAL_HA_FAULTS=4
        export CAUDAL_HA_ONLY="loss of the leader,kill -9 of a host,cancelled waits,leader cut off"
        exec "$here/with-own-network.sh" node "$here/drill.mjs" "$tools"
        ;;
    *) echo "say 'serve', 'drill', 'short' or 'restore'." >&2; exit 2 ;;
esac
