#!/usr/bin/env bash
# Audits the dependencies: licences, bans, sources and advisories of crates with cargo-deny, advisories of npm packages
# with npm audit. Everything here that is locked, tests and fixtures included.
#
# What this machine cannot have is named after NOT CHECKED and fails nothing: cargo-deny, the advisories of crates (a git
# repository), those of npm packages (an answer of the registry). What is found fails. CAUDAL_AUDIT_INSTALL=0 builds no
# cargo-deny.
set -euo pipefail

# One that reads this format of Cargo.lock and today's advisories.
readonly CARGO_DENY=cargo-deny@0.20.2
# An unreachable database must not delay a build for long.
readonly FETCH_SECONDS_MAX=120

cd "$(dirname "$0")/../.."
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
[[ $tools = /* ]] || tools=$PWD/$tools
status=0

is_recent() {
    [[ -x $1 ]] && printf '%s\n' "${CARGO_DENY#*@}" "$("$1" --version | cut -d' ' -f2)" | sort -V -C
}

# One that is installed, or else one of our own beside the build. Not optimised, it takes one and a half minutes of
# processor time to build instead of four, and seconds to run.
find_cargo_deny() {
    local candidate
    for candidate in "$(command -v cargo-deny)" "$tools/bin/cargo-deny"; do
        if is_recent "$candidate"; then
            deny=$candidate
            return
        fi
    done
    [[ ${CAUDAL_AUDIT_INSTALL:-1} != 0 ]] || return 1
    echo "audit: building $CARGO_DENY, once" >&2
    env -u RUSTFLAGS CARGO_TARGET_DIR="$tools/build" CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
        cargo install --quiet --locked --root "$tools" "$CARGO_DENY" || return 1
    rm -rf "$tools/build"
    deny=$tools/bin/cargo-deny
}

if ! find_cargo_deny; then
    echo "NOT CHECKED: crates (run 'cargo install --locked $CARGO_DENY')"
elif ! reason=$(cargo fetch --locked 2>&1); then
    # Those for other systems are checked too, and no build downloads them.
    echo "NOT CHECKED: crates (they cannot be downloaded: $(tail -n 1 <<<"$reason"))"
else
    check() { "$deny" --config .deny.toml --all-features --color never check "$@" || status=1; }
    check licenses bans sources
    if reason=$(timeout "$FETCH_SECONDS_MAX" "$deny" --config .deny.toml fetch db 2>&1); then
        check advisories
    else
        reason=$(grep -m 1 -E '^fatal: ' <<<"$reason" || tail -n 1 <<<"$reason")
        echo "NOT CHECKED: advisories of crates (${reason:-no answer in $FETCH_SECONDS_MAX s})"
    fi
fi

tests/tools.sh node
node tests/supply/npm-audit.mjs || status=1
exit "$status"
