#!/usr/bin/env bash
# Makes sure that what building and running need is there: Rust, a C compiler, Postgres' server.
# As root it installs Debian's packages; as a plain user it names the line to run. (The toolchain of
# the components is components/build.sh's own concern.)
set -euo pipefail

# Oldest Postgres that host/core/src/postgres/binaries.rs takes.
readonly POSTGRES_MIN=14

die() { printf 'install: %s\n' "$*" >&2; exit 1; }

has_postgres() {
    local folder version
    for folder in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
        [[ -x $folder/postgres && -x $folder/initdb ]] || continue
        version=$("$folder/postgres" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')
        ((version >= POSTGRES_MIN)) && return 0
    done
    return 1
}

missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
has_postgres || missing+=(postgresql)

if ((${#missing[@]} > 0)); then
    line="apt-get install ${missing[*]}"
    command -v apt-get >/dev/null || die "this machine lacks what Debian calls ${missing[*]}: install it first."
    [[ $EUID -eq 0 ]] || die "some packages are missing: as root, run '$line'."
    printf 'install: %s\n' "$line" >&2
    apt-get update >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null ||
        die "'$line' does not work: see above."
fi

rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
present=$(cargo --version 2>/dev/null | cut -d' ' -f2) || present=none
printf '%s\n' "$rust" "$present" | sort -V -C && [[ $present != none ]] ||
    die "Rust $rust or newer is needed and cargo is '$present': install it, for example from https://rustup.rs."
