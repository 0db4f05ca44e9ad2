#!/usr/bin/env bash
# Prints the path of promtool. Without one, takes it out of Debian's package of Prometheus, whose server is neither installed
# nor started. Exits with 3, and the reason on standard error, where that cannot be had.
set -euo pipefail

tools=${CARGO_TARGET_DIR:-$(cd "$(dirname "$0")/../.." && pwd)/target}/tools
# An unreachable mirror must not delay the tests for long.
readonly tools SECONDS_MAX=120

if command -v promtool; then exit; fi
if [[ ! -x $tools/promtool ]]; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        echo "promtool is not installed, and this is no Debian" >&2
        exit 3
    fi
    mkdir -p "$tools"
    scratch=$(mktemp -d "$tools/prometheus.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    # Otherwise apt warns that its own user cannot write there.
    download() { (cd "$scratch" && timeout "$SECONDS_MAX" apt-get -o APT::Sandbox::User=root download prometheus) >/dev/null 2>&1; }
    if ! download; then
        # The package lists may be missing, or too old.
        timeout "$SECONDS_MAX" apt-get update >/dev/null 2>&1 || true
        download || { echo "promtool is not installed, and 'apt-get download prometheus' fails" >&2; exit 3; }
    fi
    dpkg-deb --extract "$scratch"/prometheus_*.deb "$scratch/package"
    mv "$scratch/package/usr/bin/promtool" "$tools/promtool"
fi
echo "$tools/promtool"
