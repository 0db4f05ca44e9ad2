#!/usr/bin/env bash
# Moves the symbols of a binary into a file beside it, where gdb and perf find them through the link
# that stays behind.
set -euo pipefail

binary=$1
objcopy --only-keep-debug "$binary" "$binary.debug"
# A new file: cargo keeps another name for the old one.
objcopy --strip-all --add-gnu-debuglink="$binary.debug" "$binary" "$binary.stripped"
mv "$binary.stripped" "$binary"
