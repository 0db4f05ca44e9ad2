#!/usr/bin/env bash
# Builds components.
#
#   components/build.sh                              the models of the host, in target/components
#   components/build.sh --fixtures                   also those of the tests, in target/components/fixtures
#   components/build.sh --crate FOLDER OUTPUT        a crate of your own, with the standard library if it needs it
#
# All but the last import nothing, and their memory starts as one 64 KiB page. The compiler is the first of
# these that works:
#   1. the active Rust toolchain, if it has the target wasm32-wasip2;
#   2. the same after `rustup target add wasm32-wasip2`;
#   3. Debian's rustc-web, which compiles the standard library from source.
# Debian has no C library for wasm32-wasip2, on which `std` depends. So there, --crate builds for
# wasm32-unknown-unknown, whose `std` needs none: time, files and the network are not available, as in the
# host, which gives components an empty WASI.
#
# The environment and the target folder are separate from those of other builds.
set -euo pipefail

readonly TARGET=wasm32-wasip2 TARGET_WITHOUT_LIBC=wasm32-unknown-unknown
# Earlier models: `risk-1` is built from the same crate as `risk`, with the weights in components/risk/models/risk-1.
readonly BESIDE=(risk-1)
# lld-22 is the wasm-ld of the same LLVM; that of a rustup toolchain works too.
readonly DEBIAN_PACKAGES=(rustc-web rust-web-src cargo-web lld-22)
# Turns a module into a component. Part of a rustup toolchain; Debian has no package of it.
readonly COMPONENT_LD=wasm-component-ld@0.5.31
# A scorer uses a few hundred bytes of stack. 16 KiB leave 48 KiB of the only page for data and heap.
readonly STACK_BYTES=16384
# An unreachable network must not delay a build that can do without it.
readonly RUSTUP_TIMEOUT_SECONDS=60

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly out=$root/target/components
# The crates that are components.
mapfile -t NAMES < <(cd "$root/components" && grep -l '"cdylib"' -- */Cargo.toml | cut -d/ -f1)
readonly NAMES
guests=${CARGO_TARGET_DIR:-$root/target}/guests
[[ $guests = /* ]] || guests=$PWD/$guests
readonly guests

say() { printf 'components: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
quietly() { "$@" >/dev/null 2>&1; }

# --- Arguments ----------------------------------------------------------------------------------

names=("${NAMES[@]}")
inputs=("$root"/{Cargo.toml,Cargo.lock,.cargo,wit,components/{build.sh,ensemble,guest,model}})
stamp=$out/.built
mode=all
case "${1-}" in
    '') ;;
    --crate)
        [[ $# -eq 3 ]] || die "usage: components/build.sh --crate FOLDER OUTPUT"
        [[ -f $2/Cargo.toml ]] || die "'$2' has no Cargo.toml."
        mode=crate
        ;;
    --fixtures)
        names+=(hostile hostile-risk hostile-risk-2 hostile-rules hostile-rules-2)
        inputs+=("$root"/tests/wasm/hostile{,-risk,-risk-2,-rules,-rules-2})
        stamp=$out/.built-with-fixtures
        ;;
    *) die "unknown argument '$1'; the arguments are --fixtures and --crate." ;;
esac
for name in "${NAMES[@]}"; do inputs+=("$root/components/$name"); done

artefact() {
    case $1 in
        hostile*) printf '%s/fixtures/%s.wasm' "$out" "$1" ;;
        *) printf '%s/%s.wasm' "$out" "$1" ;;
    esac
}

# The stamp has the time when the last build started, so an edit during a build is not missed. Folders are
# inputs too, because deleting a file changes its folder.
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

# Debian's rustc package has the same path and may be far too old.
has_debian_rust() {
    local minimum
    [[ -x /usr/bin/rustc && -x /usr/bin/cargo && -d $(debian_sysroot)/lib/rustlib/src/rust/library ]] || return 1
    minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    printf '%s\n' "$minimum" "$(/usr/bin/rustc --version | cut -d' ' -f2)" | sort -V -C
}

has_debian() { has_debian_rust && quietly component_ld && quietly wasm_ld; }

# An earlier build used Debian's compiler: do not wait for the network again.
used_debian() { [[ -d $guests/ld ]] && has_debian; }

debian_sysroot() { /usr/bin/rustc --print sysroot 2>/dev/null; }

# The folder of the linkers that belong to the compiler $1.
linkers_of() {
    printf '%s/lib/rustlib/%s/bin' "$("$1" --print sysroot 2>/dev/null)" \
        "$("$1" -vV 2>/dev/null | sed -n 's/^host: //p')"
}

component_ld() {
    first_executable "$(linkers_of /usr/bin/rustc)/wasm-component-ld" "$(linkers_of rustc)/wasm-component-ld" \
        "$guests/tools/bin/wasm-component-ld"
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
    if ! has_debian_rust || ! quietly wasm_ld; then
        [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null || return 1
        say "installing ${DEBIAN_PACKAGES[*]}"
        # The package lists may be missing (a new image), or complete (offline): try to install either way.
        quietly apt-get update || true
        DEBIAN_FRONTEND=noninteractive quietly apt-get install -y --no-install-recommends "${DEBIAN_PACKAGES[@]}" ||
            return 1
    fi
    if ! quietly component_ld; then
        say "compiling $COMPONENT_LD, once: this takes minutes"
        /usr/bin/cargo install --quiet --locked --root "$guests/tools" "$COMPONENT_LD"
    fi
}

# Puts wasm-component-ld and the wasm-ld that it calls into the folder $1, as scripts, because rustup's
# wasm-ld searches for lld in its own folder.
collect_linkers() {
    rm -rf "$1"
    mkdir -p "$1"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$(component_ld)" >"$1/wasm-component-ld"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$(wasm_ld)" >"$1/wasm-ld"
    chmod +x "$1/wasm-component-ld" "$1/wasm-ld"
}

# --- The build ----------------------------------------------------------------------------------

# Flags, wrappers and profiles for other builds must not affect this one.
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
    # Empty, not unset, to override a wrapper in a configuration file.
    export RUSTC_WRAPPER='' RUSTC_WORKSPACE_WRAPPER=''
}

# Sets `cargo`, `target` and `options`. With the argument `std`, crates may use the standard library.
choose_toolchain() {
    local flags=() sources
    [[ ${1-} = std ]] || flags+=("-Clink-arg=-zstack-size=$STACK_BYTES")
    cargo=cargo
    target=$TARGET
    options=()
    if has_target || { ! used_debian && add_target && has_target; }; then
        say "building with $(rustc --version)"
        sources=$(rustc --print sysroot)/lib/rustlib/src/rust
    else
        has_debian || { add_debian && has_debian; } ||
            die "this Rust has no target $TARGET: run 'rustup target add $TARGET'" \
                "or, as root, 'apt-get install ${DEBIAN_PACKAGES[*]}'."
        say "building with Debian's $(/usr/bin/rustc --version)"
        collect_linkers "$guests/ld"
        cargo=/usr/bin/cargo
        sources=$(debian_sysroot)/lib/rustlib/src/rust
        export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 PATH=$guests/ld:$PATH
        export CARGO_TARGET_WASM32_WASIP2_LINKER=wasm-component-ld
        export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-component-ld
        if [[ ${1-} = std ]]; then
            target=$TARGET_WITHOUT_LIBC
            options+=(-Zbuild-std=std,panic_abort)
        else
            options+=(-Zbuild-std=core,alloc,panic_abort)
            # There is no C library for this target, and the guests need none.
            flags+=(-Clink-self-contained=no)
        fi
    fi
    # Panic messages name files: keep this machine's folders out of the components.
    flags+=("--remap-path-prefix=$root=." "--remap-path-prefix=$sources=rust"
        "--remap-path-prefix=${CARGO_HOME:-${HOME-}/.cargo}=cargo")
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}")
    export CARGO_ENCODED_RUSTFLAGS
}

# Builds the crates caudal-NAME.
compile() {
    local name packages=()
    for name in "$@"; do packages+=(-p "caudal-$name"); done
    (cd "$root" && "$cargo" build --quiet --locked --target "$target" --profile guest \
        --target-dir "$guests" "${options[@]}" "${packages[@]}") || die "cargo could not build the components; see above."
}

# Builds the scorer of the kind $1 with the weights file $2.
compile_with() {
    local variable=CAUDAL_${1^^}_WEIGHTS
    (export "$variable=$2" && compile "$1")
}

# Builds the crate in the folder $1 and writes the component to $2.
compile_crate() {
    local messages built
    messages=$(cd "$1" && "$cargo" build --quiet --release --target "$target" "${options[@]}" \
        --message-format=json-render-diagnostics) || die "cargo could not build '$1'; see above."
    built=$(sed -n 's/.*"filenames":\["\([^"]*\.wasm\)"\].*/\1/p' <<<"$messages" | tail -n 1)
    [[ -n $built ]] || die "'$1' builds no .wasm file: its Cargo.toml needs '[lib]' with 'crate-type = [\"cdylib\"]'."
    replace "$built" "$2"
}

# Copies $1 to $2. An unchanged file keeps its time, so that crates that embed it are not rebuilt.
replace() {
    mkdir -p "$(dirname "$2")"
    if ! cmp -s "$1" "$2"; then
        cp "$1" "$2.new"
        mv "$2.new" "$2"
    fi
}

# Copies the component of the crate caudal-$1 to $2.
publish() { replace "$guests/$target/guest/caudal_${1//-/_}.wasm" "$2"; }

build() {
    local name
    choose_toolchain
    # First, so that the default models remain in the target folder.
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

case $mode in
    crate)
        clean_environment
        choose_toolchain std
        compile_crate "$2" "$3"
        printf '%s: %d bytes\n' "$3" "$(wc -c <"$3")"
        exit
        ;;
esac

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
