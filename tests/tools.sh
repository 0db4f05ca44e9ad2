#!/usr/bin/env bash
# Installs the tools of tests, unless they are there already.
#
#   tests/tools.sh node       Node 18 or newer, with npm
#   tests/tools.sh packages   the above, and the packages of tests/package.json
#   tests/tools.sh browser    the above, and Chromium
#   tests/tools.sh wrk        the load generator of the benchmarks
#   tests/tools.sh nats       the server of NATS
#   tests/tools.sh python     Python, with what its environments need
#   tests/tools.sh debian     what builds Debian packages, checks them and installs them
#
# As root on Debian it installs everything; elsewhere it prints the command to run.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
readonly root NODE_MIN=18 DEBIAN_TOOLS=(debhelper iproute2 lintian mmdebstrap systemd-container umoci)

die() { printf 'tests: %s\n' "$*" >&2; exit 1; }

# Installs Debian packages, if any are named.
install() {
    (($# > 0)) || return 0
    local line="apt-get install $*"
    [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null || die "some tests need more than is here: run '$line' as root."
    printf 'tests: %s\n' "$line" >&2
    apt-get update >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null ||
        die "'$line' failed: see above."
}

install_node() {
    local missing=()
    command -v node >/dev/null || missing+=(nodejs)
    command -v npm >/dev/null || missing+=(npm)
    install "${missing[@]}"
    (($(node --version | sed -E 's/v([0-9]+).*/\1/') >= NODE_MIN)) || die "Node $NODE_MIN or newer is needed, not $(node --version)."
}

install_packages() {
    install_node
    cd "$root/tests"
    # A copy of the lock file records what is installed.
    cmp -s package-lock.json node_modules/.installed && return
    npm ci --no-audit --no-fund --loglevel=error >&2
    cp package-lock.json node_modules/.installed
}

install_browser() {
    # With this font texts have the same width on every machine.
    command -v chromium >/dev/null || install chromium fonts-liberation
    install_packages
}

case ${1:-} in
    node) install_node ;;
    packages) install_packages ;;
    browser) install_browser ;;
    wrk) install wrk ;;
    python) python3 -c 'import ensurepip, venv' 2>/dev/null || install python3 python3-venv ;;
    debian) dpkg --status "${DEBIAN_TOOLS[@]}" >/dev/null 2>&1 || install "${DEBIAN_TOOLS[@]}" ;;
    nats) command -v nats-server >/dev/null || install nats-server ;;
    *) die "say 'node', 'packages', 'browser', 'wrk', 'nats', 'python' or 'debian'." ;;
esac
