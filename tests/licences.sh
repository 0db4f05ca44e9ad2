#!/usr/bin/env bash
# Checks licences, bans and sources of all dependencies with cargo-deny, if it is installed.
set -euo pipefail

if ! command -v cargo-deny >/dev/null; then
    echo "licences: cargo-deny is not installed: run 'cargo install --locked cargo-deny' to check licences too." >&2
    exit 0
fi
cd "$(dirname "$0")/.."
cargo deny --config .deny.toml --all-features check licenses bans sources
