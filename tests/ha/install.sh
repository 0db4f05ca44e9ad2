#!/usr/bin/env bash
# Installs what the high-availability tests need: etcd, HAProxy, libfaketime, Python (Debian) and Patroni (PyPI) for the
# lab, pgBackRest (Debian) for the restore drill.
#
#   tests/ha/install.sh lab FOLDER    FOLDER is for Patroni
#   tests/ha/install.sh restore
#
# Exits with 3, and says so, if something cannot be had.
set -euo pipefail

readonly PATRONI=4.1.5 UNAVAILABLE=3
wanted=$1

# The line is loud, because what follows tests nothing.
unavailable() {
    local what="HIGH AVAILABILITY"
    [[ $wanted == restore ]] && what="RESTORING A BACKUP"
    printf '\n=== %s NOT TESTED: %s ===\n\n' "$what" "$*" >&2
    exit "$UNAVAILABLE"
}

missing=()
case $wanted in
    lab)
        folder=$2
        command -v etcd >/dev/null || missing+=(etcd-server)
        command -v haproxy >/dev/null || [[ -x /usr/sbin/haproxy ]] || missing+=(haproxy)
        [[ -e $(echo /usr/lib/*/faketime/libfaketime.so.1) ]] || missing+=(faketime)
        # Debian's own Python, because the servers' user must be able to run it.
        /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
        command -v ip >/dev/null || missing+=(iproute2)
        ;;
    restore) [[ -x /usr/bin/pgbackrest ]] || missing+=(pgbackrest) ;;
    *) echo "say 'lab' or 'restore'." >&2; exit 2 ;;
esac

if ((${#missing[@]} > 0)); then
    line="apt-get install ${missing[*]}"
    [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null || unavailable "as root, run '$line'"
    printf 'ha: %s\n' "$line" >&2
    apt-get update >/dev/null 2>&1 || true
    # Debian starts services when it installs them, unless its policy forbids it; the lab starts its own.
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null ||
        unavailable "'$line' failed"
fi

[[ $wanted == lab && ! -e $folder/patroni-$PATRONI ]] || exit 0
rm -rf "$folder"
mkdir -p "$folder"
/usr/bin/python3 -m venv "$folder/venv" || unavailable "no Python environment can be made"
printf 'ha: pip install patroni==%s\n' "$PATRONI" >&2
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "patroni[etcd3,psycopg3]==$PATRONI" "psycopg[binary]" >&2 ||
    unavailable "patroni $PATRONI cannot be installed from PyPI"
touch "$folder/patroni-$PATRONI"
