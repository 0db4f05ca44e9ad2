#!/usr/bin/env bash
# Brings what the tests in JavaScript need, and nothing that is there already.
#
#   tests/tools.sh node      Node 18 or newer, with npm
#   tests/tools.sh browser   that, Chromium, and the packages of tests/package.json
#
# As root on Debian all of it is installed; elsewhere the line to run is named.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
readonly root NODE_MIN=18

die() { printf 'tests: %s\n' "$*" >&2; exit 1; }

# Installs the packages that are named, if any.
install() {
    (($# > 0)) || return 0
    local line="apt-get install $*"
    [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null || die "some tests run in Node and in a browser: as root, run '$line'."
    printf 'tests: %s\n' "$line" >&2
    apt-get update >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null ||
        die "'$line' does not work: see above."
}

node_too() {
    local missing=()
    command -v node >/dev/null || missing+=(nodejs)
    command -v npm >/dev/null || missing+=(npm)
    install "${missing[@]}"
    (($(node --version | sed -E 's/v([0-9]+).*/\1/') >= NODE_MIN)) || die "Node $NODE_MIN or newer is needed, not $(node --version)."
}

browser_too() {
    # The font gives texts the same width on every machine.
    command -v chromium >/dev/null || install chromium fonts-liberation
    cd "$root/tests"
    # Only when the lock changed: what is installed is written down there.
    cmp -s package-lock.json node_modules/.installed && return
    npm ci --no-audit --no-fund --loglevel=error >&2
    cp package-lock.json node_modules/.installed
}

case ${1:-} in
    node) node_too ;;
    browser) node_too; browser_too ;;
    *) die "say 'node' or 'browser'." ;;
esac
