#!/usr/bin/env bash
# Runs a command with a throw-away folder, CAUDAL_HA_FOLDER, and, where they can be had (root), with namespaces of its own
# for network, processes and mounts: it may cut machines off and fill disks, and when it ends, everything that it started
# ends with it. Elsewhere the command ends what it started.
set -euo pipefail

# Short, because a socket's path is; open to the user that the servers run as.
CAUDAL_HA_FOLDER=$(mktemp -d /tmp/caudal-ha.XXXXXX)
export CAUDAL_HA_FOLDER
trap 'rm -rf "$CAUDAL_HA_FOLDER"' EXIT
chmod 755 "$CAUDAL_HA_FOLDER"

# CAUDAL_HA_LOOPBACK keeps the machines on loopback, where other programs reach them.
namespaces=(--pid --fork --kill-child --mount-proc)
[[ -n ${CAUDAL_HA_LOOPBACK:-} ]] || namespaces+=(--net)
if unshare "${namespaces[@]}" true 2>/dev/null; then
    [[ -n ${CAUDAL_HA_LOOPBACK:-} ]] || export CAUDAL_HA_NETWORK=own
    # The shell in there is the first process, which has to collect the children of processes that were killed.
    unshare "${namespaces[@]}" bash -c '"$@" & wait $!' bash "$@" &
    # Its parent ignores milder signals.
    end=KILL
else
    echo "=== no namespaces here: faults that cut the network or fill a disk are left out ===" >&2
    "$@" &
    end=TERM
fi
child=$!
trap 'kill -"$end" "$child" 2>/dev/null || true' TERM INT
status=0
wait "$child" || status=$?
# A signal ends the first wait only.
wait "$child" 2>/dev/null || true
exit "$status"
