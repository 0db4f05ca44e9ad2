#!/usr/bin/env bash
# Builds the four components with the models in force, and the first risk model beside them.
#
#   target/components/{risk,nudge,accessibility,transfer-rules}.wasm
#   target/components/risk-1.wasm
#
# --fixtures builds the hostile ones of the tests as well, under target/components/fixtures.
# --model KIND WEIGHTS OUTPUT builds one scorer with a weights file of your own instead of all that.
#
# Each is a component without imports whose memory starts as one 64 KiB page. The target is
# wasm32-wasip2, from the first of these that works:
#   1. the active Rust toolchain, when it has the target;
#   2. the same after `rustup target add`;
#   3. Debian's rustc-web, which builds `core` and `alloc` from its own sources.
# Nothing set here reaches any other build: this is a process of its own, with its own target folder.
set -euo pipefail

readonly TARGET=wasm32-wasip2
readonly NAMES=(risk nudge accessibility transfer-rules)
# Built from the same glue as `risk`, with the weights of components/risk/models/risk-1.
readonly BESIDE=(risk-1)
# lld-22 is the wasm-ld of the same LLVM; a rustup toolchain has one too, which does as well.
readonly DEBIAN_PACKAGES=(rustc-web rust-web-src cargo-web lld-22)
# A scorer uses a few hundred bytes of stack. 16 KiB leaves 48 KiB of the only page for data and heap.
readonly STACK_BYTES=16384
# An unreachable network must not hold up a build that can go on without it.
readonly RUSTUP_TIMEOUT_SECONDS=60

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly out=$root/target/components
guests=${CARGO_TARGET_DIR:-$root/target}/guests
[[ $guests = /* ]] || guests=$PWD/$guests
readonly guests

say() { printf 'components: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
quietly() { "$@" >/dev/null 2>&1; }

# --- What is asked for --------------------------------------------------------------------------

names=("${NAMES[@]}")
inputs=("$root"/{Cargo.toml,Cargo.lock,.cargo,wit,components/{build.sh,model,guest}})
stamp=$out/.built
own=()
case "${1-}" in
    '') ;;
    --model)
        [[ $# -eq 4 && $2 =~ ^(risk|nudge|accessibility)$ ]] ||
            die "--model wants a kind (risk, nudge, accessibility), a weights file and a file to write."
        [[ -r $3 ]] || die "there is no weights file '$3'."
        own=("$2" "$(realpath "$3")" "$4")
        ;;
    --fixtures)
        names+=(hostile hostile-risk hostile-rules)
        inputs+=("$root"/tests/wasm/hostile{,-risk,-rules})
        stamp=$out/.built-with-fixtures
        ;;
    *) die "unknown argument '$1': there are --fixtures and --model KIND WEIGHTS OUTPUT." ;;
esac
for name in "${NAMES[@]}"; do inputs+=("$root/components/$name"); done

artefact() {
    case $1 in
        hostile*) printf '%s/fixtures/%s.wasm' "$out" "$1" ;;
        *) printf '%s/%s.wasm' "$out" "$1" ;;
    esac
}

# The stamp is as old as the start of the last build, so an edit made during a build is not missed.
# Folders count as inputs too: deleting a file changes its folder.
up_to_date() {
    local name
    [[ -e $stamp ]] || return 1
    for name in "${names[@]}" "${BESIDE[@]}"; do [[ -s $(artefact "$name") ]] || return 1; done
    [[ -z $(find "${inputs[@]}" -newer "$stamp" -print -quit) ]]
}

# --- The toolchain ------------------------------------------------------------------------------

has_target() {
    local folder
    folder=$(rustc --print target-libdir --target "$TARGET" 2>/dev/null) || return 1
    compgen -G "$folder/libcore-*.rlib" >/dev/null
}

add_target() {
    command -v rustup >/dev/null || return 1
    RUSTUP_MAX_RETRIES=0 quietly timeout "$RUSTUP_TIMEOUT_SECONDS" rustup target add "$TARGET"
}

# Debian's plain rustc lives at the same path and may be far too old.
has_debian() {
    local minimum
    [[ -x /usr/bin/rustc && -x /usr/bin/cargo && -d $(debian_sysroot)/lib/rustlib/src/rust/library ]] || return 1
    minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    printf '%s\n' "$minimum" "$(/usr/bin/rustc --version | cut -d' ' -f2)" | sort -V -C || return 1
    quietly component_ld && quietly wasm_ld
}

# An earlier build went on with Debian's: do not make each later one wait for the network first.
came_to_debian() { [[ -d $guests/ld ]] && has_debian; }

debian_sysroot() { /usr/bin/rustc --print sysroot 2>/dev/null; }

# Where the toolchain of the compiler $1 keeps its linkers.
linkers_of() {
    printf '%s/lib/rustlib/%s/bin' "$("$1" --print sysroot 2>/dev/null)" \
        "$("$1" -vV 2>/dev/null | sed -n 's/^host: //p')"
}

component_ld() {
    first_executable "$(linkers_of /usr/bin/rustc)/wasm-component-ld" "$(linkers_of rustc)/wasm-component-ld"
}

wasm_ld() {
    first_executable "$(command -v wasm-ld-22)" /usr/lib/llvm-22/bin/wasm-ld "$(linkers_of rustc)/gcc-ld/wasm-ld"
}

first_executable() {
    local candidate
    for candidate in "$@"; do
        if [[ -x $candidate ]]; then
            printf '%s' "$candidate"
            return
        fi
    done
    return 1
}

add_debian() {
    [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null || return 1
    say "installing ${DEBIAN_PACKAGES[*]}"
    # The lists may be missing (a fresh image) or fine (off-line): only the install decides.
    quietly apt-get update || true
    DEBIAN_FRONTEND=noninteractive quietly apt-get install -y --no-install-recommends "${DEBIAN_PACKAGES[@]}"
}

# Puts wasm-component-ld and the wasm-ld that it calls into the folder $1. As scripts, because
# rustup's wasm-ld looks for lld beside itself.
collect_linkers() {
    # A fresh folder: writing to a leftover link would write to what it points at.
    rm -rf "$1"
    mkdir -p "$1"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$(component_ld)" >"$1/wasm-component-ld"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$(wasm_ld)" >"$1/wasm-ld"
    chmod +x "$1/wasm-component-ld" "$1/wasm-ld"
}

# --- The build ----------------------------------------------------------------------------------

# Flags, wrappers and profiles meant for another build must not change what the guests are.
clean_environment() {
    local variable
    for variable in $(compgen -e); do
        case $variable in
            RUSTFLAGS | CARGO_ENCODED_RUSTFLAGS | RUSTC | RUSTC_* | CARGO_INCREMENTAL | \
                CARGO_BUILD_* | CARGO_PROFILE_* | CARGO_TARGET_* | CARGO_UNSTABLE_* | CAUDAL_*_WEIGHTS)
                unset "$variable"
                ;;
        esac
    done
    # Empty, not unset: that also overrules a wrapper in a configuration file.
    export RUSTC_WRAPPER='' RUSTC_WORKSPACE_WRAPPER=''
}

# Chooses the toolchain; sets `cargo` and `options` for `compile`.
choose_toolchain() {
    local flags=("-Clink-arg=-zstack-size=$STACK_BYTES") sources
    cargo=cargo
    options=()
    if has_target || { ! came_to_debian && add_target && has_target; }; then
        say "building with $(rustc --version)"
        sources=$(rustc --print sysroot)/lib/rustlib/src/rust
    else
        has_debian || { add_debian && has_debian; } ||
            die "this Rust has no $TARGET: run 'rustup target add $TARGET'" \
                "or, as root, 'apt-get install ${DEBIAN_PACKAGES[*]}'."
        say "building with Debian's $(/usr/bin/rustc --version)"
        collect_linkers "$guests/ld"
        cargo=/usr/bin/cargo
        sources=$(debian_sysroot)/lib/rustlib/src/rust
        export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 PATH=$guests/ld:$PATH
        export CARGO_TARGET_WASM32_WASIP2_LINKER=wasm-component-ld
        options+=(-Zbuild-std=core,alloc,panic_abort)
        # There is no C library for this target, and the guests need none.
        flags+=(-Clink-self-contained=no)
    fi
    # Panic messages name files: keep this machine's folders out of the artefacts.
    flags+=("--remap-path-prefix=$root=." "--remap-path-prefix=$sources=rust"
        "--remap-path-prefix=${CARGO_HOME:-${HOME-}/.cargo}=cargo")
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}")
    export CARGO_ENCODED_RUSTFLAGS
}

# Builds the crates of these names.
compile() {
    local name packages=()
    for name in "$@"; do packages+=(-p "caudal-$name"); done
    (cd "$root" && "$cargo" build --quiet --locked --target "$TARGET" --profile guest \
        --target-dir "$guests" "${options[@]}" "${packages[@]}") || die "cargo could not build the components; see above."
}

# Builds the scorer of the kind $1 with the weights file $2.
compile_with() {
    local variable=CAUDAL_${1^^}_WEIGHTS
    (export "$variable=$2" && compile "$1")
}

# What `compile` made of a crate. Unchanged bytes keep their file, so that what embeds them is not rebuilt.
publish() {
    local built=$guests/$TARGET/guest/caudal_${1//-/_}.wasm
    mkdir -p "$(dirname "$2")"
    if ! cmp -s "$built" "$2"; then
        cp "$built" "$2.new"
        mv "$2.new" "$2"
    fi
}

build() {
    local name
    choose_toolchain
    # First, so that what is left in the target folder is the models in force.
    for name in "${BESIDE[@]}"; do
        compile_with "${name%-*}" "$root/components/${name%-*}/models/$name/weights.bin"
        publish "${name%-*}" "$(artefact "$name")"
    done
    compile "${names[@]}"
    for name in "${names[@]}"; do publish "$name" "$(artefact "$name")"; done
}

report() {
    local name
    for name in "${names[@]}" "${BESIDE[@]}"; do
        printf '%-16s %7d bytes\n' "$name" "$(wc -c <"$(artefact "$name")")"
    done
}

if [[ ${#own[@]} -gt 0 ]]; then
    clean_environment
    choose_toolchain
    compile_with "${own[0]}" "${own[1]}"
    publish "${own[0]}" "${own[2]}"
    printf '%s: %d bytes\n' "${own[2]}" "$(wc -c <"${own[2]}")"
    exit
fi

if up_to_date; then
    say "components are up to date"
else
    clean_environment
    mkdir -p "$out"
    touch "$stamp.new"
    build
    mv "$stamp.new" "$stamp"
fi
report
